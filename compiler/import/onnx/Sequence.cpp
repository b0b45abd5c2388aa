//===- Sequence.cpp - Sequences and optionals --------------------------------===//
//
// Most exported models write a list's length down: they construct it, split a tensor into parts of known sizes, take
// the second. Such a list is kept as its items, so that SequenceAt is the tensor itself and ConcatFromSequence a
// Concat, which fuse. An optional is a list of none or one.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Sequence.h"

#include "import/DType.h"
#include "import/onnx/DataSizes.h"
#include "import/onnx/ElementType.h"
#include "import/onnx/Fold.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "ir/base/ObjectType.h"

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
      "SequenceLength"};
  return operators.contains(op);
}

Type kiln::import::onnx::heldType(const Tensor &tensor) {
  return mlir::RankedTensorType::get(tensor.type.getShape(), tensor.element());
}

static Tensor containerOf(Type type, std::vector<Tensor> items) {
  Tensor made;
  made.type = mlir::RankedTensorType::get({}, type);
  made.items = std::make_shared<const std::vector<Tensor>>(std::move(items));
  return made;
}

Tensor kiln::import::onnx::sequenceOf(Node &n, Type dtype, std::vector<Tensor> items) {
  Type held = dtype;
  for (const Tensor &item : items) {
    if (!item)
      return {};
    if (isContainer(item.element()))
      return n.fail("a sequence within a sequence", "a sequence is of tensors");
    held = commonTensor(held, heldType(item));
    if (!held)
      return n.fail("a tensor of " + dtypeName(item.element()) + " in a sequence of " + dtypeName(dtype),
                    "all tensors of a sequence have one dtype");
  }
  return containerOf(SequenceType::get(held), std::move(items));
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The input as a sequence; null, and a failure noted, where it is none.
static const Tensor *sequenceInput(Node &n, int index) {
  const Tensor &given = n.tensor(index);
  if (!given)
    return nullptr;
  if (llvm::isa<SequenceType>(given.element()))
    return &given;
  n.fail("input " + Twine(index) + " is no sequence", "give it one");
  return nullptr;
}

static Type dtypeOfSequence(const Tensor &sequence) {
  return mlir::getElementTypeOrSelf(heldTensor(sequence.element()));
}

/// The items where all of them are known.
static const std::vector<Tensor> *itemsOf(Node &n, const Tensor &sequence) {
  if (!sequence.items)
    n.fail("what is in the sequence is not known at import", "construct it in the model");
  return sequence.items.get();
}

/// The input as a place in a list of `count`, counted from the front; null where it is data. Out of range is a failure.
static std::optional<size_t> knownPosition(Node &n, int index, size_t count) {
  const Elements *given = n.elements(index);
  std::optional<int64_t> at = given && given->size() == 1 ? given->front().asConst() : std::nullopt;
  if (!at) {
    n.fail("the position is not known at import", "make it a constant");
    return std::nullopt;
  }
  if (*at >= -int64_t(count) && *at < int64_t(count))
    return *at < 0 ? *at + count : *at;
  n.fail("position " + Twine(*at) + " is outside a sequence of " + Twine(count), "name one that is there");
  return std::nullopt;
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

static Tensor sequenceInsert(Node &n, TensorBuilder &) {
  const Tensor *sequence = sequenceInput(n, 0);
  const Tensor &added = n.tensor(1);
  const std::vector<Tensor> *known = sequence && added ? itemsOf(n, *sequence) : nullptr;
  if (!known)
    return {};
  std::vector<Tensor> items = *known;
  size_t at = items.size();
  if (n.has(2)) {
    // Behind the last one is a place too.
    std::optional<size_t> given = knownPosition(n, 2, items.size() + 1);
    if (!given)
      return {};
    const Elements &position = *n.elements(2);
    at = position.front().constant() < 0 ? *given - 1 : *given;
  }
  items.insert(items.begin() + at, added);
  return sequenceOf(n, dtypeOfSequence(*sequence), std::move(items));
}

static Tensor sequenceErase(Node &n, TensorBuilder &) {
  const Tensor *sequence = sequenceInput(n, 0);
  const std::vector<Tensor> *known = sequence ? itemsOf(n, *sequence) : nullptr;
  if (!known)
    return {};
  std::vector<Tensor> items = *known;
  if (items.empty())
    return n.fail("the sequence is empty", "there is nothing to erase");
  std::optional<size_t> at = items.size() - 1;
  if (n.has(1))
    at = knownPosition(n, 1, items.size());
  if (!at)
    return {};
  items.erase(items.begin() + *at);
  return sequenceOf(n, dtypeOfSequence(*sequence), std::move(items));
}

static Tensor sequenceAt(Node &n, TensorBuilder &) {
  const Tensor *sequence = sequenceInput(n, 0);
  const std::vector<Tensor> *items = sequence ? itemsOf(n, *sequence) : nullptr;
  std::optional<size_t> at = items ? knownPosition(n, 1, items->size()) : std::nullopt;
  return at ? (*items)[*at] : Tensor();
}

static Tensor sequenceLength(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  const std::vector<Tensor> *items = sequence ? itemsOf(n, *sequence) : nullptr;
  return items ? Tensor(b.int64(), {}, {Expr(int64_t(items->size()))}) : Tensor();
}

static Tensor concatFromSequence(Node &n, TensorBuilder &b) {
  const Tensor *sequence = sequenceInput(n, 0);
  int64_t axis = n.integer("axis");
  bool isNew = n.flag("new_axis", false);
  const std::vector<Tensor> *items = sequence ? itemsOf(n, *sequence) : nullptr;
  if (!items)
    return {};
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

/// The sizes of as many parts of `size` as fit into an axis, the last maybe smaller; null where their number is not
/// known.
static std::optional<Elements> equalParts(Expr axis, std::optional<int64_t> size) {
  std::optional<int64_t> whole = axis.asConst();
  if (!whole || !size || *size <= 0 || llvm::divideCeil(*whole, *size) > uint64_t(kMostElements))
    return std::nullopt;
  Elements sizes;
  for (int64_t first = 0; first < *whole; first += *size)
    sizes.push_back(std::min(*size, *whole - first));
  return sizes;
}

static Tensor splitToSequence(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("axis", 0), b.rank(x));
  bool keeps = n.flag("keepdims", true) || n.has(1);
  if (!x || !axis)
    return {};
  std::optional<Elements> sizes;
  if (!n.has(1)) {
    sizes = equalParts(b.dim(x, *axis), 1);
  } else if (!n.tensor(1)) {
    return {};
  } else if (n.tensor(1).type.getRank() == 1) {
    sizes = n.sizes(1);
    if (!sizes)
      return {};
  } else if (const Elements *size = n.elements(1); size && size->size() == 1) {
    if (size->front().max() <= 0)
      return n.fail("parts of size " + size->front().print(), "a size is positive");
    sizes = equalParts(b.dim(x, *axis), size->front().asConst());
  }
  if (!sizes)
    return n.fail("the number of parts is not known at import", "make 'split' and the axis' size constants");
  std::vector<Tensor> items;
  for (Value part : partsOf(n, b, x, *axis, std::move(*sizes)))
    items.push_back(keeps ? part : b.squeeze(part, {*axis}));
  return b.ok() ? sequenceOf(n, b.element(x), std::move(items)) : Tensor();
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

/// What a model's type declares, as a sequence or an optional holds it; null, and a failure noted, for what kiln has
/// not.
static Type declaredType(Node &n, const ::onnx::TypeProto &type) {
  mlir::MLIRContext *context = n.builder().builder().getContext();
  if (type.has_sequence_type()) {
    Type held = declaredType(n, type.sequence_type().elem_type());
    if (held && isContainer(held))
      return n.fail("a sequence within a sequence", "a sequence is of tensors"), Type();
    return held ? SequenceType::get(held) : Type();
  }
  if (!type.has_tensor_type())
    return n.fail("it holds neither a tensor nor a sequence of them", "these are what can be absent"), Type();
  Type dtype = elementType(context, type.tensor_type().elem_type());
  if (!dtype)
    return n.fail("dtype " + dataTypeName(type.tensor_type().elem_type()) + " is not supported", kKnownDTypes), Type();
  if (!type.tensor_type().has_shape())
    return mlir::UnrankedTensorType::get(dtype);
  auto sizes = llvm::map_to_vector(type.tensor_type().shape().dim(), [](const auto &dim) {
    return dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : mlir::ShapedType::kDynamic;
  });
  return mlir::RankedTensorType::get(sizes, dtype);
}

static Tensor optional(Node &n, TensorBuilder &) {
  const ::onnx::TypeProto *type = n.typeAttr("type");
  if (n.has(0)) {
    const Tensor &given = n.tensor(0);
    if (!given)
      return {};
    if (llvm::isa<OptionalType>(given.element()))
      return n.fail("an optional within an optional", "it holds a tensor or a sequence");
    Type held = isContainer(given.element()) ? given.element() : heldType(given);
    return containerOf(OptionalType::get(held), {given});
  }
  if (!type)
    return n.fail("it has neither an input nor the attribute 'type'", "give one of them");
  Type held = declaredType(n, *type);
  return held ? containerOf(OptionalType::get(held), {}) : Tensor();
}

static Tensor optionalHasElement(Node &n, TensorBuilder &b) {
  auto known = [&](bool has) { return Tensor(b.boolType(), {}, {Expr(has ? 1 : 0)}); };
  if (!n.has(0))
    return known(false);
  const Tensor &given = n.tensor(0);
  if (!given || !llvm::isa<OptionalType>(given.element()))
    return known(true);
  const std::vector<Tensor> *items = itemsOf(n, given);
  return items ? known(!items->empty()) : Tensor();
}

/// What is no optional is there.
static Tensor optionalGetElement(Node &n, TensorBuilder &) {
  const Tensor &given = n.tensor(0);
  if (!given || !llvm::isa<OptionalType>(given.element()))
    return given;
  const std::vector<Tensor> *items = itemsOf(n, given);
  if (items && items->empty())
    return n.fail("the optional has no element", "ask with OptionalHasElement first");
  return items ? items->front() : Tensor();
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
}
