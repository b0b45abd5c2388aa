#include "RandomSizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::test;
using Kind = Step::Kind;

/// More elements than this make a case slow and find no more.
static constexpr int64_t kMostElements = 6000, kMostSize = 40;

static int64_t below(Random &random, int64_t count) { return int64_t(random() % uint64_t(count)); }
static int64_t from(Random &random, int64_t least, int64_t most) { return least + below(random, most - least + 1); }
static bool chance(Random &random, int percent) { return below(random, 100) < percent; }

int64_t test::product(llvm::ArrayRef<int64_t> numbers) {
  int64_t result = 1;
  for (int64_t number : numbers)
    result *= number;
  return result;
}

std::string Binding::print() const {
  auto list = [](const Numbers &numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += (text.empty() ? "" : ",") + std::to_string(number);
    return "[" + text + "]";
  };
  std::string text = list(shape);
  for (const Numbers &numbers : amounts)
    text += numbers.empty() ? "" : " " + list(numbers);
  return text;
}

//===----------------------------------------------------------------------===//
// Which nodes
//===----------------------------------------------------------------------===//

static bool isWindow(Kind kind) { return kind == Kind::MaxPool || kind == Kind::AveragePool || kind == Kind::Conv; }

static void drawWindow(Step &step, Random &random) {
  for (int64_t i = 0; i < step.rank - 2; ++i) {
    step.kernel.push_back(from(random, 1, 3));
    step.strides.push_back(from(random, 1, chance(random, 20) ? 4 : 2));
    step.dilations.push_back(chance(random, 20) ? 2 : 1);
  }
  for (int64_t i = 0; i < 2 * (step.rank - 2); ++i)
    step.pads.push_back(chance(random, 40) ? below(random, step.kernel[i % (step.rank - 2)]) : 0);
  step.flag = chance(random, 30);
}

static void drawFixed(Step &step, Random &random) {
  int64_t spatial = step.rank - 2;
  if (step.kind == Kind::Pad) {
    step.fixed.assign(2 * step.rank, 0);
    for (int64_t i = 2; i < step.rank; ++i)
      for (int64_t side : {int64_t(0), step.rank})
        step.fixed[side + i] = step.mode == "constant" ? from(random, -1, 3) : below(random, 3);
  } else if (step.kind == Kind::Slice) {
    for (int64_t i = 0; i < 2 * spatial; ++i) {
      bool forwards = step.strides[i % spatial] > 0;
      int64_t begin = forwards ? from(random, -4, 2) : from(random, -3, 4);
      int64_t end = chance(random, 50) ? (forwards ? INT32_MAX : -INT32_MAX) : from(random, -3, 9);
      step.fixed.push_back(i < spatial ? begin : end);
    }
  } else {
    step.fixed.assign(step.kind == Kind::Tile ? 2 : 0, 1);
    for (int64_t i = 0; i < spatial; ++i)
      step.fixed.push_back(from(random, 1, step.kind == Kind::Tile ? 3 : 12));
  }
}

void SizesModel::draw(Random &random) {
  static constexpr Kind kMoves[] = {Kind::Pad,  Kind::Pad,    Kind::Slice, Kind::Slice,   Kind::Resize,
                                    Kind::Tile, Kind::Expand, Kind::Range, Kind::Reshape, Kind::Broadcast};
  static constexpr Kind kOthers[] = {Kind::MaxPool, Kind::AveragePool, Kind::Conv,   Kind::Conv,
                                     Kind::Turn,    Kind::Join,        Kind::Softmax};
  int64_t rank = chance(random, 70) ? 4 : 3, channels = from(random, 1, 3);
  shape_ = {chance(random, 40) ? -1 : from(random, 1, 2), channels};
  for (int64_t i = 2; i < rank; ++i)
    shape_.push_back(chance(random, 70) ? -1 : from(random, 3, 12));
  for (int64_t count = from(random, 2, 5); count > 0; --count) {
    Step step;
    bool moves = chance(random, 55);
    step.kind = moves ? kMoves[below(random, std::size(kMoves))] : kOthers[below(random, std::size(kOthers))];
    step.rank = rank;
    bool canBeFixed = llvm::is_contained({Kind::Pad, Kind::Slice, Kind::Resize, Kind::Tile}, step.kind);
    step.isData = moves && !(canBeFixed && chance(random, 15));
    step.flag = chance(random, 50);
    if (isWindow(step.kind))
      drawWindow(step, random);
    switch (step.kind) {
    case Kind::Pad:
      step.mode = chance(random, 70) ? "constant" : chance(random, 50) ? "edge" : "reflect";
      break;
    case Kind::Slice:
      for (int64_t i = 2; i < rank; ++i)
        step.strides.push_back(chance(random, 60) ? 1 : chance(random, 60) ? from(random, 2, 3) : -from(random, 1, 2));
      break;
    case Kind::Resize:
      step.mode = chance(random, 60) ? "nearest" : "linear";
      step.number = below(random, 2);
      break;
    case Kind::Reshape:
      step.number = from(random, 1, 3); // spatial axes of the result
      rank = step.number + 2;
      break;
    case Kind::Expand:
      step.number = from(random, 2, rank - 1);
      break;
    case Kind::Conv:
      step.number = step.flag ? channels : from(random, 1, 3); // depthwise where flag is set
      for (int64_t i = step.number * (step.flag ? 1 : channels) * product(step.kernel); i > 0; --i)
        step.weight.push_back(float(from(random, -2, 2)));
      channels = step.number;
      break;
    case Kind::Join:
      step.number = from(random, 2, rank - 1);
      break;
    default:
      break;
    }
    if (moves && !step.isData)
      drawFixed(step, random);
    steps_.push_back(std::move(step));
  }
}

