//===- TensorBuilder.h - Tensor functions, made of the graph's primitives ----===//
//
// Shared by all importers: numpy's tensor functions, written as graph ops at the builder's location. They decompose
// as tinygrad v0.9.2's tensors do, but keep the ALU table's accurate rows (EXP, LOG, TANH, ERF, FDIV …) whole. If
// such a formula would overflow or cancel, another one replaces it. A function that would change nothing returns its
// input.
//
// Errors are sticky. Shapes, dtypes or axes that do not fit are the model's fault, not a bug: the first such cause is
// kept, the function returns a null Value, and every function given a null Value returns null at once. So compositions
// need no checks between their steps; an importer looks at takeError() once per node and adds the file and the node's
// name.
//
// Axes may be negative: they count from the end. Sizes are expressions over symbols; two sizes agree if they are
// provably equal. Half-precision inputs are widened to float32 within reductions, products and normalisations, and
// narrowed again.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/CommonSizes.h"
#include "ir/graph/Graph.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Error.h"

#include <variant>

namespace kiln::import {

using view::Expr;
using view::Shape;

/// A tensor, or a number that takes the dtype and shape of the operation's tensors.
class Operand {
public:
  Operand(mlir::Value tensor) : held_(tensor) {}
  template <typename T>
    requires std::is_base_of_v<mlir::OpState, T>
  Operand(T op) : held_(op->getResult(0)) {}
  Operand(int number) : held_(int64_t(number)) {}
  Operand(int64_t number) : held_(number) {}
  Operand(double number) : held_(number) {}

  bool isNumber() const { return !std::holds_alternative<mlir::Value>(held_); }
  /// The tensor; null for a number.
  mlir::Value tensor() const { return isNumber() ? mlir::Value() : std::get<mlir::Value>(held_); }
  /// The number as an attribute of this dtype; null if the dtype cannot hold it (1.5 as an integer).
  mlir::TypedAttr number(mlir::Type element) const;
  std::string text() const;

private:
  std::variant<mlir::Value, int64_t, double> held_;
};

enum class PadMode { Constant, Reflect, Edge, Wrap };

/// Windows along the trailing (spatial) axes, one number per axis. Empty strides and dilations mean 1, empty pads 0. A
/// pad that depends on a size may turn out negative: it then removes elements that no window reaches.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  Shape padLow, padHigh;
  /// The last window of an axis may reach past the padded end, as long as it starts before the input's end.
  bool ceilMode = false;
};

/// One axis of a slice, as numpy's begin:end:step. nullopt: from the first, to the last.
struct Slice {
  std::optional<Expr> begin, end;
  int64_t step = 1;
};

/// How a cast to an 8-bit float or less treats numbers that it cannot hold; other dtypes have rules of their own.
struct NarrowRounding {
  enum Mode { Up, Down, Nearest };
  /// A number that is too large becomes the largest one, else infinity or NaN.
  bool saturates = true;
  /// For float8_e8m0fnu; the others round halves to even.
  Mode mode = Up;
};

class TensorBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Axes = llvm::ArrayRef<int64_t>;
  using Sizes = llvm::ArrayRef<Expr>;

  TensorBuilder(mlir::OpBuilder &builder, mlir::Location location, CommonSizes &sizes)
      : builder_(builder), location_(location), sizes_(sizes) {}

  mlir::OpBuilder &builder() { return builder_; }
  mlir::Location location() const { return location_; }
  /// Every op made from here on carries this location.
  void setLocation(mlir::Location location) { location_ = location; }

  // Errors

  /// Keeps the cause, unless an earlier one is kept, and returns null.
  Value fail(const llvm::Twine &cause, const llvm::Twine &remedy = "");
  /// Keeps an error made elsewhere, as fail does.
  Value fail(llvm::Error error);
  bool ok() const { return cause_.empty(); }
  /// If the kept cause is that two sizes are not provably equal: those.
  std::optional<std::pair<Expr, Expr>> differing() const { return differing_; }
  /// The first failure since the last call, or success; the builder is ready for the next node.
  llvm::Error takeError();

  /// The run ends with this message if the condition is 0; fails if it is known to be.
  bool check(Expr condition, const llvm::Twine &message);
  /// Takes two sizes for equal, which the run checks, for an operation that "broadcast"s or "concatenate"s them; false
  /// if they cannot be equal, or if a bound of a symbol would make them so (limitToEqual).
  bool takeForEqual(Expr one, Expr other, llvm::StringRef what);

  // Properties of a tensor. A null Value is a tensor of rank 0 and of null dtype.

  static Type element(Value x);
  static Shape shape(Value x) { return x ? shapeOf(x) : Shape(); }
  static int64_t rank(Value x) { return shape(x).size(); }
  /// The size of one axis; 1 if there is no such axis.
  static Expr dim(Value x, int64_t axis);
  static bool isFloat(Value x);
  /// Of 8 to 64 bits.
  static bool isInteger(Value x);
  static bool isBool(Value x);
  Type boolType() { return builder_.getI1Type(); }
  Type int32() { return builder_.getI32Type(); }
  Type int64() { return builder_.getI64Type(); }
  Type float32() { return builder_.getF32Type(); }
  /// The dtype of sums of this dtype: float32 for half precision, (u)int32 for narrower integers and bool.
  static Type accumulator(Type element);
  /// A function of x that is computed in float32 if x is of half precision.
  Value roundedOnce(Value x, llvm::function_ref<Value(Value)> function) {
    return narrowLike(function(widen(x)), element(x));
  }
  /// The axis counted from the front, for a tensor of `rank` axes; fails when out of range.
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// The axes counted from the front, ascending; fails when one is out of range or named twice.
  std::optional<llvm::SmallVector<int64_t>> normalizeAxes(Axes axes, int64_t rank);
  static llvm::SmallVector<int64_t> allAxes(Value x);

  // Sources

  Value constant(Operand number, Type element, Sizes shape = {});
  Value constant(mlir::TypedAttr number, Sizes shape = {});
  /// A constant of x's dtype and shape.
  Value constantLike(Value x, Operand number);
  Value weight(llvm::StringRef name, mlir::DenseElementsAttr data);
  /// `size` as an int64 scalar.
  Value size(Expr size);
  /// 0, 1 … count-1 in an integer dtype.
  Value arange(Expr count, Type element);

  // Element-wise arithmetic. Operands broadcast as numpy's do and must have one dtype; at least one is a tensor.

  /// Any row of the table except CAST, BITCAST and WHERE.
  Value alu(Alu kind, llvm::ArrayRef<Operand> operands);
  /// Narrow dtypes (ir/base/NarrowDType.h) are cast, moved and chosen from; nothing is computed with them.
  Value cast(Value x, Type element, NarrowRounding rounding = {});
  /// The codes of a narrow tensor, as bytes, and back; any other tensor as it is.
  Value codes(Value x);
  Value fromCodes(Value x, Type element);
  /// Codes of a dtype of 2, 4 or 6 bits that follow each other in bytes, from the lowest bit up.
  Value unpackCodes(Value packed, Type element, Sizes shape);
  Value bitcast(Value x, Type element);
  Value add(Operand a, Operand b) { return alu(Alu::ADD, {a, b}); }
  Value sub(Operand a, Operand b);
  Value mul(Operand a, Operand b) { return alu(Alu::MUL, {a, b}); }
  /// Floats: the quotient. Integers: truncated towards 0.
  Value div(Operand a, Operand b);
  Value floorDiv(Operand a, Operand b) { return alu(Alu::FLOORDIV, {a, b}); }
  /// The remainder with the divisor's sign (Python's %); truncMod has the dividend's (C's fmod).
  Value floorMod(Operand a, Operand b) { return alu(Alu::FLOORMOD, {a, b}); }
  Value truncMod(Operand a, Operand b) { return alu(Alu::MOD, {a, b}); }
  Value pow(Operand a, Operand b);
  Value maximum(Operand a, Operand b) { return alu(Alu::MAX, {a, b}); }
  Value minimum(Operand a, Operand b) { return alu(Alu::MIN, {a, b}); }
  Value bitAnd(Operand a, Operand b) { return alu(Alu::AND, {a, b}); }
  Value bitOr(Operand a, Operand b) { return alu(Alu::OR, {a, b}); }
  Value bitXor(Operand a, Operand b) { return alu(Alu::XOR, {a, b}); }
  Value bitNot(Value x);
  Value shiftLeft(Operand a, Operand b) { return alu(Alu::SHL, {a, b}); }
  Value shiftRight(Operand a, Operand b) { return alu(Alu::SHR, {a, b}); }
  Value neg(Value x) { return alu(Alu::NEG, {x}); }
  Value abs(Value x);
  /// -1, 0 or 1; NaN for NaN.
  Value sign(Value x);
  Value square(Value x) { return mul(x, x); }
  Value recip(Value x) { return floatAlu(Alu::RECIP, x); }
  Value sqrt(Value x) { return floatAlu(Alu::SQRT, x); }
  Value rsqrt(Value x) { return recip(sqrt(x)); }
  Value exp(Value x) { return floatAlu(Alu::EXP, x); }
  Value exp2(Value x) { return floatAlu(Alu::EXP2, x); }
  Value log(Value x) { return floatAlu(Alu::LOG, x); }
  Value log2(Value x) { return floatAlu(Alu::LOG2, x); }
  /// e^x − 1 for numbers up to 0, whose first digits are right also near 0.
  Value expm1(Value x);
  /// ln(1 + x), with the same accuracy; for −0 it is 0.
  Value log1p(Value x);
  Value sin(Value x) { return floatAlu(Alu::SIN, x); }
  Value cos(Value x) { return floatAlu(Alu::COS, x); }
  Value tanh(Value x) { return floatAlu(Alu::TANH, x); }
  Value tan(Value x) { return div(sin(x), cos(x)); }
  Value asin(Value x);
  Value acos(Value x);
  Value atan(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value erf(Value x) { return floatAlu(Alu::ERF, x); }
  /// Integers are already rounded: these return them as they are.
  Value floor(Value x) { return round(Alu::FLOOR, x); }
  Value ceil(Value x) { return round(Alu::CEIL, x); }
  Value roundHalfEven(Value x) { return round(Alu::ROUND, x); }
  Value trunc(Value x) { return round(Alu::TRUNC, x); }
  /// A nullopt bound is none.
  Value clip(Value x, std::optional<Operand> low, std::optional<Operand> high);

  // Comparison and logic: results are bool; a NaN compares unequal to and neither less nor greater than anything.

  Value less(Operand a, Operand b) { return alu(Alu::CMPLT, {a, b}); }
  Value lessEqual(Operand a, Operand b) { return greaterEqual(b, a); }
  Value greater(Operand a, Operand b) { return alu(Alu::CMPLT, {b, a}); }
  Value greaterEqual(Operand a, Operand b);
  Value equal(Operand a, Operand b) { return alu(Alu::CMPEQ, {a, b}); }
  Value notEqual(Operand a, Operand b) { return alu(Alu::CMPNE, {a, b}); }
  Value logicalNot(Value x);
  Value isNaN(Value x);
  Value isInf(Value x, bool negative = true, bool positive = true);
  /// a if `condition` (bool) holds, else b; one of a and b is a tensor.
  Value where(Value condition, Operand a, Operand b);

  // Activations, of floats

  Value relu(Value x) { return maximum(x, 0); }
  Value leakyRelu(Value x, double slope = 0.01);
  Value elu(Value x, double alpha = 1);
  Value selu(Value x, double alpha = 1.67326319217681884765625, double gamma = 1.05070102214813232421875);
  Value celu(Value x, double alpha = 1);
  Value sigmoid(Value x);
  Value hardSigmoid(Value x, double alpha = 0.2, double beta = 0.5);
  Value hardSwish(Value x);
  Value silu(Value x) { return mul(x, sigmoid(x)); }
  /// x/2 · (1 + erf(x/√2)).
  Value gelu(Value x);
  /// The approximation by tanh.
  Value geluTanh(Value x);
  Value softplus(Value x);
  Value softsign(Value x);
  /// x · tanh(softplus(x)).
  Value mish(Value x);

  // Movement

  /// One size may be -1: it follows from the others. If the numbers of elements are not provably equal but may be, the
  /// run checks that they are.
  Value reshape(Value x, Sizes shape);
  /// x with the size of an axis written as another that it is assumed to equal.
  Value withSize(Value x, int64_t axis, Expr size);
  /// The same after takeForEqual; null, with no cause noted, if the axis cannot have that size.
  Value takeSize(Value x, int64_t axis, Expr size, llvm::StringRef what);
  Value permute(Value x, Axes order);
  Value transpose(Value x, int64_t a, int64_t b);
  /// numpy's moveaxis: the axis moves, the others keep their order.
  Value moveAxis(Value x, int64_t from, int64_t to);
  /// numpy's broadcast_to: axes are added in front, size-1 axes repeated. A size of 1 in `shape` keeps x's own. Where
  /// only a run knows whether a size is 1 or the new one, that decides, and ends where it is neither.
  Value expand(Value x, Sizes shape);
  /// Brings all to their common shape.
  bool broadcast(llvm::MutableArrayRef<Value> tensors);
  /// The common shape of these, to which each then expands; fails if two sizes can neither agree nor be 1.
  std::optional<Shape> broadcastShape(llvm::ArrayRef<Shape> shapes);
  Value squeeze(Value x, Axes axes);
  /// Axes of size 1 at these places of the result.
  Value unsqueeze(Value x, Axes axes);
  /// Axes before `axis` become one, and those from it on.
  Value flatten(Value x, int64_t axis);
  Value flip(Value x, Axes axes);
  /// Elements [begin, end) of each axis.
  Value shrink(Value x, Sizes begin, Sizes end);
  /// Amounts before and after each axis; a negative one takes elements away. The fill is 0 (false) unless given.
  Value pad(Value x, Sizes low, Sizes high, std::optional<Operand> fill = std::nullopt);
  /// Reflect (without the edge), edge and wrap repeat existing elements; amounts are constants.
  Value pad(Value x, Axes low, Axes high, PadMode mode);
  /// The same for amounts and sizes known only at run time: each element is read at a computed place.
  Value padByPlace(Value x, Sizes low, Sizes high, PadMode mode);
  /// One Slice per axis; missing trailing ones take the whole axis.
  Value slice(Value x, llvm::ArrayRef<Slice> slices);
  Value slice(Value x, int64_t axis, Slice slice);
  /// x[..., ::step, ...] along one axis, step > 0.
  Value stride(Value x, int64_t axis, int64_t step);
  /// Elements [begin, end) of one axis.
  Value narrow(Value x, int64_t axis, Expr begin, Expr end);
  Value concat(llvm::ArrayRef<Value> tensors, int64_t axis);
  Value stack(llvm::ArrayRef<Value> tensors, int64_t axis);
  /// Parts of these sizes along an axis; empty after a failure.
  llvm::SmallVector<Value> split(Value x, int64_t axis, Sizes sizes);
  /// numpy's tile.
  Value tile(Value x, Sizes counts);
  /// The same tensor, in memory of its own.
  Value contiguous(Value x);
  /// Every element `count` times in a row along an axis.
  Value repeatInterleave(Value x, int64_t axis, Expr count);
  /// `count` zeros between neighbours along an axis.
  Value interleaveZeros(Value x, int64_t axis, int64_t count);

  // Reductions

  /// The bare op, without change of dtype; axes of size 1 are skipped.
  Value reduce(Alu kind, Value x, Axes axes, bool keepDims);
  /// Integers narrower than 32 bits and bool give (u)int32.
  Value sum(Value x, Axes axes, bool keepDims = false) { return accumulate(Alu::ADD, x, axes, keepDims); }
  Value prod(Value x, Axes axes, bool keepDims = false) { return accumulate(Alu::MUL, x, axes, keepDims); }
  Value max(Value x, Axes axes, bool keepDims = false) { return reduce(Alu::MAX, x, axes, keepDims); }
  Value min(Value x, Axes axes, bool keepDims = false) { return reduce(Alu::MIN, x, axes, keepDims); }
  /// For integers: float32.
  Value mean(Value x, Axes axes, bool keepDims = false);
  Value var(Value x, Axes axes, bool keepDims = false, int64_t correction = 1);
  Value stddev(Value x, Axes axes, bool keepDims = false, int64_t correction = 1);
  Value sumSquares(Value x, Axes axes, bool keepDims = false);
  Value l1(Value x, Axes axes, bool keepDims = false) { return sum(abs(x), axes, keepDims); }
  Value l2(Value x, Axes axes, bool keepDims = false);
  Value logSumExp(Value x, Axes axes, bool keepDims = false);
  /// The index of the first (or last) largest element, the first NaN before all, as `index` (an integer dtype).
  Value argMax(Value x, int64_t axis, bool keepDims, Type index, bool last = false);
  Value argMin(Value x, int64_t axis, bool keepDims, Type index, bool last = false);
  /// Sums (ADD) or products (MUL) of all up to each element of an axis, in x's dtype; `exclusive`: without the element.
  Value running(Alu kind, Value x, int64_t axis, bool exclusive = false, bool reverse = false);
  /// Running sums in x's dtype, int32 of booleans.
  Value cumsum(Value x, int64_t axis, bool exclusive = false, bool reverse = false);

  // Products

  /// numpy's matmul: 1-d operands, broadcast batches. Integers narrower than 32 bits give (u)int32.
  Value matmul(Value a, Value b);
  /// x [n, g·cin, spatial…] with w [g·cout, cin, kernel…]; window.kernel is taken from w. `bias` [g·cout] may be null.
  Value conv(Value x, Value w, Value bias, Window window, int64_t groups = 1);
  /// x [n, g·cin, spatial…] with w [g·cin, cout, kernel…]; pads are cut off the full result, and `outputPad` zeros are
  /// appended.
  Value convTranspose(Value x, Value w, Value bias, Window window, int64_t groups = 1, Axes outputPad = {});

  // Windows and pooling over the trailing window.kernel.size() axes

  /// [..., spatial…] to [..., windows…, kernel…] of the unpadded input.
  Value windows(Value x, Sizes kernel, Axes strides, Axes dilations);
  Value maxPool(Value x, const Window &window);
  /// The place in x, flattened, of each window's first largest element, as int64.
  Value maxPoolIndices(Value x, const Window &window);
  /// `countPadding`: the padding counts as zeros of the mean.
  Value averagePool(Value x, const Window &window, bool countPadding);

  // Normalisation

  Value softmax(Value x, int64_t axis);
  Value logSoftmax(Value x, int64_t axis);
  /// (x − mean) / √(variance + epsilon) over the axes; scale and bias broadcast against x and may be null.
  Value layerNorm(Value x, Axes axes, double epsilon, Value scale, Value bias);
  Value rmsNorm(Value x, Axes axes, double epsilon, Value scale);
  /// Per channel (axis 1) by stored statistics, each [c].
  Value batchNorm(Value x, Value scale, Value bias, Value mean, Value variance, double epsilon);
  /// Over the spatial axes; scale and bias are [c] or null.
  Value instanceNorm(Value x, Value scale, Value bias, double epsilon);
  /// Over each of `groups` equal parts of the channels; scale and bias are [c] or null.
  Value groupNorm(Value x, int64_t groups, Value scale, Value bias, double epsilon);
  /// A per-channel tensor [c] as [c, 1…], to broadcast against x [n, c, spatial…].
  Value perChannel(Value x, Value channel);

  // Indexing

  /// result[a…, i…, b…] = x[a…, indices[i…], b…]; negative indices count from the end.
  Value gather(Value x, Value indices, int64_t axis);
  /// The same at indices that the model gives, which are checked.
  Value take(Value x, Value indices, int64_t axis);
  /// If the import was asked for it, the run ends where an index is not one of an axis of this size, counted from its
  /// front or its end.
  void checkIndices(Value indices, Expr size);
  /// result[i…] = x[i… with indices[i…] at `axis`]; indices has x's rank.
  Value gatherElements(Value x, Value indices, int64_t axis);
  /// result[b…, i…, r…] = x[b…, indices[b…, i…], r…] with `batch` axes b…: the last axis of indices holds places along
  /// the axes of x after those.
  Value gatherND(Value x, Value indices, int64_t batch);
  /// A new axis of size `depth` at `axis` of the result, `on` at the index and `off` elsewhere, in `element`.
  Value oneHot(Value indices, Expr depth, int64_t axis, Operand on, Operand off, Type element);
  /// bool [rows, columns], true where column − row ≥ diagonal.
  Value triangle(Expr rows, Expr columns, Expr diagonal);
  /// The lower (upper) triangle of the last two axes, zeros elsewhere.
  Value tril(Value x, Expr diagonal = 0);
  Value triu(Value x, Expr diagonal = 0);

private:
  Value castNarrow(Value x, Type element, NarrowRounding rounding);
  Value floatAlu(Alu kind, Value x);
  Value round(Alu kind, Value x);
  Value accumulate(Alu kind, Value x, Axes axes, bool keepDims);
  Value argExtreme(Alu kind, Value x, int64_t axis, bool keepDims, Type index, bool last);
  /// x in the dtype that its sums accumulate in.
  Value widen(Value x) { return x ? cast(x, accumulator(element(x))) : x; }
  /// Back to half precision, if x was of it.
  Value narrowLike(Value x, Type element);
  Value normalize(Value x, Axes axes, double epsilon);
  /// 1/count in a float dtype.
  Operand reciprocal(Expr count, Type element);
  /// The product of x's sizes along the axes, which must be in range.
  std::optional<Expr> countAlong(Value x, Axes axes);
  /// The window with defaults filled in, if it suits `spatial` axes.
  std::optional<Window> complete(Window window, int64_t spatial);
  struct Pool {
    Window window;
    Shape low, high, extra; ///< pads of all axes of the tensor; `extra`: those that ceil mode adds after `high`
  };
  /// A pool over the last axes of x; nullopt if it does not suit them.
  std::optional<Pool> poolOf(Value x, const Window &window);
  /// The windows of a pool, `fill` around x.
  Value poolWindows(Value x, const Window &window, mlir::TypedAttr fill);
  /// The padding that ceil mode adds after the explicit padding of one axis.
  static Expr ceilPadding(const Window &window, size_t axis, Expr size);
  /// Sizes are not negative and the number of elements is below 2^63; fails otherwise.
  bool fits(Sizes shape);
  /// The size of both when they are broadcast; nullopt where they cannot be.
  std::optional<Expr> commonSize(Expr a, Expr b);
  /// What an axis of size `from` is called to be expanded to `to`: `to` where it does not repeat, 1 where it does, and
  /// an expression that is the one or the other where only a run knows. nullopt where it is neither.
  std::optional<Expr> expandedFrom(Expr from, Expr to);
  llvm::StringRef node() const;

  void noteDiffering(Expr a, Expr b);

  mlir::OpBuilder &builder_;
  mlir::Location location_;
  CommonSizes &sizes_;
  std::string cause_;
  std::optional<std::pair<Expr, Expr>> differing_;
};

/// "[2, batch, 3]", for errors.
std::string describe(llvm::ArrayRef<Expr> shape);
/// "[2, batch] of int64".
std::string describe(mlir::Value tensor);
/// The same as the model writes it: symbols without their bounds.
std::string written(llvm::ArrayRef<Expr> shape);

} // namespace kiln::import
