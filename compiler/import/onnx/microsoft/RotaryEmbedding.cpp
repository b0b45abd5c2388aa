#include "import/onnx/microsoft/RotaryEmbedding.h"

#include "import/DotProductAttention.h"
#include "import/onnx/Microsoft.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using view::provablyEqual;

/// x [batch, heads, rows, size] turned by angles whose cosines and sines [batch or 1, 1, rows, turned/2] are given.
static Value rotate(TensorBuilder &b, Value x, Value cosines, Value sines, bool interleaved) {
  if (!x || !cosines || !sines)
    return {};
  Expr size = b.dim(x, 3), part = b.dim(cosines, -1) * 2;
  Value y = rotatePairs(b, b.narrow(x, 3, 0, part), cosines, sines, interleaved);
  return provablyEqual(part, size) ? y : b.concat({y, b.narrow(x, 3, part, size)}, 3);
}

Value kiln::import::onnx::rotateAt(TensorBuilder &b, Value x, Value positions, Value cosines, Value sines,
                                   bool interleaved) {
  auto angles = [&](Value table) {
    Value rows = b.gather(table, positions, 0);
    return b.rank(rows) == 3 ? b.unsqueeze(rows, {1}) : rows;
  };
  return rotate(b, x, angles(cosines), angles(sines), interleaved);
}

/// The heads of x [batch, rows, heads · size]; their number may follow from the turned part of each: all.
static Value headsOf(TensorBuilder &b, Value x, int64_t heads, int64_t rotated, Value cosines) {
  if (heads == 0 && rotated == 0)
    heads = view::floorDiv(b.dim(x, 2), b.dim(cosines, 1) * 2).asConst().value_or(0);
  return splitHeads(b, x, heads);
}

static Tensor rotaryEmbedding(Node &n, TensorBuilder &b) {
  Value x = n.input(0), positions = n.input(1), cosines = n.input(2), sines = n.input(3);
  int64_t heads = n.integer("num_heads", 0), rotated = n.integer("rotary_embedding_dim", 0);
  bool interleaved = n.flag("interleaved", false);
  double scale = n.real("scale", 1);
  if (n.flag("is_packed_batching", false))
    return n.fail("attribute 'is_packed_batching' is 1", "batches of one length are supported");
  if (!x || !positions || !cosines || !sines)
    return {};
  bool isFlat = b.rank(x) == 3;
  if (isFlat)
    x = headsOf(b, x, heads, rotated, cosines);
  if (b.rank(positions) == 1) // the first row's position
    positions = b.add(positions, b.arange(b.dim(x, 2), b.element(positions)));
  Value y = rotateAt(b, x, positions, cosines, sines, interleaved);
  if (scale != 1)
    y = b.mul(y, scale);
  return isFlat ? mergeHeads(b, y) : y;
}

/// Positions [3, batch, rows] in time, height and width: each turns some of the pairs, which `mrope_section` says.
static Tensor multimodalRotaryEmbedding(Node &n, TensorBuilder &b) {
  Value x = n.input(0), positions = n.input(1), cosines = n.input(2), sines = n.input(3);
  llvm::SmallVector<int64_t> sections = n.integers("mrope_section");
  int64_t heads = n.integer("num_heads", 0), rotated = n.integer("rotary_embedding_dim", 0);
  int64_t layout = n.integer("mrope_layout", 0);
  bool interleaved = n.flag("interleaved", false);
  double scale = n.real("scale", 1);
  if (n.flag("is_packed_batching", false))
    return n.fail("attribute 'is_packed_batching' is 1", "batches of one length are supported");
  if (!x || !positions || !cosines || !sines)
    return {};
  int64_t pairs = 0;
  for (int64_t section : sections)
    pairs += std::clamp<int64_t>(section, 0, view::kMaxDim);
  if (sections.size() != 3 || *llvm::min_element(sections) < 0 || !b.dim(cosines, -1).isConst(pairs))
    return n.fail("attribute 'mrope_section' does not fit tables of " + b.dim(cosines, -1).print() + " angles",
                  "it is three numbers whose sum that is");
  if (layout < 0 || layout > 1 || b.rank(positions) != 3 || !b.dim(positions, 0).isConst(3))
    return n.fail("attribute 'mrope_layout' is " + Twine(layout) + ", positions " + describe(b.shape(positions)),
                  "it is 0 or 1, positions [3, batch, rows]");
  // Which of the three each pair uses.
  llvm::SmallVector<int32_t> streams;
  for (int64_t i = 0; i < pairs; ++i) {
    int64_t isAt = i % 3, apart = isAt > 0 && i < sections[isAt] * 3 ? isAt : 0;
    int64_t inRow = i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
    streams.push_back(layout == 1 ? apart : inRow);
  }
  auto type = mlir::RankedTensorType::get({pairs}, b.int32());
  Value stream = b.weight("streams", mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(streams)));
  auto angles = [&](Value table) {
    auto of = [&](int64_t i) { return b.gather(table, b.squeeze(b.narrow(positions, 0, i, i + 1), {0}), 0); };
    return b.unsqueeze(b.where(b.equal(stream, 0), of(0), b.where(b.equal(stream, 1), of(1), of(2))), {1});
  };
  bool isFlat = b.rank(x) == 3;
  if (isFlat)
    x = headsOf(b, x, heads, rotated, cosines);
  Value y = rotate(b, x, angles(cosines), angles(sines), interleaved);
  if (scale != 1)
    y = b.mul(y, scale);
  return isFlat ? mergeHeads(b, y) : y;
}

/// Queries and keys, with each one's halves exchanged, by angles [batch, rows, size].
static Tensors gemmaRotaryEmbedding(Node &n, TensorBuilder &b) {
  Value angles = n.input(0);
  auto turned = [&](int x, int rotated) -> Value {
    Value from = n.input(x);
    if (!from || !angles)
      return {};
    auto factor = [&](Value function) { return b.unsqueeze(b.cast(function, b.element(from)), {1}); };
    return b.add(b.mul(from, factor(b.cos(angles))), b.mul(n.input(rotated), factor(b.sin(angles))));
  };
  return {turned(1, 2), turned(3, 4)};
}

void kiln::import::onnx::addRotaryEmbeddings(Registry &r) {
  r.add("com.microsoft", "GemmaRotaryEmbedding", 1, gemmaRotaryEmbedding);
  r.add("com.microsoft", "MRotaryEmbedding", 1, multimodalRotaryEmbedding);
  r.add("com.microsoft", "RotaryEmbedding", 1, rotaryEmbedding);
}
