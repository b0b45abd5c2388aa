//===- RandomSizes.h - Models whose sizes are data -------------------------===//
//
// A model is a chain of nodes over one tensor [n, c, spatial...]. Some move elements by amounts that are an input of
// their own (what to pad, where to cut, a shape), others are what such sizes reach: windows, reductions, copies. A
// binding is a choice of all sizes and amounts for which the model means something. The same model can be written with
// a binding's numbers in it, so that all of them are known at import.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "interp/HostTensor.h"

#include <onnx-ml.pb.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kiln::test {

using Random = std::mt19937_64;
using Numbers = std::vector<int64_t>;

int64_t product(llvm::ArrayRef<int64_t> numbers);

/// Numbers for all that a model leaves open.
struct Binding {
  Numbers shape;                ///< of the tensor that goes in
  std::vector<Numbers> amounts; ///< of each node, empty where it has none
  std::string print() const;
};

struct Step {
  enum class Kind {
    Pad,
    Slice,
    Resize,
    Reshape,
    Tile,
    Expand,
    Range,
    Broadcast,
    MaxPool,
    AveragePool,
    Conv,
    Turn,
    Join,
    Softmax
  };
  Kind kind;
  bool isData = false; ///< amounts are an input
  Numbers fixed;       ///< else these
  int64_t rank = 0;    ///< of what goes in
  Numbers kernel, strides, dilations, pads;
  std::string mode;
  int64_t number = 0; ///< an axis, a number of channels, or a variant
  bool flag = false;
  std::vector<float> weight;
};

class SizesModel {
public:
  explicit SizesModel(uint64_t seed);
  /// nullopt where chance found no numbers that fit.
  std::optional<Binding> bind(Random &random) const;
  /// Sizes have names and amounts are inputs; with a binding, both are numbers.
  ::onnx::ModelProto model(const Binding *known = nullptr) const;
  /// Whether a result is the same bit for bit when its sizes are known: weights of an interpolation are rounded
  /// otherwise where a table is made of them at import.
  bool isExact() const;
  /// Elements for the open model's inputs; the written model takes the first of these.
  std::vector<interp::HostTensor> inputs(const Binding &binding, Random &random) const;

private:
  std::optional<Binding> tryToBind(Random &random) const;
  void draw(Random &random);

  std::vector<Step> steps_;
  Numbers shape_; ///< -1: open
};

} // namespace kiln::test
