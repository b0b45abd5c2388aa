#include "import/onnx/control/SequenceCalls.h"

#include "import/Scatter.h"
#include "import/onnx/Importer.h"
#include "import/onnx/control/Sequence.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "ir/host/Host.h"

#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Type;
using mlir::Value;

static Type tensorsOf(Value container) { return heldTensor(TensorBuilder::element(container)); }

/// A call that returns a sequence.
static Value sequenceFrom(TensorBuilder &b, llvm::StringRef callee, Type held, llvm::ArrayRef<Value> operands,
                          llvm::ArrayRef<Expr> numbers) {
  return callHost(b, callee, {tensorType({}, SequenceType::get(held))}, operands, numbers)[0];
}

/// Its dtype, its rank and its sizes, as calls take them; empty, and a failure noted, if it has too many axes.
static llvm::SmallVector<Expr> numbersOf(TensorBuilder &b, Value tensor) {
  if (b.rank(tensor) > host::kMaxPortRank) {
    b.fail("a tensor of " + Twine(b.rank(tensor)) + " axes in a sequence",
           "it has at most " + Twine(host::kMaxPortRank));
    return {};
  }
  llvm::SmallVector<Expr> numbers = {int64_t(runtimeDType(b.element(tensor))), b.rank(tensor)};
  llvm::append_range(numbers, b.shape(tensor));
  return numbers;
}

Value kiln::import::onnx::asContainer(TensorBuilder &b, Value reference, Type type) {
  return reference && b.element(reference) != type ? b.fromCodes(reference, type) : reference;
}

Value kiln::import::onnx::referenceTo(Importer &importer, const Tensor &container, Scope &scope, TensorBuilder &b) {
  auto optional = llvm::dyn_cast<OptionalType>(container.element());
  // An empty optional is not a reference; one that holds a tensor is a sequence of it.
  if (optional && container.items->empty())
    return b.fromCodes(b.constant(0, b.int64()), optional);
  auto valueOf = [&](const Tensor &item) { return importer.materialize(item, scope, b, /*isNamed=*/false); };
  if (optional && llvm::isa<SequenceType>(optional.getHeld()))
    return asContainer(b, valueOf(container.items->front()), optional);
  Type held = heldTensor(container.element());
  Value list = sequenceFrom(b, "sequence_empty", held, {}, {});
  for (const Tensor &item : *container.items)
    list = insertInto(b, list, valueOf(item), {}, held);
  return asContainer(b, list, container.element());
}

Value kiln::import::onnx::insertInto(TensorBuilder &b, Value sequence, Value tensor, Value position, Type held) {
  if (!sequence || !tensor)
    return {};
  llvm::SmallVector<Expr> numbers = numbersOf(b, tensor);
  numbers.insert(numbers.begin(), Expr(position ? 1 : 0));
  llvm::SmallVector<Value> operands = {sequence, tensor};
  if (position)
    operands.push_back(position);
  return sequenceFrom(b, "sequence_insert", held, operands, numbers);
}

Value kiln::import::onnx::eraseFrom(TensorBuilder &b, Value sequence, Value position) {
  return sequence ? sequenceFrom(b, "sequence_erase", tensorsOf(sequence), {sequence, position}, {}) : Value();
}

Value kiln::import::onnx::lengthOf(TensorBuilder &b, Value sequence) {
  return callHost(b, "sequence_length", {tensorType({}, b.int64())}, {sequence}, {})[0];
}

/// A shape with the fixed sizes of `type`; the others come from the list `sizes` at run time.
static Shape readShape(Node &n, TensorBuilder &b, mlir::RankedTensorType type, Value sizes) {
  Shape shape;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!mlir::ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    Value one = b.reshape(b.narrow(sizes, 0, int64_t(axis), int64_t(axis) + 1), {});
    std::string name = n.scope().prefix() + n.proto().output(0) + ".dim" + std::to_string(axis);
    shape.push_back(n.importer().bind(name, one, b, {0, view::kMaxDim, 1}));
  }
  return shape;
}

/// The properties of a sequence's tensors. If the sequence does not give their number of axes, the model may declare it
/// for the node's result, which has `added` axes more; a run checks whether that is true. Null, and a failure noted, if
/// neither does.
static mlir::RankedTensorType rankedTensor(Node &n, TensorBuilder &b, Value sequence, int64_t added = 0) {
  if (!sequence)
    return {};
  if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(tensorsOf(sequence)))
    return type;
  const ::onnx::TypeProto *declared = n.scope().declared(n.proto().output(0));
  int64_t rank = declared && declared->tensor_type().has_shape() ? declared->tensor_type().shape().dim_size() : -1;
  if (rank >= added && rank <= host::kMaxPortRank)
    return mlir::RankedTensorType::get(llvm::SmallVector<int64_t>(rank - added, mlir::ShapedType::kDynamic),
                                       mlir::getElementTypeOrSelf(tensorsOf(sequence)));
  b.fail("the tensors of the sequence have no rank that is known",
         "declare the shape of what the node makes; sizes may be symbolic");
  return {};
}

