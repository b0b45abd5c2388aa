#include "passes/optimize/choose/Trial.h"

#include "passes/optimize/ApplyOpts.h"
#include "passes/optimize/StageValue.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using kiln::optimize::Trial;

Trial::Trial(const Trial &other) : target_(other.target_), opts_(other.opts_), fault_(other.fault_) {
  IRMapping copies;
  func_ = cast<FuncOp>(other.func_.get()->clone(copies));
  for (auto [original, copy] : other.mapping_.getValueMap())
    mapping_.map(original, copies.lookup(copy));
}

Trial &Trial::operator=(Trial other) {
  std::swap(mapping_, other.mapping_);
  std::swap(func_, other.func_);
  std::swap(target_, other.target_);
  std::swap(opts_, other.opts_);
  std::swap(fault_, other.fault_);
  return *this;
}

void Trial::apply(OptAttr opt) {
  if (!fits())
    return;
  if (llvm::Error error = applyOpt(*func_, opt, target_))
    fault_ = llvm::toString(std::move(error));
  else
    opts_.push_back(opt);
}

void Trial::apply(OptKind kind, int64_t axis, int64_t amount, bool isValue) {
  apply(OptAttr::get(func_->getContext(), kind, axis, amount, isValue));
}

int64_t Trial::split(OptKind kind, int64_t axis, int64_t amount) {
  int64_t inner = freshAxis(*func_);
  apply(kind, axis, amount);
  return inner;
}

StageOp Trial::hold(Value value, int64_t axis) {
  apply(OptKind::STAGE, axis, numberOf(*func_, value), /*isValue=*/true);
  for (Operation *user : value.getUsers())
    if (auto stage = dyn_cast<StageOp>(user))
      return stage;
  return nullptr;
}

SmallVector<int64_t> optimize::axesAlong(StageOp stage, size_t axis) {
  llvm::DenseSet<int64_t> along = kernel::axesOf(stage.getIndex().getSizes()[axis]);
  SmallVector<int64_t> ids;
  for (AxisAttr own : stage.getLoopAxes())
    if (along.contains(own.getId()))
      ids.push_back(own.getId());
  return ids;
}
