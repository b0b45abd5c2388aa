// How a kernel is walked depends on its sizes, on which of them are open, on how each operand moves along each axis and
// on what else the kernel computes. Models are drawn such that all of these meet: a core operator of a random kind and
// shape, with movements and element-wise operators before and after it, which the schedule fuses into its kernel.
#include "RandomModels.h"

#include "import/CommonSizes.h"
#include "import/Import.h"
#include "import/Symbols.h"
#include "import/TensorBuilder.h"
#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::test;
using import::Expr;
using import::Shape;
using import::TensorBuilder;
using llvm::SmallVector;
using mlir::Type;
using mlir::Value;

/// Sizes as models have them, and some that no vector divides.
static constexpr int64_t kSizes[] = {1,   2,   3,   4,   5,   6,   7,   8,   10,  12,   14,   16,   20,   24,   28,
                                     31,  32,  40,  48,  49,  56,  64,  77,  80,  96,   100,  112,  127,  128,  160,
                                     196, 224, 240, 256, 300, 384, 400, 512, 768, 1000, 1024, 3000, 5632, 8000, 60000};
/// The value of an open size where elements are counted, and how many a tensor has at most.
static constexpr int64_t kOpenSize = 48, kMostElements = int64_t(1) << 26;

namespace {

class Maker {
public:
  Maker(mlir::MLIRContext &context, std::mt19937_64 &random)
      : context_(context), random_(random), builder_(&context), location_(builder_.getUnknownLoc()),
        make_(builder_, location_, commonSizes_) {}

