//===- LazyTensor.cpp - Trees that are evaluated into arrays or accumulators ---===//
// A tree is walked in tiles that the first cache holds. To hold it, its tiles are written one after the other. To
// reduce it, a tile is added to accumulators, which are one more strided array with strides of 0 along the summed axes.
// Floats are summed in double, in several chains at a time; this is the judge of others' sums, so its error must be the
// smaller one.
//===----------------------------------------------------------------------------===//

#include "interp/LazyTensor.h"
#include "interp/Tiles.h"
#include "ir/base/AluRows.h"
#include "support/Error.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <new>

using namespace kiln;
using namespace kiln::interp;

TensorRef LazyTensor::held(DType dtype, std::shared_ptr<const char> data, Strided map) {
  auto tensor = std::make_shared<LazyTensor>();
  tensor->dtype = dtype;
  tensor->dims = map.dims;
  tensor->data = std::move(data);
  tensor->map = std::move(map);
  return tensor;
}

TensorRef LazyTensor::splat(Scalar value, llvm::ArrayRef<int64_t> dims) {
  auto number = std::make_shared<uint64_t>(value.bits);
  Strided map{Dims(dims), Dims(dims.size(), 0), 0};
  return held(value.dtype, std::shared_ptr<const char>(number, reinterpret_cast<const char *>(number.get())), map);
}

TensorRef LazyTensor::computed(DType dtype, AluLoop loop, llvm::ArrayRef<TensorRef> operands) {
  auto tensor = std::make_shared<LazyTensor>();
  tensor->dtype = dtype;
  tensor->dims = operands.front()->dims;
  tensor->loop = loop;
  tensor->operands.assign(operands.begin(), operands.end());
  return tensor;
}

llvm::Expected<std::shared_ptr<char>> interp::allocate(int64_t count, unsigned elementBytes, int64_t limit) {
  int64_t bytes;
  if (llvm::MulOverflow(count, int64_t(elementBytes), bytes) || bytes > limit)
    return failure("a tensor of " + llvm::Twine(count) + " elements does not fit the memory limit of " +
                   llvm::Twine(limit) + " bytes");
  char *memory = new (std::nothrow) char[bytes + 1](); // never null, even without elements
  if (!memory)
    return failure("out of memory for a tensor of " + llvm::Twine(bytes) + " bytes");
  return std::shared_ptr<char>(memory, std::default_delete<char[]>());
}

llvm::Error interp::hold(LazyTensor &tensor, int64_t limit) {
  if (tensor.isHeld())
    return llvm::Error::success();
  unsigned bytes = byteSize(tensor.dtype);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(tensor.dims), bytes, limit);
  if (!memory)
    return memory.takeError();
  char *to = memory->get();
  TileWalk walk(tensor.dims);
  if (!walk.done()) {
    TileEvaluator evaluator(tensor, walk);
    for (; !walk.done(); walk.next()) {
      evaluator.evaluate(walk, to);
      to += walk.count() * bytes;
    }
  }
  tensor.data = std::move(*memory);
  tensor.map = Strided::rowMajor(tensor.dims);
  tensor.operands.clear();
  return llvm::Error::success();
}

llvm::Error interp::holdRowMajor(LazyTensor &tensor, int64_t limit) {
  if (llvm::Error error = hold(tensor, limit))
    return error;
  if (tensor.map.isRowMajor())
    return llvm::Error::success();
  unsigned bytes = byteSize(tensor.dtype);
  llvm::Expected<std::shared_ptr<char>> memory = allocate(elementCount(tensor.dims), bytes, limit);
  if (!memory)
    return memory.takeError();
  Strided map = Strided::rowMajor(tensor.dims);
  copyElements(memory->get(), map, tensor.data.get(), tensor.map, bytes);
  tensor.data = std::move(*memory);
  tensor.map = std::move(map);
  return llvm::Error::success();
}

