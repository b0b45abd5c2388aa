#include "import/DType.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace {
struct Row {
  llvm::StringLiteral name;
  Type (*make)(Builder builder);
};
} // namespace

static const Row rows[] = {
    {"bool", [](Builder b) -> Type { return b.getI1Type(); }},
    {"int8", [](Builder b) -> Type { return b.getI8Type(); }},
    {"int16", [](Builder b) -> Type { return b.getI16Type(); }},
    {"int32", [](Builder b) -> Type { return b.getI32Type(); }},
    {"int64", [](Builder b) -> Type { return b.getI64Type(); }},
    {"uint8", [](Builder b) -> Type { return b.getIntegerType(8, /*isSigned=*/false); }},
    {"uint16", [](Builder b) -> Type { return b.getIntegerType(16, /*isSigned=*/false); }},
    {"uint32", [](Builder b) -> Type { return b.getIntegerType(32, /*isSigned=*/false); }},
    {"uint64", [](Builder b) -> Type { return b.getIntegerType(64, /*isSigned=*/false); }},
    {"float16", [](Builder b) -> Type { return b.getF16Type(); }},
    {"bfloat16", [](Builder b) -> Type { return b.getBF16Type(); }},
    {"float32", [](Builder b) -> Type { return b.getF32Type(); }},
    {"float64", [](Builder b) -> Type { return b.getF64Type(); }},
};

Type kiln::import::parseDType(MLIRContext *context, llvm::StringRef name) {
  for (const Row &row : rows)
    if (row.name == name)
      return row.make(Builder(context));
  return {};
}

std::string kiln::import::dtypeName(Type element) {
  for (const Row &row : rows)
    if (row.make(Builder(element.getContext())) == element)
      return row.name.str();
  if (const NarrowDType *narrow = narrowDType(element))
    return narrow->name.str();
  if (isa<StringType>(element))
    return "string";
  if (auto optional = dyn_cast<OptionalType>(element))
    return isa<SequenceType>(optional.getHeld()) ? "an optional sequence" : "an optional tensor";
  if (isa<SequenceType>(element))
    return "a sequence";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string kiln::import::dtypeNames() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(rows, stream, [&](const Row &row) { stream << row.name; });
  return text;
}
