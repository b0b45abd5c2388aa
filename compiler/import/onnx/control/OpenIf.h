//===- OpenIf.h - An If whose branches still take in nodes -------------------===//
//
// The branches of an If may give a name other ranks, dtypes or known elements, as in `if x.shape[1] == 1: x =
// x.squeeze(1)`. A tensor of the graph has one rank. So the nodes that read such a name are imported once for each way,
// into its branch, until ranks and dtypes agree again (NodeList.h), and only then the If becomes an op. An If among
// these nodes splits the way that it is in: the ways are a tree, and its leaves are the versions of what follows.
//
// A branch that does not fit the sizes given is a way, too. A run that takes it ends with the error's text.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Scope.h"

#include "mlir/IR/Region.h"

namespace kiln::import::onnx {

class Importer;

class OpenIf {
public:
  struct Way {
    /// Of one block without a terminator. It belongs to no op yet.
    std::unique_ptr<mlir::Region> region = std::make_unique<mlir::Region>();
    /// The names that the way gives; it sees those around the If.
    std::unique_ptr<Scope> scope;
    /// Another open If, at the end of the region, or null.
    std::unique_ptr<OpenIf> inner;
    /// Why a run cannot go this way; "" if it can.
    std::string fault;
  };

  /// `node` names the If in errors; `condition` is one bool, and `scalar` the same as a scalar. Both ways are empty.
  OpenIf(Importer &importer, std::string node, mlir::Location location, Tensor condition, mlir::Value scalar);

  Way &then() { return ways_[0]; }
  Way &otherwise() { return ways_[1]; }

  /// Calls `visit` for each version, the insertion point at its end, and the If that it is a way of. The first failure
  /// ends it.
  llvm::Error forEach(llvm::function_ref<llvm::Error(OpenIf &, Way &)> visit);
  /// The versions that a run can take, those of the then branch first.
  llvm::SmallVector<const Way *> versions() const;
  /// The Ifs of the tree, by the names of their nodes.
  void collectNodes(llvm::SmallVectorImpl<std::string> &nodes) const;

  /// Whether the versions give the name other ranks, dtypes or numbers of known elements.
  bool differs(llvm::StringRef name) const;
  /// Whether the elements of the name are known in each version and differ.
  bool differsInElements(llvm::StringRef name) const;

  /// Ends the scope of a graph or a function: each version has its results `from` by the names `to` instead, in scopes
  /// within `outer`. An empty name is left out. Fails if a result is undefined.
  llvm::Error leaveScope(Scope &outer, llvm::ArrayRef<std::string> from, llvm::ArrayRef<std::string> to);

  /// A scope within `outer` for names of the way, in which the condition is known.
  std::unique_ptr<Scope> scopeOf(const Way &way, Scope &outer) const;

  /// Makes the op at the insertion point and returns what it gives these names. `prefix` is put before the names of new
  /// symbols. Fails if versions give a name other ranks or dtypes.
  llvm::Expected<llvm::SmallVector<Tensor>> close(llvm::ArrayRef<std::string> names, llvm::StringRef prefix);

  /// The same, and defines those of the names that the scope does not know.
  llvm::Error closeInto(Scope &scope, llvm::ArrayRef<std::string> names);

  /// Makes a way one that a run cannot take, and drops its ops. A warning says so.
  void drop(Way &way, std::string fault);
  /// Drops each way whose versions are all dropped. Returns why a run cannot take any; "" if it can.
  std::string prune();

  /// leaveScope of one way.
  llvm::Error leaveScope(Way &way, Scope &outer, llvm::ArrayRef<std::string> from, llvm::ArrayRef<std::string> to);

private:
  Importer &importer_;
  std::string node_;
  mlir::Location location_;
  Tensor condition_;
  mlir::Value scalar_;
  size_t symbolsBefore_; ///< those that the ways do not bind
  Way ways_[2];
};

} // namespace kiln::import::onnx