  RandomModel model();

private:
  int64_t in(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool chance(int percent) { return in(1, 100) <= percent; }
  template <typename T> T oneOf(std::initializer_list<T> values) {
    return *(values.begin() + in(0, values.size() - 1));
  }

  Expr symbol();
  int64_t fixedSize(int64_t most) {
    int64_t size = 0;
    do
      size = chance(85) ? kSizes[in(0, std::size(kSizes) - 1)] : in(1, 70);
    while (size > most);
    return size;
  }
  /// A size that may be open.
  Expr size(int64_t most = 60000) { return chance(openness_) ? symbol() : Expr(fixedSize(most)); }
  Shape sizes(int64_t rank);
  static int64_t elements(llvm::ArrayRef<Expr> shape);

  Type floatType() {
    return chance(75) ? Type(builder_.getF32Type())
                      : oneOf<Type>({builder_.getF16Type(), builder_.getBF16Type(), builder_.getF64Type()});
  }
  Value input(llvm::ArrayRef<Expr> shape, Type element);
  Value weight(llvm::ArrayRef<int64_t> shape, Type element);
  /// A weight, or an input of the same shape.
  Value operand(llvm::ArrayRef<int64_t> shape, Type element) {
    return chance(80) ? weight(shape, element)
                      : input(llvm::map_to_vector(shape, [](int64_t n) { return Expr(n); }), element);
  }

  Value elementwise(Value x);
  Value moved(Value x);
  Value around(Value x);
  Value product();
  Value attention();
  Value window();
  Value rows();
  Value reduction();
  Value gathered();
  Value plain();

  mlir::MLIRContext &context_;
  std::mt19937_64 &random_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  import::ImportOptions options_;
  import::Symbols named_{options_};
  import::CommonSizes commonSizes_{named_};
  TensorBuilder make_;
  mlir::func::FuncOp function_;
  SmallVector<Expr> symbols_;
  SmallVector<mlir::Attribute> bounds_, names_;
  int openness_ = 0, inputs_ = 0, weights_ = 0;
  std::string text_;
};

} // namespace

Expr Maker::symbol() {
  if (!symbols_.empty() && chance(35))
    return symbols_[in(0, int64_t(symbols_.size()) - 1)];
  std::string name = std::string(1, char('n' + symbols_.size()));
  auto [low, high] = oneOf<std::pair<int64_t, int64_t>>(
      {{0, INT32_MAX}, {0, INT32_MAX}, {1, INT32_MAX}, {1, 64}, {1, 4096}, {0, 8}, {16, 1024}, {2, 3}});
  bounds_.push_back(SymbolAttr::get(&context_, name, low, high, std::clamp<int64_t>(1, low, high)));
  symbols_.push_back(Expr::variable(name, low, high));
  return symbols_.back();
}

int64_t Maker::elements(llvm::ArrayRef<Expr> shape) {
  int64_t count = 1;
  for (Expr size : shape)
    count *= size.isConst() ? size.constant() : kOpenSize;
  return count;
}

Shape Maker::sizes(int64_t rank) {
  Shape shape;
  do {
    shape.clear();
    for (int64_t i = 0; i < rank; ++i)
      shape.push_back(size());
  } while (elements(shape) > kMostElements);
  return shape;
}

Value Maker::input(llvm::ArrayRef<Expr> shape, Type element) {
  std::string name = "x" + std::to_string(inputs_++);
  names_.push_back(builder_.getDictionaryAttr(builder_.getNamedAttr(graph::kNameAttr, builder_.getStringAttr(name))));
  mlir::RankedTensorType type = tensorType(shape, element);
  text_ += " " + name + import::describe(shape);
  return function_.getBody().front().addArgument(type, location_);
}

Value Maker::weight(llvm::ArrayRef<int64_t> shape, Type element) {
  int64_t count = 1;
  Shape sizes;
  for (int64_t size : shape) {
    count *= size;
    sizes.push_back(size);
  }
  std::string name = "w" + std::to_string(weights_++);
  text_ += " " + name + import::describe(sizes);
  auto file = graph::FileAttr::get(&context_, name + ".bin", 0, count * int64_t(byteSize(element)), name);
  return graph::WeightOp::create(builder_, location_, tensorType(sizes, element), name, file);
}

Value Maker::elementwise(Value x) {
  Shape shape = TensorBuilder::shape(x);
  Type element = TensorBuilder::element(x);
  if (!TensorBuilder::isFloat(x))
    return make_.add(x, 1);
  switch (in(0, 7)) {
  case 0:
    return make_.relu(x);
  case 1:
    return make_.silu(x);
  case 2:
    return make_.exp(x);
  case 3: // a bias along any axis
    for (size_t axis = in(0, std::max<int64_t>(0, int64_t(shape.size()) - 1)), i = 0; i < shape.size(); ++i)
      if (i == axis && shape[i].isConst() && shape[i].constant() > 1) {
        SmallVector<int64_t> sizes(shape.size() - i, 1);
        sizes[0] = shape[i].constant();
        return make_.add(x, operand(sizes, element));
      }
    return make_.mul(x, x);
  case 4:
    return make_.add(x, input(shape, element));
  case 5:
    return make_.mul(x, 3);
  default:
    return make_.tanh(x);
  }
}

Value Maker::moved(Value x) {
  Shape shape = TensorBuilder::shape(x);
  int64_t rank = int64_t(shape.size());
  if (rank == 0)
    return x;
  int64_t axis = in(0, rank - 1);
  switch (in(0, 6)) {
  case 0:
  case 1: {
    SmallVector<int64_t> order = TensorBuilder::allAxes(x);
    std::shuffle(order.begin(), order.end(), random_);
    text_ += " permute";
    return make_.permute(x, order);
  }
  case 2: {
    text_ += " pad";
    Shape low(rank, 0), high(rank, 0);
    low[axis] = in(0, 3);
    high[axis] = in(0, 3);
    return make_.pad(x, low, high);
  }
  case 3:
    if (shape[axis].isConst() && shape[axis].constant() > 2) {
      text_ += " narrow";
      int64_t begin = in(0, shape[axis].constant() / 2);
      return make_.narrow(x, axis, begin, in(begin + 1, shape[axis].constant()));
    }
    return x;
  case 4:
    text_ += " stride";
    return make_.stride(x, axis, in(2, 3));
  case 5:
    text_ += " flatten";
    return make_.flatten(x, in(0, rank));
  default:
    text_ += " concat";
    return make_.concat({x, x}, axis);
  }
}

Value Maker::around(Value x) {
  for (int64_t count = oneOf({0, 0, 1, 1, 2}); count > 0; --count)
    x = chance(55) ? elementwise(x) : moved(x);
  return x;
}

Value Maker::product() {
  text_ += " product";
  Type element = floatType();
  Expr k = size(5632);
  int64_t batch = oneOf({0, 0, 0, 1, 2});
  Shape left = sizes(batch), right = chance(50) ? left : Shape();
  left.append({size(5632), k});
  right.append({k, size(5632)});
  if (elements(left) > kMostElements || elements(right) > kMostElements)
    return {};
  Value a = around(input(left, element)), b;
  bool areFixed = llvm::all_of(right, [](Expr size) { return size.isConst(); });
  if (areFixed && chance(70))
    b = weight(llvm::map_to_vector(right, [](Expr size) { return size.constant(); }), element);
  else
    b = input(right, element);
  if (chance(30)) { // the other way round in memory
    Shape turned(right.begin(), right.end());
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
    b = areFixed && chance(70) ? weight(llvm::map_to_vector(turned, [](Expr size) { return size.constant(); }), element)
                               : input(turned, element);
    b = make_.transpose(b, -1, -2);
  }
  if (chance(15)) { // of bytes
    Type byte = builder_.getIntegerType(8, oneOf({false, true}));
    a = make_.cast(make_.cast(a, byte), builder_.getI32Type());
    b = make_.cast(make_.cast(b, byte), builder_.getI32Type());
  }
  return make_.matmul(a, b);
}

Value Maker::attention() {
  text_ += " attention";
  Type element = floatType();
  Expr heads = size(16), queries = size(1024), keys = chance(60) ? queries : size(1024);
  int64_t depth = oneOf<int64_t>({8, 16, 32, 64, 80}), columns = chance(70) ? depth : oneOf<int64_t>({16, 64, 96});
  Value q = input({heads, queries, depth}, element), k = input({heads, keys, depth}, element);
  if (chance(30))
    q = make_.transpose(input({heads, depth, queries}, element), 1, 2);
  Value v = chance(30) ? make_.transpose(input({heads, columns, keys}, element), 1, 2)
                       : input({heads, keys, columns}, element);
  Value scores = make_.mul(make_.matmul(q, make_.transpose(k, 1, 2)), 3);
  if (chance(30))
    scores = make_.add(scores, input({queries, keys}, element));
  Value p = make_.softmax(scores, -1);
  if (chance(25))
    return make_.matmul(make_.transpose(v, 1, 2), make_.transpose(p, 1, 2));
  return make_.matmul(p, v);
}

Value Maker::window() {
  text_ += " window";
  Type element = floatType();
  int64_t rank = oneOf({1, 2, 2, 2, 3}), groups = 1, channels = fixedSize(1024), outputs = fixedSize(1024);
  import::Window window;
  Shape shape{size(64), channels};
  for (int64_t i = 0; i < rank; ++i) {
    shape.push_back(size(rank == 1 ? 3000 : rank == 2 ? 300 : 20));
    int64_t kernel = chance(5) && rank == 1 ? 127 : oneOf<int64_t>({1, 2, 3, 3, 3, 5, 7, rank == 1 ? 31 : 4});
    window.kernel.push_back(kernel);
    window.strides.push_back(oneOf({1, 1, 1, 2, 3}));
    window.dilations.push_back(chance(85) ? 1 : 2);
    int64_t pad = chance(70) ? (kernel - 1) / 2 : 0;
    window.padLow.push_back(pad);
    window.padHigh.push_back(pad);
  }
  if (elements(shape) > kMostElements)
    return {};
  Value x = around(input(shape, element));
  if (TensorBuilder::rank(x) != rank + 2)
    return {};
  switch (in(0, 6)) {
  case 0:
    return make_.maxPool(x, window);
  case 1:
    return make_.averagePool(x, window, chance(50));
  case 2:
  case 3: // each channel by itself
    groups = channels;
    outputs = channels * oneOf({1, 1, 2});
    break;
  case 4:
    groups = oneOf({2, 4, 8});
    if (channels % groups || outputs % groups)
      groups = 1;
    break;
  default:
    break;
  }
  SmallVector<int64_t> shapeOfWeight{outputs, channels / groups};
  shapeOfWeight.append(window.kernel);
  Value bias = chance(50) ? weight({outputs}, element) : Value();
  if (chance(12) && groups == 1) {
    std::swap(shapeOfWeight[0], shapeOfWeight[1]);
    return make_.convTranspose(x, weight(shapeOfWeight, element), bias, window, groups);
  }
  return make_.conv(x, operand(shapeOfWeight, element), bias, window, groups);
}

Value Maker::rows() {
  text_ += " rows";
  Value x = around(input(sizes(in(1, 4)), floatType()));
  int64_t axis = chance(70) ? -1 : in(0, std::max<int64_t>(0, TensorBuilder::rank(x) - 1));
  if (TensorBuilder::rank(x) < 1)
    return {};
  switch (in(0, 5)) {
  case 0:
    return make_.softmax(x, axis);
  case 1:
    return make_.logSoftmax(x, axis);
  case 2:
    return make_.layerNorm(x, {axis}, 1e-5, {}, {});
  case 3:
    return make_.rmsNorm(x, {axis}, 1e-5, {});
  case 4:
    return TensorBuilder::rank(x) > 2 ? make_.instanceNorm(x, {}, {}, 1e-5) : make_.softmax(x, axis);
  default:
    return make_.sub(x, make_.mean(x, {axis}, true));
  }
}

Value Maker::reduction() {
  text_ += " reduction";
  Value x = around(input(sizes(in(1, 4)), chance(80) ? floatType() : Type(builder_.getIntegerType(32))));
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < TensorBuilder::rank(x); ++axis)
    if (chance(45))
      axes.push_back(axis);
  if (axes.empty())
    return {};
  switch (in(0, 5)) {
  case 0:
    return make_.max(x, axes);
  case 1:
    return TensorBuilder::isFloat(x) ? make_.var(x, axes) : make_.min(x, axes);
  case 2:
    return make_.argMax(x, axes.front(), chance(50), builder_.getI64Type());
  case 3:
    return make_.cumsum(x, axes.front());
  case 4:
    return TensorBuilder::isFloat(x) ? make_.logSumExp(x, axes) : make_.sum(x, axes);
  default:
    return make_.sum(x, axes);
  }
}

