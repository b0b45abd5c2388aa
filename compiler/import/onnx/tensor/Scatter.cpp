//===- Scatter.cpp - Stores at places that are data -------------------------===//
#include "import/Scatter.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// Attribute 'reduction', new in opset 16, with max and min since opset 18; null after a failure. Strings have none.
static std::optional<Combine> reductionOf(Node &n) {
  if (n.opset() < 16)
    return Combine::Set;
  std::string name = n.string("reduction", "none");
  std::pair<llvm::StringRef, Combine> known[] = {{"none", Combine::Set},
                                                 {"add", Combine::Add},
                                                 {"mul", Combine::Mul},
                                                 {"max", Combine::Max},
                                                 {"min", Combine::Min}};
  for (auto [known, how] : llvm::ArrayRef(known).drop_back(n.opset() < 18 ? 2 : 0))
    if (known == name && (how == Combine::Set || !isObject(TensorBuilder::element(n.input(0)))))
      return how;
  if (isObject(TensorBuilder::element(n.input(0)))) {
    n.fail("attribute 'reduction' is " + quoted(name) + " for strings", "it is none");
    return std::nullopt;
  }
  n.fail("attribute 'reduction' is " + quoted(name),
         n.opset() < 18 ? "it is none, add or mul" : "it is none, add, mul, max or min");
  return std::nullopt;
}

static Value storeElements(Node &n, TensorBuilder &b) {
  std::optional<Combine> how = n.op() == "Scatter" ? Combine::Set : reductionOf(n);
  if (n.op() == "Scatter" && n.opset() >= 11)
    return b.fail("opset 11 replaced Scatter", "use ScatterElements");
  int64_t axis = n.integer("axis", 0);
  return how ? scatterElements(b, n.input(0), n.input(1), n.input(2), axis, *how) : Value();
}

static Value storeRows(Node &n, TensorBuilder &b) {
  std::optional<Combine> how = reductionOf(n);
  return how ? scatterND(b, n.input(0), n.input(1), n.input(2), *how) : Value();
}

/// Rows of a cache along an axis, from a place of each batch on; elements that are not written stay.
static Value tensorScatter(Node &n, TensorBuilder &b) {
  Value past = n.input(0), update = n.input(1);
  std::string mode = n.string("mode", "linear");
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("axis", -2), b.rank(past));
  if (!past || !update || !axis)
    return {};
  if (mode != "linear" && mode != "circular")
    return b.fail("attribute 'mode' is " + quoted(mode), "it is linear or circular");
  if (*axis == 0 || b.rank(update) != b.rank(past))
    return b.fail("an update " + describe(b.shape(update)) + " of a cache " + describe(b.shape(past)) + " along axis " +
                  llvm::Twine(*axis));
  Expr room = b.dim(past, *axis), length = b.dim(update, *axis);
  if (!b.check(view::greaterEqual(room, length), "an update is longer than the cache"))
    return {};
  Shape along(b.rank(past), Expr(1)), across = along;
  along[*axis] = room;
  across[0] = b.dim(past, 0);
  Value step = b.reshape(b.arange(room, b.int64()), along);
  if (Value begin = n.optionalInput(2))
    step = b.sub(step, b.reshape(b.cast(begin, b.int64()), across));
  if (mode == "circular")
    step = b.floorMod(step, b.size(room));
  Value isWritten = b.bitAnd(b.greaterEqual(step, 0), b.less(step, b.size(length)));
  Value from = b.expand(b.where(isWritten, step, 0), b.shape(past));
  return b.where(isWritten, b.gatherElements(update, from, *axis), past);
}

void kiln::import::onnx::addScatters(Registry &r) {
  r.add("Scatter", 9, storeElements);
  r.add("ScatterElements", 11, storeElements);
  r.add("ScatterND", 11, storeRows);
  r.add("TensorScatter", 24, tensorScatter);
}
