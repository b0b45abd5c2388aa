//===- LiftTensorData.h - Weights stay in the file -------------------------===//
//
// A model file is mostly weights, and protobuf would copy every one of them. So the wire format is walked once before
// it is parsed: the walk gives a copy of the file in which a tensor's data is only the place where it lies.
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
/// form that decodeRange reads. Packed float_data and double_data, which lie in the file as raw_data does, have become
/// raw_data. Fails where `file` is not a protobuf message.
llvm::Expected<std::string> liftTensorData(llvm::StringRef file);

/// Nothing where `rawData` has not this form: the tensor lies where the walk does not look for one.
std::optional<FileRange> decodeRange(llvm::StringRef rawData);

} // namespace kiln::import::onnx
