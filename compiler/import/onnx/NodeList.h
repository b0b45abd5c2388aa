//===- NodeList.h - The nodes of one graph or function --------------------------===//
//
// Nodes are imported in order. If a node leaves an If open (control/OpenIf.h), the rest is of three kinds. A node that
// reads a name in which the versions differ is imported into each version. A node that reads only what all versions
// give alike waits until the If is closed. Every other node comes before the If. A node that waits is imported into
// the versions after all if a node of the first kind turns out to need it. When nobody needs a name of the first kind
// any more, the If is closed, and the nodes that wait come after it. So a Squeeze under an If that an Unsqueeze
// undoes leaves two versions of what is between them, and one of the rest.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "import/onnx/control/OpenIf.h"

#include "llvm/ADT/StringSet.h"

#include <deque>

namespace kiln::import::onnx {

class NodeList {
public:
  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

  /// `wanted` are the names that the graph or function gives. `isMain`: it is the model's own graph. All arguments must
  /// live as long as the list.
  NodeList(Importer &importer, const Nodes &nodes, Scope &scope, llvm::ArrayRef<std::string> wanted, bool isMain)
      : importer_(importer), nodes_(nodes), scope_(scope), wanted_(wanted), isMain_(isMain) {}

  /// Imports the nodes at the insertion point, in the order in which they can be computed. Returns the If that is open
  /// after the last node, or null. The If's versions give a wanted name other ranks or dtypes. In the model's own graph
  /// no If stays open.
  llvm::Expected<std::unique_ptr<OpenIf>> import();

private:
  enum class Difference { None, Elements, Type };

  llvm::Error order();
  /// Imports one node at the insertion point. The error begins with its name.
  llvm::Expected<std::unique_ptr<OpenIf>> importNode(unsigned node, Scope &scope);
  llvm::Error importOutside(unsigned node);
  /// Imports a node, and before it those that it needs and that wait, into the versions.
  llvm::Error importIntoVersions(unsigned node);
  /// The same for one node.
  llvm::Error importIntoEach(unsigned node);
  /// Looks at what the versions give the node's outputs.
  llvm::Error compare(unsigned node);
  /// Whether a node after this one reads a name in which the versions differ, or a graph or function gives it to one.
  bool isNeeded(unsigned node) const;
  /// Makes the open If an op. Nodes that wait are the next to do.
  llvm::Error close();

  Importer &importer_;
  const Nodes &nodes_;
  Scope &scope_;
  llvm::ArrayRef<std::string> wanted_;
  bool isMain_;

  std::deque<unsigned> todo_;            ///< nodes, by their rank
  std::vector<size_t> rank_;             ///< of each node: its place in the order at the start
  std::vector<llvm::StringSet<>> reads_; ///< by each node
  llvm::StringMap<size_t> lastRead_;     ///< of a name, the rank of the last node that reads it

  std::unique_ptr<OpenIf> open_;
  llvm::StringSet<> given_; ///< names that the versions give
  llvm::StringMap<Difference> differing_;
  std::vector<unsigned> waiting_; ///< nodes, by their rank
  llvm::StringSet<> awaited_;     ///< names that these give
};

} // namespace kiln::import::onnx
