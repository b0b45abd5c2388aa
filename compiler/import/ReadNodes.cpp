#include "import/ReadNodes.h"

#include "ir/graph/Source.h"

#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::import;

/// The name of the tensor that a value is; "" if it has none.
static std::string nameOf(mlir::Value value) {
  auto sources = graph::sourcesOf(value.getLoc());
  if (sources.empty())
    return "";
  graph::Source last = sources.back();
  return (last.tensor ? last.tensor : last.node).str();
}

ReadNode import::readNode(llvm::StringRef name, mlir::ValueRange results) {
  bool isMade = llvm::any_of(results, [&](mlir::Value result) {
    auto sources = graph::sourcesOf(result.getLoc());
    return sources.empty() || sources.back().node == name;
  });
  if (isMade || results.empty())
    return {ReadNode::Kind::Made, ""};
  return {ReadNode::Kind::Passed, nameOf(results.front())};
}

void import::markUnread(mlir::ModuleOp module, ReadNodes &nodes) {
  llvm::StringSet<> left;
  module.walk([&](mlir::Operation *op) {
    for (const graph::Source &source : graph::sourcesOf(op->getLoc()))
      left.insert(source.node.getValue());
  });
  for (auto &[name, node] : nodes)
    if (node.kind == ReadNode::Kind::Made && !left.contains(name))
      node.kind = ReadNode::Kind::Unread;
}
