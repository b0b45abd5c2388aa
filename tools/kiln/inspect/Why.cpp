//===- Why.cpp - Why a node is computed where it is: --why --------------===//
//
// The question is asked in the model's words, and one word may have several meanings: a node may be computed in parts
// by several kernels or once at compile time, be a view of another node's result which no kernel computes, or be memory
// that is only read; and the name may be a kernel's. A name is looked for as a node, then as a tensor, then as a
// node that the import computed or passed over, then as a kernel, and the answer says which of these it is.
// For each part: whether it is in memory or a register, why, and who reads it.
//
//===--------------------------------------------------------------------===//
#include "Why.h"

#include "LaunchRecords.h"
#include "ir/host/Roles.h"
#include "support/Error.h"
#include "support/Nearest.h"
#include "support/Pattern.h"
#include "support/Quote.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace kiln;
using namespace kiln::driver;
using llvm::StringRef;

/// A tensor that a launch only reads is named by its kind: input 'x'.
static std::string quoted(host::TensorAttr tensor) {
  std::string name = "'" + plainText(tensor.getNode()) + "'";
  bool isNamedSo = llvm::is_contained({host::role::kInput, host::role::kWeight}, tensor.getOp());
  return isNamedSo ? tensor.getOp().str() + " " + name : name;
}

namespace {

/// The names of a model's nodes and tensors, each with the node that computes it, or the memory that it is.
class Names {
public:
  Names(mlir::ModuleOp module, const LaunchRecords &records);

  bool has(StringRef name) const {
    return tensors_.contains(name) || standIns_.contains(name) || isMadeOnce(name) || isReadOnce(name);
  }
  /// The names that `pattern` matches, in the model's order.
  llvm::SmallVector<StringRef> matching(StringRef pattern) const;
  /// The tensor of that name, or any of the node's.
  host::TensorAttr tensor(StringRef name) const { return tensors_.lookup(name); }
  /// The tensor that is computed in place of one of that name; null if there is none.
  host::TensorAttr standIn(StringRef name) const { return standIns_.lookup(name); }
  /// Whether a recipe computes or reads a node or tensor of that name.
  bool isMadeOnce(StringRef name) const { return madeOnce_.contains(name); }
  bool isReadOnce(StringRef name) const { return readOnce_.contains(name); }
  std::vector<StringRef> all() const;

private:
  void add(StringRef name, host::TensorAttr tensor) {
    if (!name.empty())
      tensors_.try_emplace(name, tensor);
  }
  llvm::MapVector<StringRef, host::TensorAttr> tensors_, standIns_;
  llvm::SetVector<StringRef> madeOnce_, readOnce_;
};

} // namespace

/// Nodes go before views of the same name, and writers before readers.
Names::Names(mlir::ModuleOp module, const LaunchRecords &records) {
  for (bool computed : {true, false})
    for (const Launch &launch : records.launches())
      for (host::TensorAttr tensor : launch.tensors)
        if (Launch::computes(tensor) == computed)
          add(tensor.getNode(), tensor);
  for (bool computed : {true, false})
    for (const Launch &launch : records.launches())
      for (host::TensorAttr tensor : launch.tensors)
        if (Launch::computes(tensor) == computed)
          for (mlir::StringAttr name : tensor.getNames())
            add(name.getValue(), tensor);
  for (const Launch &launch : records.launches())
    for (host::TensorAttr tensor : launch.tensors)
      for (mlir::StringAttr name : tensor.getFolded())
        standIns_.try_emplace(name.getValue(), tensor);
  for (auto recipe : module.getOps<mlir::ModuleOp>()) {
    LaunchRecords once(recipe);
    for (const Launch &launch : once.launches())
      for (host::TensorAttr tensor : launch.tensors) {
        (Launch::computes(tensor) ? madeOnce_ : readOnce_).insert(tensor.getNode());
        for (mlir::StringAttr name : tensor.getNames())
          madeOnce_.insert(name.getValue());
      }
  }
}

llvm::SmallVector<StringRef> Names::matching(StringRef pattern) const {
  if (has(pattern))
    return {pattern};
  llvm::SmallVector<StringRef> found;
  if (pattern.contains('*'))
    for (const auto &[name, tensor] : tensors_)
      if (Launch::computes(tensor) && name == tensor.getNode() && matchesPattern(name, pattern))
        found.push_back(name);
  return found;
}

std::vector<StringRef> Names::all() const {
  std::vector<StringRef> names;
  for (const auto &[name, tensor] : tensors_)
    names.push_back(name);
  for (const auto &[name, tensor] : standIns_)
    names.push_back(name);
  llvm::append_range(names, readOnce_);
  return names;
}

/// The other nodes that a launch computes.
static std::string companions(const Launch &launch, StringRef node) {
  llvm::SetVector<StringRef> others;
  for (host::TensorAttr tensor : launch.tensors)
    if (Launch::computes(tensor) && tensor.getNode() != node && !tensor.getNode().empty())
      others.insert(tensor.getNode());
  return others.empty() ? "" : " with '" + plainText(llvm::join(others, "', '")) + "'";
}

