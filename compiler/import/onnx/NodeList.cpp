#include "import/onnx/NodeList.h"

#include "import/onnx/Compute.h"
#include "import/onnx/Importer.h"
#include "import/onnx/file/TopologicalOrder.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace kiln;
using namespace kiln::import::onnx;
using llvm::Twine;

/// Functions that call functions multiply, as do loops in loops while their bodies are tried; a file of a few kilobytes
/// can ask for more nodes than there are atoms.
static constexpr size_t kMostNodes = 1'000'000;
/// Of graphs in nodes and of calls: each is a few frames on the stack.
static constexpr size_t kMostDepth = 200;
/// The most nodes that an error names around its own.
static constexpr size_t kMostOuter = 3;
/// The most versions of what follows Ifs: each is imported and compiled.
static constexpr size_t kMostVersions = 16;
/// The most Ifs that an error about versions names.
static constexpr size_t kMostNamed = 4;

llvm::Error NodeList::order() {
  llvm::Expected<llvm::SmallVector<unsigned>> order = topologicalOrder(nodes_);
  if (!order)
    return importer_.fatal(order.takeError());
  todo_.assign(order->begin(), order->end());
  rank_.resize(nodes_.size());
  reads_.resize(nodes_.size());
  for (auto [rank, node] : llvm::enumerate(todo_)) {
    rank_[node] = rank;
    collectReads(nodes_[node], reads_[node]);
    for (const auto &name : reads_[node])
      lastRead_[name.first()] = rank;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<OpenIf>> NodeList::import() {
  llvm::SaveAndRestore deeper(importer_.depth_, importer_.depth_ + 1);
  if (importer_.depth_ > kMostDepth)
    return importer_.fatal(failure("graphs and calls nest over " + Twine(kMostDepth) + " deep", "nest them less"));
  if (llvm::Error error = order())
    return error;
  while (!todo_.empty()) {
    unsigned node = todo_.front();
    todo_.pop_front();
    auto readsOneOf = [&](const auto &names) {
      return llvm::any_of(reads_[node], [&](const auto &name) { return names.contains(name.first()); });
    };
    if (open_ && readsOneOf(differing_)) {
      if (llvm::Error error = importIntoVersions(node))
        return error;
    } else if (open_ && (readsOneOf(given_) || readsOneOf(awaited_))) {
      waiting_.push_back(node);
      awaited_.insert(nodes_[node].output().begin(), nodes_[node].output().end());
    } else if (llvm::Error error = importOutside(node)) {
      return error;
    }
    if (open_ && !isNeeded(node))
      if (llvm::Error error = close())
        return error;
  }
  // Whoever reads the list's names finds them in each version.
  while (!waiting_.empty())
    if (llvm::Error error = importIntoVersions(waiting_.back()))
      return error;
  return std::move(open_);
}

bool NodeList::isNeeded(unsigned node) const {
  return llvm::any_of(differing_, [&](const auto &entry) {
    auto last = lastRead_.find(entry.first());
    return (last != lastRead_.end() && last->second > rank_[node]) ||
           (!isMain_ && entry.second == Difference::Type && llvm::is_contained(wanted_, entry.first()));
  });
}

//===----------------------------------------------------------------------===//
// One node
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<OpenIf>> NodeList::importNode(unsigned node, Scope &scope) {
  const ::onnx::NodeProto &proto = nodes_[node];
  if (++importer_.numNodes_ > kMostNodes)
    return importer_.fatal(failure(
        "the model has over " + Twine(kMostNodes) + " nodes, its functions and loops unfolded", "nest them less"));
  std::string name = proto.name().empty() ? proto.op_type() + "_" + std::to_string(node) : proto.name();
  llvm::Expected<std::unique_ptr<OpenIf>> open = importer_.importNode(proto, scope.prefix() + name, scope);
  if (open)
    return open;
  std::string text = llvm::toString(open.takeError());
  // In many nested calls the outermost and the innermost tell the place.
  if (importer_.depth_ > kMostOuter && llvm::StringRef(text).starts_with("node "))
    return failure(importer_.depth_ == kMostOuter + 1 ? "... " + text : text);
  return failure(nodeName(proto, node) + ": " + text);
}

llvm::Error NodeList::importOutside(unsigned node) {
  NodeOps ops(importer_);
  llvm::Expected<std::unique_ptr<OpenIf>> open = importNode(node, scope_);
  if (!open)
    return open.takeError();
  if (!*open)
    return llvm::Error::success();
  if (open_) {
    // Nodes that follow may read names of both, so the second If is one of each version of the first.
    open->reset();
    scope_.forgetMade();
    ops.undo();
    return importIntoVersions(node);
  }
  open_ = std::move(*open);
  return compare(node);
}

llvm::Error NodeList::importIntoVersions(unsigned node) {
  llvm::StringSet<> needed = reads_[node];
  llvm::SmallVector<unsigned> nodes{node};
  for (unsigned other : llvm::reverse(waiting_))
    if (llvm::any_of(nodes_[other].output(), [&](const std::string &output) { return needed.contains(output); })) {
      nodes.push_back(other);
      for (const auto &name : reads_[other])
        needed.insert(name.first());
    }
  for (unsigned each : llvm::reverse(nodes)) {
    if (llvm::Error error = importIntoEach(each))
      return error;
    llvm::erase(waiting_, each);
    for (const std::string &output : nodes_[each].output())
      awaited_.erase(output);
  }
  return llvm::Error::success();
}

llvm::Error NodeList::importIntoEach(unsigned node) {
  llvm::Error failed = open_->forEach([&](OpenIf &within, OpenIf::Way &version) -> llvm::Error {
    llvm::Expected<std::unique_ptr<OpenIf>> inner = importNode(node, *version.scope);
    if (inner)
      version.inner = std::move(*inner);
    else if (importer_.isFatal())
      return inner.takeError();
    else
      within.drop(version, llvm::toString(inner.takeError()));
    return llvm::Error::success();
  });
  if (failed)
    return failed;
  if (std::string fault = open_->prune(); !fault.empty())
    return failure(fault);
  return compare(node);
}

llvm::Error NodeList::compare(unsigned node) {
  for (const std::string &output : nodes_[node].output()) {
    if (output.empty())
      continue;
    given_.insert(output);
    if (open_->differs(output))
      differing_[output] = Difference::Type;
    else if (open_->differsInElements(output))
      differing_[output] = Difference::Elements;
  }
  size_t versions = open_->versions().size();
  if (versions <= kMostVersions)
    return llvm::Error::success();
  llvm::SmallVector<std::string> names;
  open_->collectNodes(names);
  size_t more = names.size() - std::min(names.size(), kMostNamed);
  names.truncate(names.size() - more);
  return importer_.fatal(
      failure("the branches of " + llvm::join(names, ", ") + (more ? " and " + std::to_string(more) + " more" : "") +
                  " differ in rank or dtype, which makes over " + Twine(kMostVersions) + " versions of what follows",
              "decide a condition at import, as --dim does if it follows from sizes"));
}

llvm::Error NodeList::close() {
  llvm::StringSet<> read;
  for (const auto &nodes : {llvm::to_vector(todo_), llvm::to_vector(waiting_)})
    for (unsigned node : nodes)
      for (const auto &name : reads_[node])
        read.insert(name.first());
  llvm::SmallVector<std::string> names;
  for (const ::onnx::NodeProto &node : nodes_)
    for (const std::string &name : node.output())
      if (given_.contains(name) && (read.contains(name) || llvm::is_contained(wanted_, name)))
        names.push_back(name);
  if (llvm::Error error = isMain_ ? importer_.closeWithRanks(*open_, names, scope_) : open_->closeInto(scope_, names))
    return error;
  open_.reset();
  given_.clear();
  differing_.clear();
  awaited_.clear();
  todo_.insert(todo_.begin(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  return llvm::Error::success();
}
