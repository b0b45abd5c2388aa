//===- GraphDrawing.cpp - The tensor graph, kernels around their nodes: --graph -===//
//
// People know their model by its nodes, and kernels cut it otherwise: one node may be computed in parts by several
// launches, and one launch computes parts of several nodes. So a node is drawn once in each launch that has a part of
// it, inside a box around that launch. An edge between boxes is a tensor in memory and shows its shape and bytes, which
// cost a run its time; an edge within a box is a value that stays in the kernel. The scheduler recorded the computation
// of each launch: see schedule/Record.h.
//
//===---------------------------------------------------------------------------===//
#include "GraphDrawing.h"

#include "LaunchRecords.h"
#include "ir/host/Roles.h"
#include "package/OutputFile.h"
#include "package/Spawn.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace kiln;
using namespace kiln::driver;
using llvm::StringRef;

/// "float32 [3, 4], 48 bytes", on two lines.
static std::string label(mlir::RankedTensorType type) {
  std::string text = describe(type);
  size_t at = text.rfind("], ");
  return text.replace(at + 1, 2, "\n");
}

namespace {

class Drawing {
public:
  Drawing(mlir::ModuleOp module, llvm::raw_ostream &out) : records_(module), out_(out) {
    for (auto program : module.getOps<host::ProgramOp>())
      for (auto port : program.getOutputs().getAsRange<host::PortAttr>())
        outputs_.insert(port.getName());
  }
  void draw(StringRef name);

private:
  /// A source node within a launch.
  struct Node {
    std::string id;
    llvm::SetVector<StringRef> ops;
  };
  using Nodes = llvm::MapVector<StringRef, Node>;

  void drawLaunch(size_t number, const Launch &launch);
  void drawMemory(host::TensorAttr tensor);
  void drawEdges(const Launch &launch, Nodes &nodes);
  /// The node that a memory's readers are joined to.
  std::string sourceOf(host::TensorAttr tensor);
  StringRef keyOf(host::TensorAttr tensor) { return tensor.getNode().empty() ? tensor.getOp() : tensor.getNode(); }
  void edge(StringRef from, StringRef to, const std::string &attributes);

  LaunchRecords records_;
  llvm::raw_ostream &out_;
  llvm::StringSet<> outputs_;
  std::vector<Nodes> launches_;
  llvm::DenseMap<int64_t, std::string> writers_; ///< memory → the id of the node that writes it
  llvm::SetVector<int64_t> memories_;            ///< no launch writes them; drawn so far
  llvm::StringSet<> edges_;
  unsigned count_ = 0;
};

} // namespace

void Drawing::edge(StringRef from, StringRef to, const std::string &attributes) {
  std::string text = (from + " -> " + to + " [" + attributes + "]").str();
  if (from != to && edges_.insert(text).second)
    out_ << "  " << text << ";\n";
}

void Drawing::drawLaunch(size_t number, const Launch &launch) {
  Nodes &nodes = launches_.emplace_back();
  for (host::TensorAttr tensor : launch.tensors) {
    if (!Launch::computes(tensor))
      continue;
    Node &node = nodes[keyOf(tensor)];
    if (node.id.empty())
      node.id = "n" + std::to_string(++count_);
    node.ops.insert(tensor.getOp());
    if (tensor.getMemory())
      writers_[tensor.getMemory()] = node.id;
  }
  out_ << "  subgraph cluster_" << number << " {\n    label = " << dotString(launch.name) << ";\n";
  for (const auto &[name, node] : nodes)
    out_ << "    " << node.id << " [label = " << dotString((name + "\n" + llvm::join(node.ops, ", ")).str()) << "];\n";
  out_ << "  }\n";
}

void Drawing::drawMemory(host::TensorAttr tensor) {
  if (writers_.contains(tensor.getMemory()) || !memories_.insert(tensor.getMemory()))
    return;
  StringRef name = keyOf(tensor), op = tensor.getOp();
  bool isWeight = op == host::role::kWeight;
  std::string text = isWeight || op == host::role::kInput ? name.str() : (name + "\n" + op).str();
  out_ << "  m" << tensor.getMemory() << " [shape = " << (isWeight ? "cylinder" : "ellipse")
       << ", label = " << dotString(text) << "];\n";
}

