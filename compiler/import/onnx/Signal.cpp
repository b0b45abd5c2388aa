//===- Signal.cpp - Windows of signals --------------------------------------===//
#include "import/DType.h"
#include "import/onnx/ElementType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"

#include <numbers>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// a0 - a1 · cos(2πi/N) + a2 · cos(4πi/N), N being the length, or without `periodic` one less.
static auto cosineWindow(double a0, double a1, double a2) {
  return [=](Node &n, TensorBuilder &b) -> Tensor {
    int64_t dataType = n.integer("output_datatype", ::onnx::TensorProto::FLOAT);
    bool isPeriodic = n.flag("periodic", true);
    mlir::Type element = elementType(n.importer().builder().getContext(), dataType);
    std::optional<Elements> size = n.sizes(0);
    if (!size)
      return {};
    if (!element)
      return n.fail("dtype " + dataTypeName(dataType) + " is not supported", "dtypes are " + dtypeNames());
    if (size->size() != 1)
      return n.fail("the window's size is not one number");
    // In double, since the angles of a long window are close to each other.
    mlir::Type real = b.builder().getF64Type();
    Expr length = size->front(), period = view::maximum(isPeriodic ? length : length - 1, 1);
    Value turn = b.div(b.cast(b.arange(length, b.int64()), real), b.cast(b.size(period), real));
    Value angle = b.mul(turn, 2 * std::numbers::pi);
    Value window = b.sub(a0, b.mul(b.cos(angle), a1));
    if (a2 != 0)
      window = b.add(window, b.mul(b.cos(b.mul(angle, 2)), a2));
    return b.cast(window, element);
  };
}

void kiln::import::onnx::addSignals(Registry &r) {
  r.add("BlackmanWindow", 17, cosineWindow(0.42, 0.5, 0.08));
  r.add("HammingWindow", 17, cosineWindow(25.0 / 46, 21.0 / 46, 0));
  r.add("HannWindow", 17, cosineWindow(0.5, 0.5, 0));
}
