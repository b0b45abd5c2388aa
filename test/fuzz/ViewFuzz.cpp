//===- ViewFuzz.cpp - Expressions and trackers from arbitrary text --------===//
//
// Whatever parses must print, read back as the same thing and answer every question without a crash. Run it with
// -close_fd_mask=0 -max_len=256; the corpus needs no seed.
//
//===----------------------------------------------------------------------===//
#include "view/ShapeTracker.h"

#include <cstdlib>

using namespace kiln::view;

static void require(bool holds) {
  if (!holds)
    abort();
}

static void readExpr(llvm::StringRef text) {
  llvm::Expected<Expr> e = Expr::parse(text);
  if (!e)
    return llvm::consumeError(e.takeError());
  e->render();
  // Distribution stops at a size, so what is huge need not come back in the same form.
  llvm::Expected<Expr> again = Expr::parse(e->print());
  require(bool(again) || e->weight() > 200);
  if (again)
    require(again->print() == e->print() || e->weight() > 200);
  else
    llvm::consumeError(again.takeError());
}

static void readTracker(llvm::StringRef text) {
  llvm::Expected<ShapeTracker> st = ShapeTracker::parse(text);
  if (!st)
    return llvm::consumeError(st.takeError());
  if (llvm::any_of(st->views(), [](const View &v) { return v.shape().size() > 8; }) || st->views().size() > 4)
    return;
  st->render();
  st->at();
  st->realStrides();
  ShapeTracker simple = st->simplify();
  require(simple.views().size() <= st->views().size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data) + 1, size - 1);
  data[0] % 2 ? readExpr(text) : readTracker(text);
  return 0;
}
