#include "ir/base/ObjectType.h"

#include "mlir/IR/DialectImplementation.h"

using namespace kiln;
using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(kiln::StringType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(kiln::ObjectDialect)

ObjectDialect::ObjectDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<ObjectDialect>()) {
  addTypes<StringType>();
}

Type ObjectDialect::parseType(DialectAsmParser &parser) const {
  if (parser.parseKeyword("string"))
    return {};
  return StringType::get(parser.getContext());
}

void ObjectDialect::printType(Type, DialectAsmPrinter &printer) const { printer << "string"; }

bool kiln::isObject(Type element) { return isa_and_nonnull<StringType>(element); }
