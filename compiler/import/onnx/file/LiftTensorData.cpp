//===- LiftTensorData.cpp - A walk over protobuf's wire format ---------------===//
// A message is a list of fields, each a tag and a value, and a nested message is bytes with a length. So the walk goes
// down only along the fields that lead to tensors (edges), copies everything else unchanged, and replaces a tensor's
// data by a field of 16 bytes: its place and its size. Lengths of the messages around change with that, so a message is
// written when its content is known. The file may come from anybody: no length is trusted.
//===----------------------------------------------------------------------------===//

#include "import/onnx/file/LiftTensorData.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace kiln;
using namespace kiln::import::onnx;

namespace {

/// The messages on the way from a model to its tensors.
enum class Message { Model, Function, Graph, Node, Attribute, Tensor, Sparse };

struct Edge {
  Message from;
  uint64_t field;
  Message to;
};

constexpr Edge edges[] = {
    {Message::Model, 7, Message::Graph},       {Message::Model, 25, Message::Function},
    {Message::Function, 7, Message::Node},     {Message::Function, 11, Message::Attribute},
    {Message::Graph, 1, Message::Node},        {Message::Graph, 5, Message::Tensor},
    {Message::Node, 5, Message::Attribute},    {Message::Attribute, 5, Message::Tensor},
    {Message::Attribute, 6, Message::Graph},   {Message::Attribute, 10, Message::Tensor},
    {Message::Attribute, 11, Message::Graph},  {Message::Graph, 15, Message::Sparse},
    {Message::Attribute, 22, Message::Sparse}, {Message::Sparse, 1, Message::Tensor},
    {Message::Sparse, 2, Message::Tensor},
};

enum TensorField : uint64_t { DataType = 2, FloatData = 4, RawData = 9, DoubleData = 10 };
enum DataTypeValue : uint64_t { Float = 1, Double = 11 };
enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

constexpr size_t kRangeBytes = 16;

/// protobuf refuses deeper nesting too.
constexpr unsigned kMostDepth = 100;

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

void appendBytes(std::string &out, uint64_t field, llvm::StringRef content) {
  appendVarint(out, field << 3 | Bytes);
  appendVarint(out, content.size());
  out += content;
}

struct Field {
  uint64_t number;
  WireType type;
  llvm::StringRef whole;   ///< tag and content
  llvm::StringRef content; ///< of Bytes: without the length
  uint64_t value;          ///< of Varint
};

class Walk {
public:
  explicit Walk(llvm::StringRef file) : file_(file) {}

  bool message(llvm::StringRef rest, Message kind, std::string &out, unsigned depth) {
    if (depth > kMostDepth)
      return fail(rest, "messages nest too deep");
    uint64_t list = kind == Message::Tensor ? onlyPackedList(rest) : 0;
    while (!rest.empty()) {
      Field field;
      if (!next(rest, field))
        return false;
      const Edge *edge = llvm::find_if(edges, [&](const Edge &e) { return e.from == kind && e.field == field.number; });
      if (field.type == Bytes && edge != std::end(edges)) {
        std::string inner;
        if (!message(field.content, edge->to, inner, depth + 1))
          return false;
        appendBytes(out, field.number, inner);
      } else if (kind == Message::Tensor && field.type == Bytes && (field.number == RawData || field.number == list)) {
        appendBytes(out, RawData, encode(field.content));
      } else {
        out += field.whole;
      }
    }
    return true;
  }

  llvm::Error error() const { return failure(error_); }

private:
  /// The field that holds all of a tensor's data as one packed list of its own dtype; 0 if there is none.
  uint64_t onlyPackedList(llvm::StringRef rest) {
    unsigned holders = 0;
    uint64_t dataType = 0, list = 0;
    Field field;
    while (!rest.empty() && next(rest, field)) {
      if (field.number == DataType && field.type == Varint)
        dataType = field.value;
      if (field.number != FloatData && field.number != DoubleData && field.number != RawData)
        continue;
      ++holders;
      if (field.type == Bytes && !field.content.empty())
        list = field.number;
    }
    bool own = (list == FloatData && dataType == Float) || (list == DoubleData && dataType == Double);
    return holders == 1 && own ? list : 0;
  }

  bool next(llvm::StringRef &rest, Field &field) {
    llvm::StringRef start = rest;
    uint64_t tag, length;
    if (!varint(rest, tag))
      return false;
    // protobuf drops the bits above, and so would read another field here than this walk does.
    if (tag > UINT32_MAX || tag >> 3 == 0)
      return fail(start, "a field has no such number");
    field.number = tag >> 3;
    field.type = static_cast<WireType>(tag & 7);
    switch (field.type) {
    case Varint:
      if (!varint(rest, field.value))
        return false;
      break;
    case Fixed64:
    case Fixed32:
      length = field.type == Fixed64 ? 8 : 4;
      if (!take(rest, length, field.content))
        return false;
      break;
    case Bytes:
      if (!varint(rest, length) || !take(rest, length, field.content))
        return false;
      break;
    default:
      return fail(start, "the bytes make no field");
    }
    field.whole = start.drop_back(rest.size());
    return true;
  }

  bool varint(llvm::StringRef &rest, uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest.empty())
        return fail(rest, "it ends within a field");
      uint8_t byte = rest.front();
      rest = rest.drop_front();
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return true;
    }
    return fail(rest, "a number is too long");
  }

  bool take(llvm::StringRef &rest, uint64_t length, llvm::StringRef &content) {
    if (length > rest.size())
      return fail(rest, "it ends within a field");
    content = rest.take_front(length);
    rest = rest.drop_front(length);
    return true;
  }

  std::string encode(llvm::StringRef content) const {
    std::string range(kRangeBytes, '\0');
    llvm::support::endian::write64le(range.data(), content.data() - file_.data());
    llvm::support::endian::write64le(range.data() + 8, content.size());
    return range;
  }

  bool fail(llvm::StringRef where, llvm::StringRef cause) {
    error_ = ("corrupt ONNX at byte " + llvm::Twine(where.data() - file_.data()) + ": " + cause).str();
    return false;
  }

  llvm::StringRef file_;
  std::string error_;
};

} // namespace

llvm::Expected<std::string> kiln::import::onnx::liftTensorData(llvm::StringRef file) {
  Walk walk(file);
  std::string lifted;
  if (!walk.message(file, Message::Model, lifted, 0))
    return walk.error();
  return lifted;
}

std::optional<FileRange> kiln::import::onnx::decodeRange(llvm::StringRef rawData) {
  if (rawData.size() != kRangeBytes)
    return std::nullopt;
  return FileRange{llvm::support::endian::read64le(rawData.data()),
                   llvm::support::endian::read64le(rawData.data() + 8)};
}