const char *interp::rowMajorData(const LazyTensor &tensor) {
  assert(tensor.isHeld() && tensor.map.isRowMajor() && "call holdRowMajor first");
  return tensor.data.get() + tensor.map.offset * byteSize(tensor.dtype);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <class T> using Accumulator = std::conditional_t<isFloatElement<T>, double, T>;

template <Alu Row, class A> static A identity() {
  using Limits = std::numeric_limits<A>;
  if constexpr (Row == Alu::MUL)
    return A(1);
  else if constexpr (Row == Alu::MAX)
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  else if constexpr (Row == Alu::MIN)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  else
    return A(0);
}

template <Alu Row, class T> static std::vector<char> reduceTiles(const LazyTensor &tensor, const Strided &result) {
  using A = Accumulator<T>;
  int64_t count = std::max<int64_t>(1, elementCount(result.dims));
  // Not a vector: bool has no array there.
  std::unique_ptr<A[]> totals(new A[count]);
  std::fill_n(totals.get(), count, identity<Row, A>());

  TileWalk walk(tensor.dims);
  if (!walk.done()) {
    // The accumulators are one more array that is read through strides: 0 along the reduced axes.
    Strided slots{tensor.dims, result.strides, 0};
    std::vector<int64_t> offsets = walk.offsets(slots);
    TileEvaluator evaluator(tensor, walk);
    for (; !walk.done(); walk.next()) {
      auto *elements = static_cast<const T *>(evaluator.evaluate(walk, evaluator.rootRoom()));
      A *base = totals.get() + walk.base(slots);
      int64_t run = walk.trailingRun([&](size_t axis) { return slots.strides[axis] == 0; });
      for (int64_t i = 0, end = walk.count(); i < end; i += run) {
        // Several chains, so that an addition need not wait for the one before.
        constexpr int64_t kChains = 8;
        int64_t j = i;
        A total = base[offsets[i]];
        if (run >= 2 * kChains) {
          A chains[kChains];
          std::fill_n(chains, kChains, identity<Row, A>());
          for (; j + kChains <= i + run; j += kChains)
            for (int64_t chain = 0; chain < kChains; ++chain)
              chains[chain] = aluElement<Row>(chains[chain], convertElement<A>(elements[j + chain]));
          for (A chain : chains)
            total = aluElement<Row>(total, chain);
        }
        for (; j < i + run; ++j)
          total = aluElement<Row>(total, convertElement<A>(elements[j]));
        base[offsets[i]] = total;
      }
    }
  }

  std::vector<char> bytes(count * sizeof(T));
  for (int64_t i = 0; i < count; ++i)
    reinterpret_cast<T *>(bytes.data())[i] = convertElement<T>(totals[i]);
  return bytes;
}

template <Alu Row> static std::vector<char> reduceRow(const LazyTensor &tensor, const Strided &result) {
  return withElement(tensor.dtype,
                     [&](auto tag) { return reduceTiles<Row, typename decltype(tag)::Type>(tensor, result); });
}

static std::vector<char> reduceKind(Alu kind, const LazyTensor &tensor, const Strided &result) {
  switch (kind) {
  case Alu::ADD:
    return reduceRow<Alu::ADD>(tensor, result);
  case Alu::MUL:
    return reduceRow<Alu::MUL>(tensor, result);
  case Alu::MAX:
    return reduceRow<Alu::MAX>(tensor, result);
  case Alu::MIN:
    return reduceRow<Alu::MIN>(tensor, result);
  default:
    llvm_unreachable("the op's verifier admits no other reduction");
  }
}

llvm::Expected<TensorRef> interp::reduce(Alu kind, const LazyTensor &tensor, llvm::ArrayRef<int64_t> axes,
                                         int64_t limit) {
  Dims dims = tensor.dims;
  for (int64_t axis : axes)
    dims[axis] = 1;
  // Accumulators take up to eight bytes per element.
  if (int64_t count = elementCount(dims); count > limit / 8)
    return failure("a reduction to " + llvm::Twine(count) + " elements does not fit the memory limit of " +
                   llvm::Twine(limit) + " bytes");
  Strided result = Strided::rowMajor(dims), slots = result;
  for (int64_t axis : axes)
    slots.strides[axis] = 0;
  auto bytes = std::make_shared<std::vector<char>>(reduceKind(kind, tensor, slots));
  return LazyTensor::held(tensor.dtype, std::shared_ptr<const char>(bytes, bytes->data()), std::move(result));
}
