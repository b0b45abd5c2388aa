#include "passes/lower/RewriteLog.h"

#include "support/DebugStream.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

void RewriteListener::notifyOperationErased(Operation *op) {
  constants_.forget(op);
  after_.remove(op);
}

void RewriteListener::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  if (prints_)
    after_.insert(op);
}

void RewriteListener::notifyOperationModified(Operation *op) {
  if (prints_)
    after_.insert(op);
}

void RewriteListener::print(Operation *op, llvm::raw_ostream &out) {
  // Values have their current numbers in the function.
  AsmState state(func_);
  op->print(out, state);
}

void RewriteListener::notifyPatternBegin(const Pattern &, Operation *op) {
  if (!prints_)
    return;
  before_.clear();
  after_.clear();
  llvm::raw_string_ostream out(before_);
  print(op, out);
}

void RewriteListener::notifyPatternEnd(const Pattern &pattern, LogicalResult status) {
  if (!prints_ || failed(status))
    return;
  debugStream() << func_.getSymName() << ": " << set_ << "/" << pattern.getDebugName() << "\n  - " << before_ << "\n";
  for (Operation *op : after_) {
    debugStream() << "  + ";
    print(op, debugStream());
    debugStream() << "\n";
  }
}