static std::string readersOf(const LaunchRecords &records, host::TensorAttr tensor) {
  std::string text;
  for (const Launch *launch : records.readers(tensor))
    text += (text.empty() ? "; read by " : ", ") + launch->name;
  return text;
}

/// `node` within one launch: a line for each value that it passes to others or memory and for each reduce, and one for
/// the rest.
static void printPart(const LaunchRecords &records, const Launch &launch, StringRef node, llvm::raw_ostream &out) {
  out << "  " << launch.name << companions(launch, node);
  if (!launch.branches.empty())
    out << ", in " << launch.branches;
  if (!launch.forSizes.empty())
    out << ", for " << launch.forSizes;
  out << "\n";
  std::string inner;
  for (auto [position, tensor] : llvm::enumerate(launch.tensors)) {
    if (tensor.getNode() != node || !Launch::computes(tensor))
      continue;
    bool isGiven = llvm::any_of(launch.madeOf(position), [&](host::TensorAttr made) { return made.getNode() != node; });
    if (!tensor.getMemory() && !isGiven && !tensor.getOp().starts_with("reduce")) {
      inner += (inner.empty() ? "" : ", ") + tensor.getOp().str();
      continue;
    }
    std::string why = reason(tensor);
    out << "    " << tensor.getOp() << ": " << describe(tensor.getType())
        << (tensor.getMemory() ? " in memory" : " in a register") << (why.empty() ? "" : ": ") << why << layout(tensor);
    if (tensor.getMemory())
      out << readersOf(records, tensor);
    out << "\n";
  }
  if (!inner.empty())
    out << "    " << inner << ": in registers of this kernel\n";
}

static void printNode(const LaunchRecords &records, StringRef node, llvm::raw_ostream &out) {
  std::vector<const Launch *> parts;
  for (const Launch &launch : records.launches())
    if (llvm::any_of(launch.tensors,
                     [&](host::TensorAttr tensor) { return Launch::computes(tensor) && tensor.getNode() == node; }))
      parts.push_back(&launch);
  out << "'" << plainText(node) << "': computed in " << parts.size()
      << (parts.size() == 1 ? " launch\n" : " launches\n");
  for (const Launch *launch : parts)
    printPart(records, *launch, node, out);
}

/// The computations of a kernel's launches, node by node.
static void printKernel(const LaunchRecords &records, StringRef name, llvm::raw_ostream &out) {
  for (const Launch &launch : records.launches()) {
    if (launch.kernel != name && launch.name != name)
      continue;
    llvm::SetVector<StringRef> nodes;
    for (host::TensorAttr tensor : launch.tensors)
      if (Launch::computes(tensor))
        nodes.insert(tensor.getNode());
    if (!launch.standsIn.empty())
      out << "'" << plainText(name) << "': computes " << plainText(launch.origin) << " as " << launch.standsIn
          << " does, for " << launch.forSizes << "\n";
    else if (nodes.empty())
      out << "'" << plainText(name) << "': a kernel for " << plainText(launch.origin)
          << "; nothing says which tensors it makes\n";
    for (StringRef node : nodes) {
      out << "'" << plainText(node) << "' in\n";
      printPart(records, launch, node, out);
    }
  }
}

/// The kernels that `pattern` matches, each once: of the program by their names or those of their launches, and of
/// recipes.
static llvm::SetVector<StringRef> matchingKernels(const LaunchRecords &records, const LaunchRecords &recipes,
                                                  StringRef pattern) {
  llvm::SetVector<StringRef> found;
  for (const Launch &launch : records.launches())
    if (matchesPattern(launch.kernel, pattern))
      found.insert(launch.kernel);
    else if (launch.name == pattern)
      found.insert(launch.name);
  for (const Launch &launch : recipes.launches())
    if (matchesPattern(launch.kernel, pattern))
      found.insert(launch.kernel);
  return found;
}

static void printMemory(const LaunchRecords &records, StringRef name, host::TensorAttr tensor, llvm::raw_ostream &out) {
  bool isView = name != tensor.getNode();
  out << "'" << plainText(name) << "': no kernel computes it: ";
  if (isView)
    out << "it has the elements of " << quoted(tensor) << ", ";
  else
    out << llvm::StringSwitch<StringRef>(tensor.getOp())
               .Cases({host::role::kIf, host::role::kLoop}, "it is control flow and gives ")
               .Case(host::role::kState, "it is what a loop carries, ")
               .Case(host::role::kCall, "a function of the runtime gives it, ")
               .Case(host::role::kInput, "it is an input, ")
               .Case(host::role::kWeight, "it is a weight, ")
               .Default("it is a part of what is in memory already, ");
  out << describe(tensor.getType()) << " in memory" << readersOf(records, tensor) << "\n";
}