SizesModel::SizesModel(uint64_t seed) {
  Random random(seed);
  draw(random);
}

//===----------------------------------------------------------------------===//
// Which numbers
//===----------------------------------------------------------------------===//

/// Splits `count` into `parts` factors.
static Numbers factors(int64_t count, int64_t parts, Random &random) {
  Numbers result;
  for (; parts > 1; --parts) {
    Numbers divisors;
    for (int64_t d = 1; d <= count; ++d)
      if (count % d == 0)
        divisors.push_back(d);
    result.push_back(divisors[below(random, divisors.size())]);
    count /= result.back();
  }
  result.push_back(count);
  return result;
}

/// The amounts of a step whose input has this shape; nullopt where none fit.
static std::optional<Numbers> chooseAmounts(const Step &step, const Numbers &shape, Random &random) {
  size_t rank = shape.size(), spatial = rank - 2;
  Numbers amounts;
  switch (step.kind) {
  case Kind::Pad:
    amounts.assign(2 * rank, 0);
    for (size_t i = 2; i < rank; ++i)
      for (size_t side : {size_t(0), rank})
        amounts[side + i] = from(random, step.mode == "constant" ? -2 : 0, 3);
    return amounts;
  case Kind::Slice:
    amounts.assign(2 * spatial, 0);
    for (size_t i = 0; i < spatial; ++i) {
      int64_t size = shape[2 + i];
      amounts[i] = from(random, -size - 1, size + 1), amounts[spatial + i] = from(random, -size - 1, size + 3);
      if (chance(random, 60)) { // most of it
        bool forwards = step.strides[i] > 0;
        amounts[i] = forwards ? below(random, 2) : -1 - below(random, 2);
        amounts[spatial + i] = forwards ? size : -size - 1;
      }
    }
    return amounts;
  case Kind::Resize:
    for (size_t i = 0; i < spatial; ++i)
      amounts.push_back(from(random, 1, 12));
    return amounts;
  case Kind::Reshape: {
    int64_t count = product(llvm::ArrayRef(shape).drop_front(2));
    if (count == 0)
      return std::nullopt;
    amounts = {shape[0], shape[1]};
    llvm::append_range(amounts, factors(count, step.number, random));
    return amounts;
  }
  case Kind::Tile:
    amounts.assign(rank, 1);
    for (size_t i = 2; i < rank; ++i)
      amounts[i] = from(random, 1, 3);
    return amounts;
  case Kind::Expand:
    amounts = shape;
    amounts[step.number] = from(random, 1, 9);
    return amounts;
  case Kind::Range:
    return Numbers{shape.back()};
  case Kind::Broadcast: // of two parts of what goes in, each axis is whole or 1
    for (size_t i = 0; i < 2 * spatial; ++i)
      amounts.push_back(chance(random, 50) ? shape[2 + i % spatial] : 1);
    return amounts;
  default:
    return amounts;
  }
}

/// How many windows an axis has; nullopt where it has none.
static std::optional<int64_t> countWindows(const Step &step, size_t i, int64_t size) {
  int64_t begin = size + step.pads[i], padded = begin + step.pads[step.rank - 2 + i];
  int64_t span = (step.kernel[i] - 1) * step.dilations[i] + 1, stride = step.strides[i];
  if (padded < span || size == 0)
    return std::nullopt;
  if (!step.flag || step.kind == Kind::Conv)
    return (padded - span) / stride + 1;
  return std::min<int64_t>(llvm::divideCeil(padded - span, stride) + 1, llvm::divideCeil(begin, stride));
}

