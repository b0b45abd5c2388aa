//===- WindowOperators.cpp - Convolutions and pools --------------------------===//
#include "import/json/Operators.h"

using namespace kiln::import;
using namespace kiln::import::json;
using mlir::Value;

/// x must have `spatial` axes after batch and channel.
static Value spatialInput(Node &node, int64_t spatial) {
  Value x = node.tensor(0);
  if (x && TensorBuilder::rank(x) != spatial + 2)
    return node.b.fail("the input is " + describe(TensorBuilder::shape(x)), "it must have " + llvm::Twine(spatial + 2) +
                                                                                " axes: batch, channel and " +
                                                                                llvm::Twine(spatial) + " spatial ones");
  return x;
}

template <int spatial> static Results conv(Node &node) {
  return node.b.conv(spatialInput(node, spatial), node.tensor(1), node.tensor(2), node.window(),
                     node.integer("groups", 1));
}

template <int spatial> static Results convTranspose(Node &node) {
  return node.b.convTranspose(spatialInput(node, spatial), node.tensor(1), node.tensor(2), node.window(),
                              node.integer("groups", 1), node.integers("output_pads"));
}

template <int spatial> static bool hasKernel(Node &node) {
  if (node.integers("kernel").size() == spatial)
    return true;
  node.b.fail("the attribute 'kernel' has not " + llvm::Twine(spatial) + " sizes", "give one a spatial axis");
  return false;
}

template <int spatial> static Results maxPool(Node &node) {
  Value x = spatialInput(node, spatial);
  return hasKernel<spatial>(node) ? node.b.maxPool(x, node.window()) : Value();
}

template <int spatial> static Results averagePool(Node &node) {
  Value x = spatialInput(node, spatial);
  return hasKernel<spatial>(node) ? node.b.averagePool(x, node.window(), node.flag("count_padding", true)) : Value();
}

llvm::ArrayRef<Operator> kiln::import::json::windowOperators() {
#define KILN_SPATIAL(n)                                                                                                \
  {"conv" #n "d", 2, 3, {"strides", "dilations", "pads", "groups"}, conv<n>},                                          \
      {"conv_transpose" #n "d", 2, 3, {"strides", "dilations", "pads", "groups", "output_pads"}, convTranspose<n>},    \
      {"max_pool" #n "d", 1, 1, {"kernel", "strides", "dilations", "pads", "ceil_mode"}, maxPool<n>}, {                \
    "avg_pool" #n "d", 1, 1, {"kernel", "strides", "dilations", "pads", "ceil_mode", "count_padding"}, averagePool<n>  \
  }
  static const Operator table[] = {KILN_SPATIAL(1), KILN_SPATIAL(2), KILN_SPATIAL(3)};
#undef KILN_SPATIAL
  return table;
}
