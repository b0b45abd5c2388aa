//===- ReadNodes.h - The nodes that an import has read ------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace kiln::import {

/// What a node of a model's file has become.
struct ReadNode {
  enum class Kind {
    Made,     ///< ops of the graph
    Unread,   ///< ops that nothing reads, so they are gone
    Computed, ///< elements that are known since; `gives` has them, or their type
    Passed,   ///< nothing: it gives the tensor `gives`
    Call,     ///< the nodes of a function, whose names begin with the node's and a slash
    Constant, ///< no node, but a constant of the file
  };
  Kind kind;
  std::string gives;
  std::vector<std::string> outputs = {}; ///< the names of its tensors
};

/// By their names, which are those of the graph's locations.
using ReadNodes = std::map<std::string, ReadNode>;

/// A node with these results, which has made ops or passes on what others have made.
ReadNode readNode(llvm::StringRef name, mlir::ValueRange results);

/// Marks as unread the nodes that have made ops, if none of these is left in the graph.
void markUnread(mlir::ModuleOp module, ReadNodes &nodes);

} // namespace kiln::import
