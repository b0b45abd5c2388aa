//===- OutputRanks.cpp - Outputs of the model whose rank a run decides --------===//
//
// When no node needs a name any more in which the versions of an If differ, an output of the model may still have
// different ranks. A port of the program has one tensor, so each version gives it the largest rank, by axes of size 1
// after its own, and its own rank as a number. That number becomes a symbol, which the host binds when the version has
// run (ir/base/OutputRank.h).
//
//===------------------------------------------------------------------------===//
#include "import/onnx/Importer.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;

/// The largest rank of the name in the versions; nullopt if all have one, or if their dtypes differ.
static std::optional<int64_t> commonRank(const OpenIf &open, llvm::StringRef name, int64_t &least) {
  int64_t most = 0;
  mlir::Type element;
  least = INT64_MAX;
  for (const OpenIf::Way *version : open.versions()) {
    const Tensor *given = version->scope->find(name);
    if (!given || !*given || isContainer(given->element()) || (element && element != given->element()))
      return std::nullopt;
    element = given->element();
    most = std::max(most, given->type.getRank());
    least = std::min(least, given->type.getRank());
  }
  return least == most ? std::nullopt : std::optional(most);
}

llvm::Error Importer::closeWithRanks(OpenIf &open, llvm::ArrayRef<std::string> names, Scope &scope) {
  // A line break keeps the new names apart from the model's.
  llvm::SmallVector<std::string> from, to;
  llvm::SmallVector<std::pair<std::string, SymbolBounds>> ranks;
  for (const std::string &name : names) {
    int64_t least;
    std::optional<int64_t> most = commonRank(open, name, least);
    to.push_back(name);
    from.push_back(most ? name + "\nin the largest rank" : name);
    if (!most)
      continue;
    ranks.push_back({name, {least, *most, *most}});
    to.push_back(name + "\nrank");
    from.push_back(to.back());
    llvm::Error error = open.forEach([&](OpenIf &, OpenIf::Way &version) -> llvm::Error {
      Tensor given = *version.scope->find(name);
      TensorBuilder b(builder_, mlir::NameLoc::get(builder_.getStringAttr(name)), commonSizes_);
      Shape shape = given.shape();
      int64_t rank = shape.size();
      shape.append(*most - rank, Expr(1));
      mlir::Value value = materialize(given, *version.scope, b, /*isNamed=*/false);
      version.scope->define(name + "\nin the largest rank", Tensor(b.reshape(value, shape)));
      version.scope->define(name + "\nrank", Tensor(b.int64(), {}, {Expr(rank)}));
      return b.takeError();
    });
    if (error)
      return error;
  }
  if (llvm::Error error = open.leaveScope(scope, from, to))
    return error;
  if (llvm::Error error = open.closeInto(scope, to))
    return error;
  for (const auto &[name, bounds] : ranks) {
    TensorBuilder b(builder_, mlir::NameLoc::get(builder_.getStringAttr(name)), commonSizes_);
    mlir::Value rank = materialize(*scope.find(name + "\nrank"), scope, b, /*isNamed=*/false);
    ranks_[name] = bind(name + ".rank", rank, b, bounds);
  }
  return llvm::Error::success();
}