std::string Drawing::sourceOf(host::TensorAttr tensor) {
  auto writer = writers_.find(tensor.getMemory());
  return writer == writers_.end() ? "m" + std::to_string(tensor.getMemory()) : writer->second;
}

void Drawing::drawEdges(const Launch &launch, Nodes &nodes) {
  for (auto [position, tensor] : llvm::enumerate(launch.tensors)) {
    bool isHere = Launch::computes(tensor);
    for (host::TensorAttr made : launch.madeOf(position)) {
      const std::string &to = nodes[keyOf(made)].id;
      if (isHere)
        edge(nodes[keyOf(tensor)].id, to, "color = dimgray");
      else
        edge(sourceOf(tensor), to, "label = " + dotString(label(tensor.getType())));
    }
    if (!isHere || !tensor.getMemory())
      continue;
    auto isOutput = [&](StringRef name) { return outputs_.contains(name); };
    std::string output;
    if (isOutput(tensor.getNode()))
      output = tensor.getNode();
    for (mlir::StringAttr name : tensor.getNames())
      if (isOutput(name.getValue()))
        output = name.getValue();
    bool leaves = tensor.getPlacement() && tensor.getPlacement().getReason() == host::Reason::Output;
    if (!leaves || output.empty())
      continue;
    std::string id = "o" + std::to_string(tensor.getMemory());
    out_ << "  " << id << " [shape = ellipse, label = " << dotString(output) << "];\n";
    edge(nodes[keyOf(tensor)].id, id, "label = " + dotString(label(tensor.getType())));
  }
}

void Drawing::draw(StringRef name) {
  out_ << "digraph " << dotString(name) << " {\n"
       << "  graph [fontname = \"sans-serif\", style = filled, color = lightgray];\n"
       << "  node [fontname = \"sans-serif\", shape = box, style = filled, fillcolor = white];\n"
       << "  edge [fontname = \"sans-serif\", fontsize = 10];\n";
  for (auto [number, launch] : llvm::enumerate(records_.launches()))
    drawLaunch(number, launch);
  for (const Launch &launch : records_.launches())
    for (host::TensorAttr tensor : launch.tensors)
      if (!Launch::computes(tensor))
        drawMemory(tensor);
  for (auto [launch, nodes] : llvm::zip(records_.launches(), launches_))
    drawEdges(launch, nodes);
  out_ << "}\n";
}

void driver::writeDot(mlir::ModuleOp module, StringRef name, llvm::raw_ostream &out) {
  Drawing(module, out).draw(name);
}

static bool isSvg(StringRef path) { return path.ends_with(".svg"); }

llvm::Error driver::checkGraphPath(StringRef path) {
  if (isSvg(path) || path.ends_with(".dot") || path.ends_with(".gv"))
    return llvm::Error::success();
  return usageError("--graph " + path + ": no such kind of drawing", "end the name in .dot or .svg");
}

llvm::Error driver::drawGraph(mlir::ModuleOp module, StringRef name, StringRef path, package::Outputs &outputs) {
  auto write = [&](llvm::raw_ostream &out) {
    writeDot(module, name, out);
    return llvm::Error::success();
  };
  if (!isSvg(path))
    return outputs.write(path, write);
  if (!llvm::sys::findProgramByName("dot"))
    return failure(path + ": cannot be drawn: there is no program 'dot' in PATH",
                   "install graphviz, or give --graph a name that ends in .dot");
  llvm::Expected<package::StagedFile *> drawing = outputs.add(path);
  if (!drawing)
    return drawing.takeError();
  if (llvm::Error error = (*drawing)->fillPart("graph.dot", write))
    return error;
  // Written by kiln, which can say why it cannot be.
  llvm::SmallString<0> svg;
  if (llvm::Error error =
          package::spawn("dot", {"-Tsvg", "graph.dot"}, {.file = **drawing, .doWhat = "be drawn", .output = &svg}))
    return error;
  auto writeSvg = [&](llvm::raw_ostream &out) {
    out << svg;
    return llvm::Error::success();
  };
  return (*drawing)->fill(writeSvg);
}
