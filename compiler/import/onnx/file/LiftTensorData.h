//===- LiftTensorData.h - Weights stay in the file -------------------------===//
//
// A model file is mostly weights, and protobuf would copy every one of them. So the wire format is walked once before
// it is parsed: the walk makes a copy of the file in which a tensor's data is only its place.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kiln::import::onnx {

/// Bytes [offset, offset + bytes) of a file.
struct FileRange {
  uint64_t offset, bytes;
};

/// The ModelProto `file`, in which raw_data of every tensor that a graph, node or function holds is a FileRange in the
/// form that decodeRange reads. Packed float_data and double_data, which have the same bytes as raw_data, have become
/// raw_data. Fails if `file` is not a protobuf message.
llvm::Expected<std::string> liftTensorData(llvm::StringRef file);

/// Nothing if `rawData` does not have this form: the tensor is at a place that the walk does not visit.
std::optional<FileRange> decodeRange(llvm::StringRef rawData);

} // namespace kiln::import::onnx