Value Maker::gathered() {
  text_ += " gather";
  Shape shape = sizes(in(1, 3));
  Value x = chance(50) ? around(input(shape, floatType())) : input(shape, floatType());
  if (TensorBuilder::rank(x) == 0)
    return {};
  int64_t axis = in(0, TensorBuilder::rank(x) - 1);
  Shape rows = sizes(in(1, 2));
  Value y = make_.gather(x, input(rows, builder_.getI64Type()), axis);
  if (elements(TensorBuilder::shape(y)) > kMostElements)
    return {};
  return chance(30) ? make_.sum(y, {-1}) : y;
}

Value Maker::plain() {
  text_ += " plain";
  Value x = around(input(sizes(in(1, 5)), floatType()));
  if (TensorBuilder::rank(x) > 1 && chance(60)) {
    SmallVector<int64_t> order = TensorBuilder::allAxes(x);
    std::shuffle(order.begin(), order.end(), random_);
    x = make_.permute(x, order);
  }
  return chance(40) ? make_.add(x, input(TensorBuilder::shape(x), TensorBuilder::element(x))) : make_.exp(x);
}

RandomModel Maker::model() {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location_);
  builder_.setInsertionPointToEnd(module->getBody());
  function_ = mlir::func::FuncOp::create(builder_, location_, "main", builder_.getFunctionType({}, {}));
  builder_.setInsertionPointToStart(function_.addEntryBlock());
  commonSizes_.bindIn(function_.getBody().front());
  openness_ = oneOf({0, 15, 30, 50, 80});
  using Kind = Value (Maker::*)();
  constexpr Kind kinds[] = {&Maker::product,   &Maker::product,  &Maker::window,    &Maker::window,
                            &Maker::window,    &Maker::rows,     &Maker::reduction, &Maker::reduction,
                            &Maker::attention, &Maker::gathered, &Maker::plain};
  Value result = around((this->*kinds[in(0, std::size(kinds) - 1)])());
  if (llvm::Error error = make_.takeError()) {
    llvm::consumeError(std::move(error));
    return {};
  }
  if (!result || inputs_ == 0)
    return {};
  mlir::func::ReturnOp::create(builder_, location_, result);
  function_.setFunctionType(builder_.getFunctionType(function_.getBody().front().getArgumentTypes(), result.getType()));
  function_.setAllArgAttrs(names_);
  function_.setAllResultAttrs(mlir::Attribute(
      builder_.getDictionaryAttr(builder_.getNamedAttr(graph::kNameAttr, builder_.getStringAttr("y")))));
  (*module)->setAttr(graph::kSymbolsAttr, builder_.getArrayAttr(bounds_));
  return {std::move(module), text_};
}

RandomModel kiln::test::randomModel(mlir::MLIRContext &context, std::mt19937_64 &random) {
  return Maker(context, random).model();
}
