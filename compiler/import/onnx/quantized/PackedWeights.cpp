//===- PackedWeights.cpp - ONNX Runtime's products with packed weights --------===//
//
// Language models have their weights in 2, 4 or 8 bits, packed in bytes, with a scale for each block along a row, and
// perhaps a zero point. They are dequantised where they are read, and the product is one of floats; where the model
// allows it, the other operand's blocks are rounded to bytes, and products within a block are of integers. In a program
// the weights stay packed. GPTQ gives each row an order of its own, in which blocks are not contiguous. Known weights
// are put back in order here, and the activations are read in the same order.
//
//===--------------------------------------------------------------------------===//
#include "import/onnx/quantized/PackedWeights.h"

#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Microsoft.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

Value kiln::import::onnx::unpackBits(TensorBuilder &b, Value packed, int64_t bits) {
  if (!packed || bits == 8)
    return packed;
  Shape sizes = b.shape(packed);
  Value shifts = b.mul(b.arange(8 / bits, b.element(packed)), bits);
  Value numbers = b.bitAnd(b.shiftRight(b.unsqueeze(packed, {-1}), shifts), (1 << bits) - 1);
  sizes.back() = sizes.back() * (8 / bits);
  return b.reshape(numbers, sizes);
}

Value kiln::import::onnx::spread(TensorBuilder &b, Value parameter, int64_t axis, int64_t block, Expr size) {
  return b.narrow(b.repeatInterleave(parameter, axis, block), axis, 0, size);
}

/// The elements of an input that is an initializer of the model, even if they stay in its file; null otherwise.
static mlir::DenseElementsAttr storedElements(Node &n, int index) {
  ModelFile &file = n.importer().file();
  mlir::MLIRContext *context = n.importer().builder().getContext();
  for (const ::onnx::TensorProto &tensor : file.model().graph().initializer()) {
    if (tensor.name() != n.proto().input(index))
      continue;
    llvm::Expected<Constant> given = file.constant(context, tensor), whole = file.constant(context, tensor, INT64_MAX);
    bool isThis = given && whole && given->data == n.tensor(index).data; // and no other of that name
    llvm::consumeError(given.takeError());
    llvm::consumeError(whole.takeError());
    return isThis ? llvm::dyn_cast<mlir::DenseElementsAttr>(whole->data) : mlir::DenseElementsAttr();
  }
  return {};
}

/// The columns of each block, block after block; `groups` gives for each column the number of its block. Empty if the
/// blocks are not as large as they are elsewhere.
static llvm::SmallVector<int64_t> columnsByBlock(mlir::DenseElementsAttr groups, int64_t block) {
  llvm::SmallVector<int64_t> group;
  for (const llvm::APInt &number : groups.getValues<llvm::APInt>())
    group.push_back(number.getSExtValue());
  llvm::SmallVector<int64_t> columns = llvm::to_vector(llvm::seq<int64_t>(0, group.size()));
  llvm::sort(columns, [&](int64_t i, int64_t j) { return std::pair(group[i], i) < std::pair(group[j], j); });
  for (auto [place, column] : llvm::enumerate(columns))
    if (group[column] != int64_t(place) / block)
      return {};
  return columns;
}

/// Numbers of some bits along the last axis, which fill whole bytes, as uint8: the opposite of unpackBits.
static Value packBits(TensorBuilder &b, Value numbers, int64_t bits) {
  if (!numbers || bits == 8)
    return numbers;
  Shape sizes = b.shape(numbers);
  sizes.back() = view::floorDiv(sizes.back(), 8 / bits);
  sizes.push_back(8 / bits);
  Value shifts = b.mul(b.arange(8 / bits, b.element(numbers)), bits);
  return b.reduce(Alu::ADD, b.shiftLeft(b.reshape(numbers, sizes), shifts), {int64_t(sizes.size()) - 1},
                  /*keepDims=*/false);
}

/// Rows x [rows, elements] of whole blocks, each rounded to 8 bits by a scale of its own: the largest number over 127.
static Value rounded(TensorBuilder &b, Value x, int64_t block) {
  Shape shape = b.shape(x);
  x = b.reshape(x, {shape[0], view::floorDiv(shape[1], block), block});
  Value largest = b.max(b.abs(x), {2}, /*keepDims=*/true);
  Value inverse = b.where(b.equal(largest, 0), 0, b.div(127, largest));
  Value bytes = b.contiguous(b.cast(b.roundHalfEven(b.mul(x, inverse)), b.builder().getIntegerType(8)));
  return b.reshape(b.mul(b.cast(bytes, b.float32()), b.div(largest, 127)), shape);
}

