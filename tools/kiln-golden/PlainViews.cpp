#include "tools/kiln-golden/PlainViews.h"

using namespace kiln;
using namespace kiln::golden;
using namespace kiln::view;

int64_t PlainView::at(int64_t position) const {
  int64_t index = offset;
  for (size_t i = shape.size(); i-- > 0; position /= shape[i]) {
    int64_t here = position % shape[i];
    if (!mask.empty() && (here < mask[i].first || here >= mask[i].second))
      return -1;
    index += here * strides[i];
  }
  return index;
}

PlainViews golden::toPlain(llvm::ArrayRef<View> views) {
  PlainViews result;
  for (const View &view : views) {
    PlainView plain;
    for (auto [size, stride] : llvm::zip(view.shape(), view.strides())) {
      plain.shape.push_back(size.constant());
      plain.strides.push_back(stride.constant());
    }
    plain.offset = view.offset().constant();
    if (std::optional<llvm::ArrayRef<Range>> mask = view.mask())
      for (Range r : *mask)
        plain.mask.push_back({r.begin.constant(), r.end.constant()});
    result.push_back(std::move(plain));
  }
  return result;
}

PlainView golden::toPlain(const Json &v) {
  PlainView plain{v.at("shape"), v.at("strides"), v.at("offset"), {}};
  if (!v.at("mask").is_null())
    plain.mask = v.at("mask").get<std::vector<std::pair<int64_t, int64_t>>>();
  return plain;
}

int64_t golden::sizeOf(const Numbers &shape) {
  int64_t size = 1;
  for (int64_t s : shape)
    size *= s;
  return size;
}

Numbers golden::indicesOf(const PlainViews &views) {
  Numbers indices(sizeOf(views.back().shape));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = int64_t(i);
    for (size_t v = views.size(); v-- > 0 && indices[i] >= 0;)
      indices[i] = views[v].at(indices[i]);
  }
  return indices;
}
