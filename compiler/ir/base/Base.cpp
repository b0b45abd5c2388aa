//===- Base.cpp - The attributes that all dialects share ---------------===//
//
// view/ knows sizes and views as C++ values and nothing of MLIR; here they become attributes, which print as text and
// are read back as the same values, since any dump has to re-enter. A dynamic dim itself only says that it is not
// fixed. Its value is in the tensor's encoding, tensor<?x3xf32, #kiln.dims<["batch", 3]>>, and the verifier makes sure
// that both agree. The attributes of Base.td and of Target.td belong to one dialect, for which TableGen makes two
// parsers of one name: one is renamed, and the mnemonic decides between them.
//
//===-------------------------------------------------------------------===//
#include "ir/base/ObjectType.h"
#include "ir/base/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace mlir;

/// How the lists of an attribute are written: in brackets.
template <class T> static ParseResult parseList(AsmParser &parser, SmallVector<T> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    FailureOr<T> element = FieldParser<T>::parse(parser);
    if (failed(element))
      return failure();
    list.push_back(*element);
    return success();
  });
}

template <class T> static void printList(AsmPrinter &printer, ArrayRef<T> list) {
  printer << '[';
  printer.printStrippedAttrOrType(list);
  printer << ']';
}

#include "ir/base/BaseDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/base/BaseAttrs.cpp.inc"

// The code generated from Target.td has functions of the same names.
#define generatedAttributeParser parseTargetPart
#define generatedAttributePrinter printTargetPart
#define GET_ATTRDEF_CLASSES
#include "ir/base/TargetAttrs.cpp.inc"
#undef generatedAttributeParser
#undef generatedAttributePrinter

namespace {
/// A target is long: a module that has one names it.
struct Aliases final : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &out) const override {
    if (!isa<TargetAttr>(attr))
      return AliasResult::NoAlias;
    out << "target";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void KilnDialect::initialize() {
  getContext()->loadDialect<ObjectDialect>();
  addInterfaces<Aliases>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/base/BaseAttrs.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/base/TargetAttrs.cpp.inc"
      >();
}

template <class... Attributes> static bool isOneOf(llvm::StringRef mnemonic) {
  return ((mnemonic == Attributes::getMnemonic()) || ...);
}

Attribute KilnDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  bool isOfTarget = isOneOf<
#define GET_ATTRDEF_LIST
#include "ir/base/TargetAttrs.cpp.inc"
      >(parser.getFullSymbolSpec().take_while(llvm::isAlpha));
  llvm::SMLoc where = parser.getCurrentLocation();
  llvm::StringRef mnemonic;
  Attribute attribute;
  auto parse = isOfTarget ? parseTargetPart : generatedAttributeParser;
  if (!parse(parser, &mnemonic, type, attribute).has_value())
    parser.emitError(where) << "unknown attribute `" << mnemonic << "` in dialect `" << getNamespace() << "`";
  return attribute;
}

void KilnDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  bool printed =
      succeeded(generatedAttributePrinter(attribute, printer)) || succeeded(printTargetPart(attribute, printer));
  assert(printed && "an attribute of no file");
  (void)printed;
}

FailureOr<Alu> FieldParser<Alu>::parse(AsmParser &parser) {
  llvm::SMLoc where = parser.getCurrentLocation();
  std::string word;
  if (parser.parseKeywordOrString(&word))
    return failure();
  if (std::optional<Alu> kind = symbolizeAlu(word))
    return *kind;
  return parser.emitError(where) << "'" << word << "' is not an element-wise operation";
}

AsmPrinter &kiln::operator<<(AsmPrinter &printer, Alu kind) {
  printer.getStream() << stringifyAlu(kind);
  return printer;
}

ParseResult kiln::parseAluRow(AsmParser &parser, AluKindAttr &row) {
  FailureOr<Alu> kind = FieldParser<Alu>::parse(parser);
  if (failed(kind))
    return failure();
  row = AluKindAttr::get(parser.getContext(), *kind);
  return success();
}

void kiln::printAluRow(AsmPrinter &printer, Operation *, AluKindAttr row) { printer << row.getValue(); }

