#include "ir/graph/Source.h"

#include "mlir/IR/MLIRContext.h"

using namespace kiln;
using namespace kiln::graph;
using namespace mlir;

/// A chain that names all of its nodes at each step would grow with its square.
static constexpr size_t kMostSources = 16;

static constexpr llvm::StringLiteral kFolded = "folded";

Location graph::locationOf(Source source, llvm::ArrayRef<StringAttr> folded) {
  MLIRContext *context = source.node.getContext();
  Location inside = UnknownLoc::get(context);
  if (!folded.empty()) {
    llvm::SmallVector<Location> names;
    for (StringAttr name : folded)
      names.push_back(NameLoc::get(name));
    inside = FusedLoc::get(names, StringAttr::get(context, kFolded), context);
  }
  if (source.tensor && source.tensor != source.node)
    inside = NameLoc::get(source.tensor, inside);
  return NameLoc::get(source.node, inside);
}

llvm::SmallVector<StringAttr, 1> graph::foldedOf(Location location) {
  llvm::SmallVector<StringAttr, 1> folded;
  while (auto name = dyn_cast<NameLoc>(location))
    location = name.getChildLoc();
  auto fused = dyn_cast<FusedLocWith<StringAttr>>(location);
  if (fused && fused.getMetadata() == kFolded)
    for (Location part : fused.getLocations())
      folded.push_back(cast<NameLoc>(part).getName());
  return folded;
}

llvm::SmallVector<Source, 1> graph::sourcesOf(Location location) {
  llvm::SmallVector<Source, 1> sources;
  if (auto name = dyn_cast<NameLoc>(location)) {
    auto tensor = dyn_cast<NameLoc>(name.getChildLoc());
    sources.push_back({name.getName(), tensor ? tensor.getName() : nullptr});
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      llvm::append_range(sources, graph::sourcesOf(part));
  return sources;
}

Location graph::foldLocations(Location before, Location behind) {
  auto fused = dyn_cast<FusedLoc>(before);
  if (fused && fused.getLocations().size() >= kMostSources)
    return before;
  return FusedLoc::get(before.getContext(), {before, behind});
}
