#include "ir/graph/Source.h"

#include "mlir/IR/MLIRContext.h"

using namespace kiln;
using namespace kiln::graph;
using namespace mlir;

/// A chain that names all of its nodes at each step would grow with its square.
static constexpr size_t kMostSources = 16;

Location graph::locationOf(Source source) {
  if (!source.tensor || source.tensor == source.node)
    return NameLoc::get(source.node);
  return NameLoc::get(source.node, NameLoc::get(source.tensor));
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