static void printName(const LaunchRecords &records, const Names &known, StringRef name, llvm::raw_ostream &out) {
  auto begin = [&]() -> llvm::raw_ostream & { return out << "'" << plainText(name) << "': "; };
  host::TensorAttr tensor = known.tensor(name), standIn = known.standIn(name);
  bool isComputed = tensor && Launch::computes(tensor);
  if (!isComputed && known.isMadeOnce(name)) {
    begin() << "computed at compile time, from weights alone\n";
  } else if (!tensor && standIn) {
    StringRef node = standIn.getNode();
    begin() << "no kernel computes it: '" << plainText(node) << "' has taken in a constant that follows it\n";
    printNode(records, node, out);
  } else if (!tensor) {
    begin() << "no kernel reads it: it is a weight that is read at compile time\n";
  } else if (!isComputed) {
    printMemory(records, name, tensor, out);
  } else {
    if (name != tensor.getNode())
      begin() << "its elements are what '" << plainText(tensor.getNode()) << "' computes\n";
    printNode(records, tensor.getNode(), out);
  }
}

/// The node of that name, or the one that gives the tensor of that name; end if the file has neither.
static import::ReadNodes::const_iterator findRead(const import::ReadNodes &read, const std::string &name) {
  auto found = read.find(name);
  return found != read.end()
             ? found
             : llvm::find_if(read, [&](const auto &node) { return llvm::is_contained(node.second.outputs, name); });
}

/// What the import made of a node or constant.
static std::string fateOf(StringRef name, const import::ReadNode &node) {
  switch (node.kind) {
  case import::ReadNode::Kind::Made:
    return "no kernel computes it: other nodes have taken it in, or nothing that is left reads it";
  case import::ReadNode::Kind::Unread:
    return "no kernel computes it: nothing reads what it gives";
  case import::ReadNode::Kind::Computed:
    return "no kernel computes it: it was computed when the model was read, and is " + plainText(node.gives);
  case import::ReadNode::Kind::Passed:
    return "no kernel computes it: it gives what '" + plainText(node.gives) + "' is";
  case import::ReadNode::Kind::Call:
    return "it is a call of a function; the names of its nodes begin with '" + plainText(name) + "/'";
  case import::ReadNode::Kind::Constant:
    return "no kernel reads it: it is a constant that was read with the model";
  }
  llvm_unreachable("all kinds are above");
}

/// A line for a node that the import left no trace of under its name, and what is known of the tensors that it gives;
/// false if the model's file has none of this name.
static bool printRead(const LaunchRecords &records, const Names &known, const import::ReadNodes &read,
                      const std::string &name, llvm::raw_ostream &out) {
  auto found = findRead(read, name);
  if (found == read.end())
    return false;
  const auto &[node, fate] = *found;
  out << "'" << plainText(name) << "': ";
  if (name != node)
    out << "'" << plainText(node) << "' gives it: ";
  out << fateOf(node, fate) << "\n";
  std::vector<std::string> related = fate.outputs;
  if (fate.kind == import::ReadNode::Kind::Passed)
    related = {fate.gives};
  for (const std::string &one : related)
    if (one != name && known.has(one))
      printName(records, known, one, out);
  return true;
}

/// The names of those nodes that the import left no trace of, and that a pattern matches.
static std::vector<std::string> matchingRead(const Names &known, const import::ReadNodes &read, StringRef pattern) {
  std::vector<std::string> found;
  if (pattern.contains('*'))
    for (const auto &[node, fate] : read)
      if (fate.kind != import::ReadNode::Kind::Constant && !known.has(node) && matchesPattern(node, pattern))
        found.push_back(node);
  return found;
}

llvm::Error driver::printWhy(mlir::ModuleOp module, StringRef model, const import::ReadNodes &read,
                             llvm::ArrayRef<std::string> names, llvm::raw_ostream &out) {
  LaunchRecords records(module);
  LaunchRecords recipes = LaunchRecords::ofRecipes(module);
  Names known(module, records);
  if (known.all().empty() && read.empty())
    return failure(model + ": --why: no launch says what it computes", "ask of the model's file");
  for (const std::string &name : names) {
    llvm::SmallVector<StringRef> found = known.matching(name);
    for (StringRef one : found)
      printName(records, known, one, out);
    std::vector<std::string> gone = matchingRead(known, read, name);
    for (const std::string &one : gone)
      printRead(records, known, read, one, out);
    if (!found.empty() || !gone.empty() || printRead(records, known, read, name, out))
      continue;
    llvm::SetVector<StringRef> kernels = matchingKernels(records, recipes, name);
    for (StringRef kernel : kernels) {
      printKernel(records, kernel, out);
      for (const Launch &launch : recipes.launches())
        if (launch.kernel == kernel)
          out << "'" << plainText(kernel) << "': runs at compile time, for " << plainText(launch.origin) << "\n";
    }
    if (!kernels.empty() || printRecipes(module, name, out))
      continue;
    std::vector<StringRef> all = known.all();
    for (const Launch &launch : records.launches())
      all.push_back(launch.kernel);
    for (const auto &[node, fate] : read) {
      all.push_back(node);
      llvm::append_range(all, fate.outputs);
    }
    return failure(model + ": --why " + name + ": no node, tensor or kernel has this name",
                   didYouMean(name, all,
                              read.empty() ? "a dump keeps no names of nodes that were computed when the model "
                                             "was read; ask of the model's file"
                                           : "--stats lists kernels, and the nodes that are left in them"));
  }
  return llvm::Error::success();
}