/// Makes `shape` that of the step's result. False where the step means nothing.
static bool apply(const Step &step, const Numbers &amounts, Numbers &shape) {
  size_t rank = shape.size(), spatial = rank - 2;
  switch (step.kind) {
  case Kind::Pad:
    for (size_t i = 2; i < rank; ++i) {
      int64_t low = amounts[i], high = amounts[rank + i];
      int64_t cut = std::max<int64_t>(-low, 0) + std::max<int64_t>(-high, 0);
      if (cut > shape[i] || (step.mode != "constant" && shape[i] == 0) ||
          (step.mode == "reflect" && std::max(low, high) >= shape[i]))
        return false;
      shape[i] += low + high;
    }
    return true;
  case Kind::Slice:
    for (size_t i = 0; i < spatial; ++i) {
      int64_t size = shape[2 + i], stride = step.strides[i];
      int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
      auto within = [&](int64_t bound) {
        return std::clamp(bound < 0 ? bound + size : bound, low, std::max(low, high));
      };
      int64_t begin = within(amounts[i]), end = within(amounts[spatial + i]);
      int64_t span = stride > 0 ? end - begin : begin - end;
      shape[2 + i] = span <= 0 ? 0 : llvm::divideCeil(span, std::abs(stride));
    }
    return true;
  case Kind::Resize:
    if (product(shape) == 0)
      return false;
    llvm::copy(amounts, shape.begin() + 2);
    return true;
  case Kind::Reshape:
    shape = amounts;
    return true;
  case Kind::Tile:
    for (size_t i = 2; i < rank; ++i)
      shape[i] *= amounts[i];
    return true;
  case Kind::Broadcast:
    for (size_t i = 0; i < spatial; ++i)
      shape[2 + i] = std::min(shape[2 + i], std::max(amounts[i], amounts[spatial + i]));
    return true;
  case Kind::Expand:
    if (shape[step.number] == 0)
      return false;
    shape[step.number] = amounts[step.number];
    return true;
  case Kind::MaxPool:
  case Kind::AveragePool:
  case Kind::Conv:
    for (size_t i = 0; i < spatial; ++i) {
      std::optional<int64_t> count = countWindows(step, i, shape[2 + i]);
      if (!count)
        return false;
      shape[2 + i] = *count;
    }
    if (step.kind == Kind::Conv)
      shape[1] = step.number;
    return true;
  case Kind::Turn:
    if (rank > 3)
      std::swap(shape[2], shape[3]);
    return true;
  case Kind::Join:
    shape[step.number] *= 2;
    return true;
  case Kind::Range:
  case Kind::Softmax:
    return true;
  }
  return false;
}

std::optional<Binding> SizesModel::tryToBind(Random &random) const {
  Binding binding;
  for (auto [axis, size] : llvm::enumerate(shape_))
    binding.shape.push_back(size >= 0   ? size
                            : axis == 0 ? from(random, chance(random, 5) ? 0 : 1, 3)
                                        : from(random, 1, 14));
  Numbers shape = binding.shape;
  for (const Step &step : steps_) {
    std::optional<Numbers> amounts = step.isData ? chooseAmounts(step, shape, random) : step.fixed;
    if (!amounts || !apply(step, *amounts, shape) || product(shape) > kMostElements ||
        llvm::any_of(shape, [](int64_t size) { return size > kMostSize; }))
      return std::nullopt;
    if (step.kind == Kind::Reshape && step.flag)
      amounts->back() = -1;
    binding.amounts.push_back(std::move(*amounts));
  }
  return binding;
}

std::optional<Binding> SizesModel::bind(Random &random) const {
  for (int attempt = 0; attempt < 100; ++attempt)
    if (std::optional<Binding> binding = tryToBind(random))
      return binding;
  return std::nullopt;
}

bool SizesModel::isExact() const {
  return llvm::none_of(steps_, [](const Step &step) { return step.kind == Kind::Resize && step.mode == "linear"; });
}

std::vector<interp::HostTensor> SizesModel::inputs(const Binding &binding, Random &random) const {
  std::vector<float> elements(product(binding.shape));
  for (float &element : elements)
    element = float(from(random, -4, 4));
  std::vector<interp::HostTensor> inputs = {
      interp::HostTensor::of(DType::F32, binding.shape, llvm::ArrayRef<float>(elements))};
  for (auto [step, amounts] : llvm::zip(steps_, binding.amounts))
    if (step.isData)
      inputs.push_back(interp::HostTensor::of(DType::I64, {int64_t(amounts.size())}, llvm::ArrayRef<int64_t>(amounts)));
  return inputs;
}
