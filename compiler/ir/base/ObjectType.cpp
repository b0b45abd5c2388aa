#include "ir/base/ObjectType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(kiln::StringType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(kiln::SequenceType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(kiln::OptionalType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(kiln::ObjectDialect)

struct kiln::detail::HeldTypeStorage : TypeStorage {
  using KeyTy = Type;
  explicit HeldTypeStorage(Type held) : held(held) {}
  bool operator==(const KeyTy &key) const { return key == held; }
  static HeldTypeStorage *construct(TypeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<HeldTypeStorage>()) HeldTypeStorage(key);
  }

  Type held;
};

SequenceType SequenceType::get(Type held) { return Base::get(held.getContext(), held); }
OptionalType OptionalType::get(Type held) { return Base::get(held.getContext(), held); }
Type SequenceType::getHeld() const { return getImpl()->held; }
Type OptionalType::getHeld() const { return getImpl()->held; }

ObjectDialect::ObjectDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<ObjectDialect>()) {
  addTypes<StringType, SequenceType, OptionalType>();
}

static bool isHeld(Type type) { return isa<TensorType>(type) || type.isIntOrFloat() || isa<StringType>(type); }

Type ObjectDialect::parseType(DialectAsmParser &parser) const {
  llvm::StringRef word;
  llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return {};
  if (word == "string")
    return StringType::get(parser.getContext());
  Type held;
  bool isSequence = word == "sequence";
  if (!isSequence && word != "optional")
    return parser.emitError(at, "it is string, sequence or optional"), Type();
  if (parser.parseLess() || parser.parseType(held) || parser.parseGreater())
    return {};
  if (!isHeld(held) && (isSequence || !isa<SequenceType>(held)))
    return parser.emitError(at, "it holds tensors"), Type();
  return isSequence ? Type(SequenceType::get(held)) : Type(OptionalType::get(held));
}

void ObjectDialect::printType(Type type, DialectAsmPrinter &printer) const {
  if (auto sequence = dyn_cast<SequenceType>(type))
    printer << "sequence<" << sequence.getHeld() << ">";
  else if (auto optional = dyn_cast<OptionalType>(type))
    printer << "optional<" << optional.getHeld() << ">";
  else
    printer << "string";
}

bool kiln::isContainer(Type element) { return isa_and_nonnull<SequenceType, OptionalType>(element); }

bool kiln::isObject(Type element) { return isa_and_nonnull<StringType>(element) || isContainer(element); }

Type kiln::heldBy(Type container) {
  auto optional = dyn_cast<OptionalType>(container);
  return optional ? optional.getHeld() : cast<SequenceType>(container).getHeld();
}

Type kiln::heldTensor(Type container) {
  while (isContainer(container))
    container = heldBy(container);
  return container;
}

Type kiln::commonContainer(Type a, Type b) {
  auto one = dyn_cast_or_null<OptionalType>(a), other = dyn_cast_or_null<OptionalType>(b);
  if (one || other) {
    // A sequence is an optional one that is present.
    Type x = one ? one.getHeld() : a, y = other ? other.getHeld() : b, common;
    if (isa<SequenceType>(x) && isa<SequenceType>(y))
      common = commonContainer(x, y);
    else if (one && other && !isContainer(x) && !isContainer(y))
      common = commonTensor(x, y);
    return common ? Type(OptionalType::get(common)) : Type();
  }
  if (!isa_and_nonnull<SequenceType>(a) || !isa_and_nonnull<SequenceType>(b))
    return {};
  Type common = commonTensor(heldTensor(a), heldTensor(b));
  return common ? Type(SequenceType::get(common)) : Type();
}

Type kiln::commonTensor(Type a, Type b) {
  Type element = getElementTypeOrSelf(a);
  if (element != getElementTypeOrSelf(b))
    return {};
  if (!isa<TensorType>(a) || !isa<TensorType>(b))
    return isa<TensorType>(a) ? a : b;
  auto one = dyn_cast<RankedTensorType>(a), other = dyn_cast<RankedTensorType>(b);
  if (!one || !other || one.getRank() != other.getRank())
    return UnrankedTensorType::get(element);
  auto sizes = llvm::map_to_vector(llvm::zip(one.getShape(), other.getShape()), [](auto pair) {
    auto [size, same] = pair;
    return size == same ? size : ShapedType::kDynamic;
  });
  return RankedTensorType::get(sizes, element);
}