/// A · Wᵀ + bias, W [columns, depth] in blocks along its rows, each with a scale and perhaps a zero point. The block of
/// a column may be an input: if that and W are known, W's columns are moved, and A's at run time.
static Tensor matmulNBits(Node &n, TensorBuilder &b) {
  Value x = n.input(0), packed = n.input(1), scales = n.input(2), zeros = n.optionalInput(3), bias = n.optionalInput(5);
  int64_t depth = n.integer("K"), columns = n.integer("N"), block = n.integer("block_size"),
          bits = n.integer("bits", 4);
  bool rounds = n.integer("accuracy_level", 0) == 4; // the rows, to 8 bits
  if (n.integer("weight_prepacked", 0) != 0)
    return n.fail("attribute 'weight_prepacked' is set", "store the weights as the operator defines them");
  Value groups = n.optionalInput(4);
  if (!x || !packed || !scales || !b.ok())
    return {};
  bool known = llvm::is_contained({2, 4, 8}, bits) && block >= 1 && depth >= 1 && columns >= 1 &&
               std::max({block, depth, columns}) <= view::kMaxDim;
  if (!known || !b.element(packed).isUnsignedInteger(8))
    return n.fail("weights " + describe(b.shape(packed)) + " of " + dtypeName(b.element(packed)) + ", " + Twine(bits) +
                      " bits wide",
                  "they are uint8, of 2, 4 or 8 bits");
  int64_t blocks = llvm::divideCeil(depth, block), zeroBytes = llvm::divideCeil(blocks * bits, 8);
  int64_t packedBytes = llvm::divideCeil(blocks * block * bits, 8);
  if (!view::provablyEqual(view::product(b.shape(packed)), columns * packedBytes))
    return n.fail("B " + describe(b.shape(packed)) + " for N " + Twine(columns) + ", K " + Twine(depth) +
                      " and block_size " + Twine(block),
                  "its shape is " + describe(Shape{columns, blocks, Expr(int64_t(llvm::divideCeil(block * bits, 8)))}));
  packed = b.reshape(packed, {columns, packedBytes});
  if (groups) {
    groups = b.narrow(b.reshape(groups, {view::product(b.shape(groups))}), 0, 0, depth);
    mlir::DenseElementsAttr stored = n.tensor(1).data ? storedElements(n, 4) : mlir::DenseElementsAttr();
    llvm::SmallVector<int64_t> order;
    if (stored && stored.getNumElements() == depth && packedBytes * 8 == depth * bits)
      order = columnsByBlock(stored, block);
    if (!order.empty()) {
      auto type = mlir::RankedTensorType::get({depth}, b.int64());
      Value places = b.weight("order", mlir::DenseElementsAttr::get(type, llvm::ArrayRef(order)));
      packed = b.contiguous(packBits(b, b.gather(unpackBits(b, packed, bits), places, 1), bits));
      x = b.contiguous(b.gather(x, places, b.rank(x) - 1));
      groups = {};
    }
  }
  if (b.rank(x) == 0)
    return n.fail("A is a scalar", "it has an axis of " + Twine(depth) + " elements, and any before that");
  Value taken = b.takeSize(x, b.rank(x) - 1, depth, "multiply");
  if (!taken)
    return n.fail("A " + describe(b.shape(x)) + " has no rows of " + Twine(depth) + " elements, which K says");
  x = taken;
  scales = b.cast(b.reshape(scales, {columns, blocks}), b.float32());
  auto perColumn = [&](Value parameter) {
    return groups ? b.gather(parameter, groups, 1) : spread(b, parameter, 1, block, blocks * block);
  };
  // Whole blocks, filled up with zeros, unless columns have an order of their own.
  Value rows = b.flatten(b.cast(x, b.float32()), b.rank(x) - 1);
  Value weights = b.narrow(unpackBits(b, packed, bits), 1, 0, groups ? depth : blocks * block);
  if (!groups)
    rows = b.pad(rows, {0, 0}, {0, blocks * block - depth});
  if (rounds && !groups)
    rows = rounded(b, rows, block);
  Value zero;
  if (zeros && b.isFloat(zeros))
    zero = b.reshape(b.cast(zeros, b.float32()), {columns, blocks});
  else if (zeros)
    zero = b.cast(b.narrow(unpackBits(b, b.reshape(zeros, {columns, zeroBytes}), bits), 1, 0, blocks), b.float32());
  weights = b.cast(weights, b.float32());
  weights = zero ? b.sub(weights, perColumn(zero)) : b.sub(weights, int64_t(1) << (bits - 1));
  Value y = b.matmul(rows, b.transpose(b.mul(weights, perColumn(scales)), 0, 1));
  Shape shape = b.shape(x);
  shape.back() = columns;
  y = b.reshape(y, shape);
  return y ? b.cast(bias ? b.add(y, b.cast(bias, b.float32())) : y, b.element(x)) : Value();
}