/// Reads a number or a quoted expression.
static FailureOr<view::Expr> parseSize(AsmParser &parser) {
  int64_t number;
  OptionalParseResult plain = parser.parseOptionalInteger(number);
  if (plain.has_value()) {
    if (failed(*plain))
      return failure();
    return view::Expr(number);
  }
  llvm::SMLoc where = parser.getCurrentLocation();
  std::string text;
  if (parser.parseString(&text))
    return failure();
  llvm::Expected<view::Expr> expr = view::Expr::parse(text);
  if (!expr)
    return parser.emitError(where) << llvm::toString(expr.takeError());
  return *expr;
}

static void printSize(AsmPrinter &printer, view::Expr size) {
  if (size.isConst())
    printer << size.constant();
  else
    printer.printString(size.print()); // a symbol's name may hold quotes
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<view::Expr> value = parseSize(parser);
  if (failed(value) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *value);
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printSize(printer, getValue());
  printer << '>';
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<view::Expr> sizes;
  auto element = [&]() -> ParseResult {
    FailureOr<view::Expr> size = parseSize(parser);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getSizes(), printer.getStream(), [&](view::Expr size) { printSize(printer, size); });
  printer << "]>";
}

LogicalResult SymbolAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::StringRef name, int64_t min,
                                 int64_t max, int64_t) {
  return min <= max ? success()
                    : LogicalResult(emitError() << "the bounds of the size '" << name << "' leave no value");
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                       llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getSizes().size())
    return emitError() << "the encoding has " << getSizes().size() << " sizes where the tensor has " << shape.size()
                       << " dims";
  for (auto [dim, size] : llvm::zip(shape, getSizes())) {
    bool matches = ShapedType::isDynamic(dim) ? !size.isConst() : size.isConst(dim);
    if (!matches)
      return emitError() << "the encoding's size " << size.print() << " does not fit the tensor's dim";
  }
  return success();
}

Attribute TrackerAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  llvm::SMLoc where = parser.getCurrentLocation();
  std::string text;
  if (parser.parseString(&text))
    return {};
  llvm::Expected<view::ShapeTracker> tracker = view::ShapeTracker::parse(text);
  if (!tracker) {
    parser.emitError(where) << llvm::toString(tracker.takeError());
    return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *tracker);
}

void TrackerAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getValue().print());
  printer << '>';
}

view::Shape kiln::shapeOf(RankedTensorType type) {
  if (auto dims = llvm::dyn_cast_or_null<DimsAttr>(type.getEncoding()))
    return view::Shape(dims.getSizes());
  view::Shape shape;
  for (int64_t size : type.getShape()) {
    assert(!ShapedType::isDynamic(size) && "a dynamic dim needs an encoding that says what it is");
    shape.push_back(size);
  }
  return shape;
}

RankedTensorType kiln::tensorType(ArrayRef<view::Expr> shape, Type element) {
  SmallVector<int64_t> sizes;
  for (view::Expr size : shape)
    sizes.push_back(size.isConst() ? size.constant() : ShapedType::kDynamic);
  bool isStatic = !llvm::is_contained(sizes, ShapedType::kDynamic);
  Attribute encoding = isStatic ? Attribute() : DimsAttr::get(element.getContext(), shape);
  return RankedTensorType::get(sizes, element, encoding);
}

llvm::StringRef kiln::listingName(Type element) {
  if (auto integer = llvm::dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return "dtypes.bool";
    case 8:
      return isUnsigned ? "dtypes.uchar" : "dtypes.char";
    case 16:
      return isUnsigned ? "dtypes.ushort" : "dtypes.short";
    case 32:
      return isUnsigned ? "dtypes.uint" : "dtypes.int";
    case 64:
      return isUnsigned ? "dtypes.ulong" : "dtypes.long";
    }
  }
  return llvm::TypeSwitch<Type, llvm::StringRef>(element)
      .Case([](Float16Type) { return "dtypes.half"; })
      .Case([](BFloat16Type) { return "dtypes.bfloat16"; })
      .Case([](Float32Type) { return "dtypes.float"; })
      .Case([](Float64Type) { return "dtypes.double"; });
}

unsigned kiln::byteSize(Type element) {
  return isObject(element) ? sizeof(int64_t) : (element.getIntOrFloatBitWidth() + 7) / 8;
}
