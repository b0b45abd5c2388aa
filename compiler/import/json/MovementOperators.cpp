//===- MovementOperators.cpp - Shapes, slices, indices -----------------------===//
#include "import/json/Operators.h"

using namespace kiln::import;
using namespace kiln::import::json;
using mlir::Value;

static Results pad(Node &node) {
  auto [low, high] = node.pairs("pads");
  Value x = node.tensor(0);
  std::string mode = node.word("mode", "constant");
  if (mode == "constant")
    return node.b.pad(x, low, high, node.operandAttribute("value"));
  llvm::SmallVector<int64_t> before, after;
  for (auto [from, to] : {std::pair(&low, &before), std::pair(&high, &after)})
    for (Expr size : *from) {
      if (!size.isConst())
        return node.b.fail("a pad of " + size.print() + " in mode " + mode, "only constant pads may be symbolic");
      to->push_back(size.constant());
    }
  return node.b.pad(x, before, after,
                    mode == "reflect" ? PadMode::Reflect
                    : mode == "edge"  ? PadMode::Edge
                                      : PadMode::Wrap);
}

static llvm::SmallVector<Value> allTensors(Node &node) {
  llvm::SmallVector<Value> tensors;
  for (size_t i = 0; i < node.inputs(); ++i)
    tensors.push_back(node.tensor(i));
  return tensors;
}

static Results split(Node &node) {
  Value x = node.tensor(0);
  int64_t axis = node.integer("axis", 0);
  if (node.has("sizes"))
    return node.b.split(x, axis, node.sizes("sizes"));
  Expr parts(int64_t(node.outputs())), size = TensorBuilder::dim(x, axis), part = floorDiv(size, parts);
  if (x && !provablyEqual(part * parts, size))
    return node.b.fail("an axis of size " + size.print() + " does not divide into " + parts.print() + " equal parts",
                       "give their sizes");
  return node.b.split(x, axis, Shape(node.outputs(), part));
}

static Results transpose(Node &node) {
  Value x = node.tensor(0);
  llvm::SmallVector<int64_t> axes = node.integers("axes");
  if (axes.empty())
    axes = {-1, -2};
  if (axes.size() != 2)
    return node.b.fail("transpose swaps two axes, " + llvm::Twine(axes.size()) + " are named", "use permute for more");
  return node.b.transpose(x, axes[0], axes[1]);
}

static Results squeeze(Node &node) {
  Value x = node.tensor(0);
  if (node.has("axes"))
    return node.b.squeeze(x, node.integers("axes"));
  llvm::SmallVector<int64_t> axes = llvm::filter_to_vector(
      TensorBuilder::allAxes(x), [&](int64_t axis) { return TensorBuilder::dim(x, axis).isConst(1); });
  return node.b.squeeze(x, axes);
}

static Results oneHot(Node &node) {
  return node.b.oneHot(node.tensor(0), node.size("depth"), node.integer("axis", -1), 1, 0,
                       node.dtype("dtype", node.b.float32()));
}

static Results full(Node &node) {
  Shape sizes = node.sizes("shape");
  mlir::Type type = node.dtype("dtype");
  std::optional<Operand> value = node.operandAttribute("value");
  return node.b.ok() ? node.b.constant(value.value_or(Operand(0)), type, sizes) : Value();
}

llvm::ArrayRef<Operator> kiln::import::json::movementOperators() {
  static const Operator table[] = {
      {"reshape", 1, 1, {"shape"}, [](Node &n) -> Results { return n.b.reshape(n.tensor(0), n.sizes("shape")); }},
      {"permute", 1, 1, {"order"}, [](Node &n) -> Results { return n.b.permute(n.tensor(0), n.integers("order")); }},
      {"transpose", 1, 1, {"axes"}, transpose},
      {"expand", 1, 1, {"shape"}, [](Node &n) -> Results { return n.b.expand(n.tensor(0), n.sizes("shape")); }},
      {"squeeze", 1, 1, {"axes"}, squeeze},
      {"unsqueeze", 1, 1, {"axes"}, [](Node &n) -> Results { return n.b.unsqueeze(n.tensor(0), n.integers("axes")); }},
      {"flatten", 1, 1, {"axis"}, [](Node &n) -> Results { return n.b.flatten(n.tensor(0), n.integer("axis", 1)); }},
      {"flip", 1, 1, {"axes"}, [](Node &n) -> Results { return n.b.flip(n.tensor(0), n.axes(n.tensor(0))); }},
      {"shrink",
       1,
       1,
       {"bounds"},
       [](Node &n) -> Results {
         auto [begin, end] = n.pairs("bounds");
         return n.b.shrink(n.tensor(0), begin, end);
       }},
      {"slice", 1, 1, {"slices"}, [](Node &n) -> Results { return n.b.slice(n.tensor(0), n.slices()); }},
      {"pad", 1, 1, {"pads", "mode", "value"}, pad},
      {"tile", 1, 1, {"counts"}, [](Node &n) -> Results { return n.b.tile(n.tensor(0), n.sizes("counts")); }},
      {"concat",
       1,
       Operator::any,
       {"axis"},
       [](Node &n) -> Results { return n.b.concat(allTensors(n), n.integer("axis")); }},
      {"stack",
       1,
       Operator::any,
       {"axis"},
       [](Node &n) -> Results { return n.b.stack(allTensors(n), n.integer("axis", 0)); }},
      {"split", 1, 1, {"axis", "sizes"}, split},
      {"contiguous", 1, 1, {}, [](Node &n) -> Results { return n.b.contiguous(n.tensor(0)); }},
      {"gather",
       2,
       2,
       {"axis"},
       [](Node &n) -> Results { return n.b.take(n.tensor(0), n.tensor(1), n.integer("axis", 0)); }},
      {"gather_elements",
       2,
       2,
       {"axis"},
       [](Node &n) -> Results { return n.b.gatherElements(n.tensor(0), n.tensor(1), n.integer("axis", 0)); }},
      {"one_hot", 1, 1, {"depth", "axis", "dtype"}, oneHot},
      {"tril", 1, 1, {"diagonal"}, [](Node &n) -> Results { return n.b.tril(n.tensor(0), n.integer("diagonal", 0)); }},
      {"triu", 1, 1, {"diagonal"}, [](Node &n) -> Results { return n.b.triu(n.tensor(0), n.integer("diagonal", 0)); }},
      {"full", 0, 0, {"shape", "dtype", "value"}, full},
      {"arange",
       0,
       0,
       {"size", "dtype"},
       [](Node &n) -> Results {
         Expr size = n.size("size");
         mlir::Type type = n.dtype("dtype", n.b.int32());
         return n.b.ok() ? n.b.arange(size, type) : Value();
       }},
      {"size",
       0,
       0,
       {"size", "dtype"},
       [](Node &n) -> Results {
         Expr size = n.size("size");
         mlir::Type type = n.dtype("dtype", n.b.int64());
         return n.b.ok() ? n.b.cast(n.b.size(size), type) : Value();
       }},
  };
  return table;
}