/// A · Wᵀ, or A · W, for a W [columns, depth] whose elements are codes of 4 bits, the first in a byte's upper half,
/// with a scale for each block of the whole. A code means a number of one of two tables, those of bitsandbytes.
static Tensor matmulBnb4(Node &n, TensorBuilder &b) {
  static constexpr float kTables[2][16] = {
      {0, 0.005208333333f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f, 0, -0.005208333333f, -0.66666667f, -1,
       -0.33333333f, -0.5f, -0.16666667f, -0.25f},
      {-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
       -0.18477343022823334f, -0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f,
       0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1}};
  Value x = n.input(0), packed = n.input(1), scales = n.input(2);
  int64_t depth = n.integer("K"), columns = n.integer("N"), block = n.integer("block_size"),
          kind = n.integer("quant_type");
  bool turns = n.flag("transB", true);
  n.ignore({"training_mode"});
  if (!x || !packed || !scales || !b.ok())
    return {};
  if (std::min({block, depth, columns}) < 1 || std::max({block, depth, columns}) > view::kMaxDim || kind < 0 ||
      kind > 1 || !b.element(packed).isUnsignedInteger(8))
    return n.fail("weights " + describe(b.shape(packed)) + " of " + dtypeName(b.element(packed)) + " of quant_type " +
                      Twine(kind),
                  "they are uint8, and the type 0 or 1");
  auto tableType = mlir::RankedTensorType::get({16}, b.float32());
  Value table = b.weight(kind == 0 ? "fp4" : "nf4",
                         mlir::DenseElementsAttr::get(tableType, llvm::ArrayRef<float>(kTables[kind])));
  Expr count = Expr(depth) * columns;
  Value bytes = b.reshape(packed, {view::floorDiv(count + 1, 2), 1});
  Value codes = b.concat({b.shiftRight(bytes, 4), b.bitAnd(bytes, 15)}, 1);
  codes = b.narrow(b.reshape(codes, {view::floorDiv(count + 1, 2) * 2}), 0, 0, count);
  Value scale = spread(b, b.cast(b.flatten(scales, 0), b.float32()), 1, block, count);
  Value weights = b.mul(b.gather(table, b.cast(codes, b.int32()), 0), b.reshape(scale, {count}));
  weights = b.reshape(weights, {columns, depth});
  Value y = b.matmul(b.cast(x, b.float32()), turns ? b.transpose(weights, 0, 1) : weights);
  return b.cast(y, b.element(x));
}

/// Rows of a table in blocks along an axis, each with a scale and perhaps a zero point. They are chosen first, so that
/// the table stays as small as it is.
static Tensor gatherBlockQuantized(Node &n, TensorBuilder &b) {
  Value x = n.input(0), indices = n.input(1), scales = n.input(2), zeros = n.optionalInput(3);
  int64_t bits = n.integer("bits", 4), block = n.integer("block_size", 128);
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("gather_axis", 0), b.rank(x));
  std::optional<int64_t> along = b.normalizeAxis(n.integer("quantize_axis", 1), b.rank(x));
  if (!x || !indices || !scales || !axis || !along || !b.ok())
    return {};
  bool packs = b.element(x).isUnsignedInteger(8);
  if (*axis == *along || (packs && *axis == b.rank(x) - 1) || b.rank(scales) != b.rank(x))
    return n.fail("elements " + describe(b.shape(x)) + " chosen along axis " + Twine(*axis) + ", with scales " +
                      describe(b.shape(scales)) + " along axis " + Twine(*along),
                  "the axes differ, and the scales have as many");
  if (b.isFloat(x) || (packs && !llvm::is_contained({2, 4, 8}, bits)) || block < 1 || block > view::kMaxDim)
    return n.fail("a table of " + dtypeName(b.element(x)) + " of " + Twine(bits) + " bits in blocks of " + Twine(block),
                  "it is uint8 with numbers of 2, 4 or 8 bits, or of a dtype of 4 bits");
  b.checkIndices(indices, b.dim(x, *axis));
  // Codes are packed along the last axis, in each row of the zero points too.
  auto chosen = [&](Value table) { return b.gather(table, indices, *axis); };
  auto numbers = [&](Value table) {
    Value rows = chosen(table);
    return b.cast(packs ? unpackBits(b, rows, bits) : rows, b.float32());
  };
  int64_t place = *along > *axis ? *along + b.rank(indices) - 1 : *along;
  Value y = numbers(x), scale = chosen(scales);
  if (!y || !scale)
    return {};
  Expr size = b.dim(y, place);
  if (zeros)
    y = b.sub(y, spread(b, b.narrow(numbers(zeros), -1, 0, b.dim(scale, -1)), place, block, size));
  else if (packs)
    y = b.sub(y, int64_t(1) << (bits - 1));
  return b.cast(b.mul(y, spread(b, b.cast(scale, b.float32()), place, block, size)), b.element(scales));
}

void kiln::import::onnx::addPackedWeights(Registry &r) {
  r.add("com.microsoft", "GatherBlockQuantized", 1, gatherBlockQuantized);
  r.add("com.microsoft", "MatMulBnb4", 1, matmulBnb4);
  r.add("com.microsoft", "MatMulNBits", 1, matmulNBits);
}