Value kiln::import::onnx::tensorAt(Node &n, TensorBuilder &b, Value sequence, Value position,
                                   std::optional<Shape> shape) {
  mlir::RankedTensorType type = rankedTensor(n, b, sequence);
  if (!type || !position)
    return {};
  int64_t rank = type.getRank();
  if (!shape) {
    Value sizes;
    if (!type.hasStaticShape())
      sizes = callHost(b, "sequence_shape", {tensorType({rank}, b.int64())}, {sequence, position}, {rank})[0];
    shape = readShape(n, b, type, sizes);
  }
  llvm::SmallVector<Expr> numbers = {int64_t(runtimeDType(type.getElementType())), rank};
  llvm::append_range(numbers, *shape);
  return callHost(b, "sequence_at", {tensorType(*shape, type.getElementType())}, {sequence, position}, numbers)[0];
}

Value kiln::import::onnx::concatOf(Node &n, TensorBuilder &b, Value sequence, int64_t axis, bool isNew) {
  mlir::RankedTensorType type = rankedTensor(n, b, sequence, /*added=*/isNew);
  if (!type)
    return {};
  int64_t rank = type.getRank(), all = rank + isNew;
  std::optional<int64_t> at = b.normalizeAxis(axis, all);
  if (!at)
    return {};
  Value sizes = callHost(b, "sequence_concat_shape", {tensorType({all}, b.int64())}, {sequence},
                         {int64_t(runtimeDType(type.getElementType())), rank, *at, int64_t(isNew)})[0];
  auto known = llvm::to_vector(type.getShape());
  if (isNew)
    known.insert(known.begin() + *at, mlir::ShapedType::kDynamic);
  known[*at] = mlir::ShapedType::kDynamic;
  Shape shape = readShape(n, b, mlir::RankedTensorType::get(known, type.getElementType()), sizes);
  if (!b.ok())
    return {};
  TensorBuilder::Sizes dims = shape;
  return callHost(b, "sequence_concat", {tensorType(shape, type.getElementType())}, {sequence},
                  {view::product(dims.take_front(*at)), view::product(dims.drop_front(*at))})[0];
}

/// The size of every part, if all have one that is known: one given for all, none smaller, or a list of one
/// number.
static int64_t sizeOfParts(TensorBuilder &b, Value sizes) {
  auto all = sizes.getDefiningOp<graph::ConstOp>();
  auto size = all ? llvm::dyn_cast<mlir::IntegerAttr>(all.getValue()) : mlir::IntegerAttr();
  bool isExact = size && (b.rank(sizes) == 1 || size.getInt() == 1);
  return isExact && size.getInt() >= 0 ? size.getInt() : mlir::ShapedType::kDynamic;
}

Value kiln::import::onnx::splitOf(TensorBuilder &b, Value x, Value sizes, int64_t axis, bool keepsAxis) {
  if (!x || !sizes)
    return {};
  llvm::SmallVector<int64_t> known;
  for (auto [index, size] : llvm::enumerate(b.shape(x)))
    if (int64_t(index) != axis)
      known.push_back(size.isConst() ? size.constant() : mlir::ShapedType::kDynamic);
    else if (keepsAxis)
      known.push_back(sizeOfParts(b, sizes));
  Expr count = b.rank(sizes) ? b.dim(sizes, 0) : Expr(-1);
  llvm::SmallVector<Expr> numbers = {axis, count, int64_t(keepsAxis)};
  llvm::append_range(numbers, numbersOf(b, x));
  return sequenceFrom(b, "sequence_split", mlir::RankedTensorType::get(known, b.element(x)), {x, sizes}, numbers);
}

Value kiln::import::onnx::hasElement(TensorBuilder &b, Value optional) {
  return optional ? b.notEqual(asContainer(b, optional, b.int64()), 0) : Value();
}

Value kiln::import::onnx::elementOf(Node &n, TensorBuilder &b, Value optional) {
  if (!optional)
    return {};
  Type held = llvm::cast<OptionalType>(b.element(optional)).getHeld();
  Value there = callHost(b, "optional_get", {tensorType({}, SequenceType::get(heldTensor(held)))}, {optional}, {})[0];
  return llvm::isa<SequenceType>(held) ? there : tensorAt(n, b, there, b.constant(0, b.int64()));
}
