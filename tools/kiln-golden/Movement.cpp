#include "tools/kiln-golden/Movement.h"

using namespace kiln;
using namespace kiln::golden;
using namespace kiln::view;

Shape golden::toShape(const Json &numbers) {
  Shape shape;
  for (const Json &n : numbers)
    shape.push_back(n.get<int64_t>());
  return shape;
}

llvm::SmallVector<Range, 4> golden::toRanges(const Json &pairs) {
  llvm::SmallVector<Range, 4> ranges;
  for (const Json &p : pairs)
    ranges.push_back({p.at(0).get<int64_t>(), p.at(1).get<int64_t>()});
  return ranges;
}

bool golden::isSameMap(const View &view, const Json &v) {
  if (view.shape() != llvm::ArrayRef<Expr>(toShape(v.at("shape"))) ||
      view.strides() != llvm::ArrayRef<Expr>(toShape(v.at("strides"))) ||
      !view.offset().isConst(v.at("offset").get<int64_t>()) || view.mask().has_value() == v.at("mask").is_null())
    return false;
  return !view.mask() || *view.mask() == llvm::ArrayRef<Range>(toRanges(v.at("mask")));
}

std::optional<ShapeTracker> golden::applyMovement(const ShapeTracker &st, const std::string &name, const Json &arg,
                                                  Report &report) {
  if (name == "reshape")
    return st.reshape(toShape(arg));
  if (name == "permute")
    return st.permute(arg.get<std::vector<int64_t>>());
  if (name == "expand")
    return st.expand(toShape(arg));
  if (name == "pad") {
    llvm::SmallVector<std::pair<Expr, Expr>, 4> amounts;
    for (Range r : toRanges(arg))
      amounts.push_back({r.begin, r.end});
    return st.pad(amounts);
  }
  if (name == "shrink")
    return st.shrink(toRanges(arg));
  if (name == "flip")
    return st.flip(arg.get<std::vector<int64_t>>());
  if (name == "stride")
    return st.stride(arg.get<std::vector<int64_t>>());
  report.mismatch("unknown op '" + name + "'");
  return std::nullopt;
}
