//===- Sequence.cpp - Sequences and optionals --------------------------------===//
//
// Most exported models give a list's length: they construct it, split a tensor into parts of known sizes, take the
// second. Such a list is kept as its items, so that SequenceAt is the tensor itself and ConcatFromSequence a Concat,
// which fuse. An optional is a list of none or one. If the length or a position is data, or a list comes in from
// outside, the program handles it (SequenceCalls.h).
//
//===----------------------------------------------------------------------===//
#include "import/onnx/control/Sequence.h"

#include "import/DType.h"
#include "import/onnx/Fold.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/control/SequenceCalls.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/tensor/DataSizes.h"
#include "ir/base/ObjectType.h"
#include "ir/host/Host.h"
#include "support/Error.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;
using mlir::Type;
using mlir::Value;

bool kiln::import::onnx::takesContainers(StringRef op) {
  static const llvm::StringSet<> operators = {
      "ConcatFromSequence", "Identity",           "If",         "Loop",          "Optional",
      "OptionalGetElement", "OptionalHasElement", "SequenceAt", "SequenceErase", "SequenceInsert",
      "SequenceLength",     "SequenceMap"};
  return operators.contains(op);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type kiln::import::onnx::heldType(const Tensor &tensor) {
  return mlir::RankedTensorType::get(tensor.type.getShape(), tensor.element());
}

llvm::Expected<Type> kiln::import::onnx::declaredType(mlir::MLIRContext *context, const ::onnx::TypeProto &type) {
  if (type.has_optional_type()) {
    llvm::Expected<Type> held = declaredType(context, type.optional_type().elem_type());
    if (held && llvm::isa<OptionalType>(*held))
      return failure("an optional within an optional", "it holds a tensor or a sequence");
    return held ? llvm::Expected<Type>(OptionalType::get(*held)) : std::move(held);
  }
  if (type.has_sequence_type()) {
    llvm::Expected<Type> held = declaredType(context, type.sequence_type().elem_type());
    if (held && isContainer(*held))
      return failure("a sequence within a sequence", "a sequence is of tensors");
    return held ? llvm::Expected<Type>(SequenceType::get(*held)) : std::move(held);
  }
  if (!type.has_tensor_type())
    return failure("it is not a tensor", "tensors, sequences of them and what of both is optional are known");
  const ::onnx::TypeProto::Tensor &tensor = type.tensor_type();
  Type dtype = elementType(context, tensor.elem_type());
  if (!dtype)
    return failure("dtype " + dataTypeName(tensor.elem_type()) + " is not supported", kKnownDTypes);
  if (!tensor.has_shape())
    return mlir::UnrankedTensorType::get(dtype);
  if (tensor.shape().dim_size() > host::kMaxPortRank)
    return failure("a tensor of " + Twine(tensor.shape().dim_size()) + " axes",
                   "in a sequence it has at most " + Twine(host::kMaxPortRank));
  auto sizes = llvm::map_to_vector(tensor.shape().dim(), [](const auto &dim) {
    return dim.has_dim_value() && dim.dim_value() >= 0 ? int64_t(dim.dim_value()) : mlir::ShapedType::kDynamic;
  });
  return mlir::RankedTensorType::get(sizes, dtype);
}

static Type dtypeOfSequence(const Tensor &sequence) {
  return mlir::getElementTypeOrSelf(heldTensor(sequence.element()));
}

static Tensor containerOf(Type type, std::vector<Tensor> items) {
  Tensor made;
  made.type = mlir::RankedTensorType::get({}, type);
  made.items = std::make_shared<const std::vector<Tensor>>(std::move(items));
  return made;
}

/// The common properties of tensors with `held` and of one more; null, and a failure noted, if there are none.
static Type withTensor(Node &n, Type held, const Tensor &added) {
  if (!added)
    return {};
  if (isContainer(added.element()))
    return n.fail("a sequence within a sequence", "a sequence is of tensors"), Type();
  if (Type common = commonTensor(held, heldType(added)))
    return common;
  n.fail("a tensor of " + dtypeName(added.element()) + " in a sequence of " +
             dtypeName(mlir::getElementTypeOrSelf(held)),
         "all tensors of a sequence have one dtype");
  return {};
}

Tensor kiln::import::onnx::sequenceOf(Node &n, Type dtype, std::vector<Tensor> items) {
  Type held = dtype;
  for (const Tensor &item : items)
    if (!(held = withTensor(n, held, item)))
      return {};
  return containerOf(SequenceType::get(held), std::move(items));
}

Tensor kiln::import::onnx::optionalOf(const Tensor &given) {
  Type held = isContainer(given.element()) ? given.element() : heldType(given);
  return containerOf(OptionalType::get(held), {given});
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The input as a sequence; null, and a failure noted, if it is not one.
static const Tensor *sequenceInput(Node &n, int index) {
  const Tensor &given = n.tensor(index);
  if (!given)
    return nullptr;
  if (llvm::isa<SequenceType>(given.element()))
    return &given;
  n.fail("input " + Twine(index) + " is not a sequence", "give it one");
  return nullptr;
}

/// The input as a place in a list of `count`, or maybe the one after the last, counted from the front; null if it is
/// data. Out of range is a failure.
static std::optional<size_t> knownPosition(Node &n, int index, size_t count, bool mayFollow = false) {
  const Elements *given = n.elements(index);
  std::optional<int64_t> at = given && given->size() == 1 ? given->front().asConst() : std::nullopt;
  if (!at)
    return std::nullopt;
  if (*at >= -int64_t(count) && *at < int64_t(count) + mayFollow)
    return *at < 0 ? *at + count : *at;
  n.fail("position " + Twine(*at) + " is outside a sequence of " + Twine(count), "name one that is there");
  return std::nullopt;
}

/// The input as a place known at run time; null, and a failure noted, if it is not an integer.
static Value positionInput(Node &n, TensorBuilder &b, int index) {
  Value given = n.input(index);
  if (!given)
    return {};
  if (!b.isInteger(given))
    return b.fail("a position of dtype " + dtypeName(b.element(given)), "it is an integer");
  return b.cast(b.reshape(given, {}), b.int64());
}

/// The shape that all items have; null if some have another.
static std::optional<Shape> commonShape(const std::vector<Tensor> &items) {
  for (const Tensor &item : items) {
    Shape first = items.front().shape(), shape = item.shape();
    bool isSame = first.size() == shape.size();
    for (size_t axis = 0; isSame && axis < shape.size(); ++axis)
      isSame = view::provablyEqual(first[axis], shape[axis]);
    if (!isSame)
      return std::nullopt;
  }
  return items.empty() ? std::nullopt : std::optional(items.front().shape());
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static Tensor sequenceEmpty(Node &n, TensorBuilder &b) {
  int64_t dataType = n.integer("dtype", ::onnx::TensorProto::FLOAT);
  Type dtype = elementType(b.builder().getContext(), int32_t(dataType));
  if (!dtype)
    return n.fail("dtype " + dataTypeName(int32_t(dataType)) + " is not supported", kKnownDTypes);
  return sequenceOf(n, dtype, {});
}

static Tensor sequenceConstruct(Node &n, TensorBuilder &) {
  std::vector<Tensor> items;
  for (int i = 0; i < n.numInputs(); ++i)
    items.push_back(n.tensor(i));
  if (items.empty())
    return n.fail("it has no inputs", "an empty sequence is what SequenceEmpty makes");
  return items.front() ? sequenceOf(n, items.front().element(), items) : Tensor();
}

static Tensor sequenceInsert(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  const Tensor &added = n.tensor(1);
  if (!sequence || !added)
    return {};
  if (const auto &known = sequence->items) {
    std::optional<size_t> at = known->size();
    if (n.has(2))
      at = knownPosition(n, 2, known->size(), /*mayFollow=*/true);
    if (!b.ok())
      return {};
    if (at) {
      std::vector<Tensor> items = *known;
      items.insert(items.begin() + *at, added);
      return sequenceOf(n, dtypeOfSequence(*sequence), std::move(items));
    }
  }
  Type held = withTensor(n, heldTensor(sequence->element()), added);
  return held ? insertInto(b, n.input(0), n.input(1), n.has(2) ? positionInput(n, b, 2) : Value(), held) : Value();
}

static Tensor sequenceErase(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  if (!sequence)
    return {};
  if (const auto &known = sequence->items) {
    if (known->empty())
      return n.fail("the sequence is empty", "there is nothing to erase");
    std::optional<size_t> at = known->size() - 1;
    if (n.has(1))
      at = knownPosition(n, 1, known->size());
    if (!b.ok())
      return {};
    if (at) {
      std::vector<Tensor> items = *known;
      items.erase(items.begin() + *at);
      return sequenceOf(n, dtypeOfSequence(*sequence), std::move(items));
    }
  }
  return eraseFrom(b, n.input(0), n.has(1) ? positionInput(n, b, 1) : b.constant(-1, b.int64()));
}

static Tensor sequenceAt(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  if (!sequence || !n.tensor(1))
    return {};
  std::optional<Shape> shape;
  if (const auto &known = sequence->items) {
    std::optional<size_t> at = knownPosition(n, 1, known->size());
    if (at || !b.ok())
      return at ? (*known)[*at] : Tensor();
    shape = commonShape(*known);
  }
  return tensorAt(n, b, n.input(0), positionInput(n, b, 1), shape);
}

static Tensor sequenceLength(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  if (sequence && sequence->items)
    return Tensor(b.int64(), {}, {Expr(int64_t(sequence->items->size()))});
  return sequence ? lengthOf(b, n.input(0)) : Value();
}

static Tensor concatFromSequence(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  int64_t axis = n.integer("axis");
  bool isNew = n.flag("new_axis", false);
  if (!sequence)
    return {};
  const auto &items = sequence->items;
  if (!items)
    return concatOf(n, b, n.input(0), axis, isNew);
  if (items->empty())
    return n.fail("the sequence is empty", "there is nothing to concatenate");
  if (Tensor folded = axis == 0 || axis == -1 ? foldConcat(*items, /*rank=*/isNew ? 0 : 1) : Tensor())
    return folded;
  auto tensors = llvm::map_to_vector(*items, [&](const Tensor &item) { return n.asValue(item); });
  return isNew ? b.stack(tensors, axis) : b.concat(tensors, axis);
}

//===----------------------------------------------------------------------===//
// Parts of a tensor
//===----------------------------------------------------------------------===//

/// The sizes of parts of one size along an axis, the last maybe smaller; null if their number is data.
static std::optional<Elements> equalParts(Expr axis, std::optional<int64_t> size) {
  std::optional<int64_t> whole = axis.asConst();
  if (!whole || !size || *size <= 0 || llvm::divideCeil(*whole, *size) > uint64_t(kMostElements))
    return std::nullopt;
  Elements sizes;
  for (int64_t first = 0; first < *whole; first += *size)
    sizes.push_back(std::min(*size, *whole - first));
  return sizes;
}

/// The parts' sizes, if their number is known at import; false after a failure.
static bool findSizes(Node &n, TensorBuilder &b, Expr axis, std::optional<Elements> &sizes) {
  if (!n.has(1)) {
    sizes = equalParts(axis, 1);
    return true;
  }
  const Tensor &given = n.tensor(1);
  if (!given)
    return false;
  if (given.type.getRank() > 1 || !b.isInteger(n.input(1)))
    return n.fail("sizes " + describe(given.shape()) + " of " + dtypeName(given.element()),
                  "they are integers, a list or one for all parts"),
           false;
  if (given.type.getRank() == 1) {
    if (given.type.hasStaticShape())
      sizes = n.sizes(1);
  } else if (const Elements *size = n.elements(1); size && size->size() == 1) {
    if (size->front().max() <= 0)
      return n.fail("parts of size " + size->front().print(), "a size is positive"), false;
    sizes = equalParts(axis, size->front().asConst());
  }
  return b.ok();
}

static Tensor splitToSequence(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("axis", 0), b.rank(x));
  bool keeps = n.flag("keepdims", true) || n.has(1);
  std::optional<Elements> sizes;
  if (!x || !axis || !findSizes(n, b, b.dim(x, *axis), sizes))
    return {};
  if (!sizes) {
    Value given = n.has(1) ? b.cast(n.input(1), b.int64()) : b.constant(1, b.int64());
    return splitOf(b, x, given, *axis, keeps);
  }
  std::vector<Tensor> items;
  for (Value part : partsOf(n, b, x, *axis, std::move(*sizes)))
    items.push_back(keeps ? part : b.squeeze(part, {*axis}));
  return b.ok() ? sequenceOf(n, b.element(x), std::move(items)) : Tensor();
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static Tensor optional(Node &n, TensorBuilder &b) {
  const ::onnx::TypeProto *type = n.typeAttr("type");
  if (n.has(0)) {
    const Tensor &given = n.tensor(0);
    if (given && llvm::isa<OptionalType>(given.element()))
      return n.fail("an optional within an optional", "it holds a tensor or a sequence");
    return given ? optionalOf(given) : Tensor();
  }
  if (!type)
    return n.fail("it has neither an input nor the attribute 'type'", "give one of them");
  llvm::Expected<Type> held = declaredType(b.builder().getContext(), *type);
  if (!held)
    return b.fail(held.takeError());
  if (llvm::isa<OptionalType>(*held))
    return n.fail("an optional within an optional", "it holds a tensor or a sequence");
  return containerOf(OptionalType::get(*held), {});
}

/// A value that is not an optional is present.
static Tensor optionalHasElement(Node &n, TensorBuilder &b) {
  auto known = [&](bool has) { return Tensor(b.boolType(), {}, {Expr(has ? 1 : 0)}); };
  if (!n.has(0))
    return known(false);
  const Tensor &given = n.tensor(0);
  if (!given || !llvm::isa<OptionalType>(given.element()))
    return known(true);
  return given.items ? known(!given.items->empty()) : Tensor(hasElement(b, n.input(0)));
}

static Tensor optionalGetElement(Node &n, TensorBuilder &b) {
  const Tensor &given = n.tensor(0);
  if (!given || !llvm::isa<OptionalType>(given.element()))
    return given;
  if (!given.items)
    return elementOf(n, b, n.input(0));
  if (given.items->empty())
    return n.fail("the optional has no element", "ask with OptionalHasElement first");
  return given.items->front();
}

void kiln::import::onnx::addSequences(Registry &r) {
  r.add("ConcatFromSequence", 11, concatFromSequence);
  r.add("Optional", 15, optional);
  r.add("OptionalGetElement", 15, optionalGetElement);
  r.add("OptionalHasElement", 15, optionalHasElement);
  r.add("SequenceAt", 11, sequenceAt);
  r.add("SequenceConstruct", 11, sequenceConstruct);
  r.add("SequenceEmpty", 11, sequenceEmpty);
  r.add("SequenceErase", 11, sequenceErase);
  r.add("SequenceInsert", 11, sequenceInsert);
  r.add("SequenceLength", 11, sequenceLength);
  r.add("SplitToSequence", 11, splitToSequence);
  addSequenceMap(r);
}
