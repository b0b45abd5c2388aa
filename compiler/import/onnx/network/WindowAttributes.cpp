#include "import/onnx/network/WindowAttributes.h"

#include "import/onnx/file/ModelFile.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;

/// auto_pad's SAME: as many windows as ceil(size / stride), the padding halved, the odd one after (UPPER) or before.
static void padToSame(Node &n, mlir::Value x, Window &window, bool upper) {
  for (auto [i, kernel] : llvm::enumerate(window.kernel)) {
    int64_t stride = window.strides[i], span = (kernel - 1) * window.dilations[i] + 1;
    Expr size = TensorBuilder::dim(x, 2 + i);
    Expr total = span - 1;
    if (stride > 1)
      total = view::maximum((view::floorDiv(size + (stride - 1), stride) - 1) * stride + span - size, 0);
    if (!total.isConst())
      total = n.named("padding", total, 0, span - 1);
    Expr half = view::floorDiv(total, 2), rest = view::floorDiv(total + 1, 2);
    window.padLow.push_back(upper ? half : rest);
    window.padHigh.push_back(upper ? rest : half);
  }
}

std::optional<Window> kiln::import::onnx::readWindow(Node &n, mlir::Value x, llvm::ArrayRef<Expr> kernel) {
  Window window;
  window.kernel = n.integers("kernel_shape");
  window.strides = n.integers("strides");
  window.dilations = n.integers("dilations");
  llvm::SmallVector<int64_t> pads = n.integers("pads");
  std::string autoPad = n.string("auto_pad", "NOTSET");
  if (!x)
    return std::nullopt;
  int64_t spatial = TensorBuilder::rank(x) - 2;
  auto fail = [&](const Twine &cause, const Twine &remedy = "") {
    n.fail(cause, remedy);
    return std::nullopt;
  };
  if (spatial < 1)
    return fail("its input has " + Twine(spatial + 2) + " axes", "it needs a batch, a channel and spatial axes");
  if (!kernel.empty()) {
    llvm::SmallVector<int64_t> sizes;
    for (Expr size : kernel) {
      if (!size.isConst())
        return fail("the weight's size " + size.print() + " is not known at import", "fix it with --dim");
      sizes.push_back(size.constant());
    }
    if (window.kernel.empty())
      window.kernel = sizes;
    else if (window.kernel != sizes)
      return fail("attribute 'kernel_shape' is not the weight's shape", "leave it out");
  } else if (window.kernel.empty()) {
    return fail("attribute 'kernel_shape' is missing", "the operator needs it");
  }
  auto complete = [&](llvm::SmallVector<int64_t> &numbers, llvm::StringRef name, int64_t count, int64_t missing,
                      int64_t least) {
    if (numbers.empty())
      numbers.assign(count, missing);
    bool fits = int64_t(numbers.size()) == count &&
                llvm::all_of(numbers, [&](int64_t number) { return number >= least && number <= view::kMaxDim; });
    if (!fits)
      n.fail("attribute '" + name + "' is [" +
                 llvm::join(llvm::map_range(numbers, [](int64_t i) { return std::to_string(i); }), ", ") + "]",
             Twine(count) + " numbers from " + Twine(least) + " on are needed for " + Twine(spatial) + " spatial axes");
    return fits;
  };
  if (!complete(window.kernel, "kernel_shape", spatial, 1, 1) || !complete(window.strides, "strides", spatial, 1, 1) ||
      !complete(window.dilations, "dilations", spatial, 1, 1))
    return std::nullopt;
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    padToSame(n, x, window, autoPad == "SAME_UPPER");
    return window;
  }
  if (autoPad == "VALID")
    pads.clear();
  else if (autoPad != "NOTSET")
    return fail("attribute 'auto_pad' is " + quoted(autoPad), "it is NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  if (!complete(pads, "pads", 2 * spatial, 0, 0))
    return std::nullopt;
  window.padLow.assign(pads.begin(), pads.begin() + spatial);
  window.padHigh.assign(pads.begin() + spatial, pads.end());
  return window;
}
