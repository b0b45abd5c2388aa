#include "import/onnx/file/TopologicalOrder.h"

#include "import/onnx/file/ModelFile.h"
#include "support/Error.h"
#include "support/Quote.h"

#include <queue>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The names that a graph reads from around it.
static void collectOuterReads(const ::onnx::GraphProto &graph, llvm::StringSet<> &reads) {
  llvm::StringSet<> inner, own;
  for (const ::onnx::NodeProto &node : graph.node()) {
    collectReads(node, inner);
    for (const std::string &output : node.output())
      own.insert(output);
  }
  for (const ::onnx::ValueInfoProto &output : graph.output())
    inner.insert(output.name());
  for (const ::onnx::ValueInfoProto &input : graph.input())
    own.insert(input.name());
  for (const ::onnx::TensorProto &initializer : graph.initializer())
    own.insert(initializer.name());
  for (const auto &name : inner)
    if (!own.contains(name.first()))
      reads.insert(name.first());
}

void kiln::import::onnx::collectReads(const ::onnx::NodeProto &node, llvm::StringSet<> &reads) {
  for (const std::string &input : node.input())
    reads.insert(input);
  for (const ::onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      collectOuterReads(attribute.g(), reads);
    for (const ::onnx::GraphProto &graph : attribute.graphs())
      collectOuterReads(graph, reads);
  }
}

std::string kiln::import::onnx::operatorName(const ::onnx::NodeProto &node) {
  bool isOwn = node.domain().empty() || node.domain() == "ai.onnx";
  return shortName(isOwn ? node.op_type() : node.domain() + ":" + node.op_type());
}

std::string kiln::import::onnx::nodeName(const ::onnx::NodeProto &node, unsigned index) {
  std::string name = node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
  return "node " + quoted(name) + " (" + operatorName(node) + ")";
}

llvm::Expected<llvm::SmallVector<unsigned>> kiln::import::onnx::topologicalOrder(const Nodes &nodes) {
  llvm::StringMap<unsigned> makers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty() && !makers.try_emplace(output, i).second)
        return failure(nodeName(nodes[i], i) + ": output " + quoted(output) + " is made twice",
                       "give every output a name of its own");

  std::vector<unsigned> missing(nodes.size());
  std::vector<llvm::SmallVector<unsigned, 2>> readers(nodes.size());
  for (int i = 0; i < nodes.size(); ++i) {
    llvm::StringSet<> reads;
    collectReads(nodes[i], reads);
    for (const auto &name : reads)
      if (auto maker = makers.find(name.first()); maker != makers.end()) {
        readers[maker->second].push_back(i);
        ++missing[i];
      }
  }

  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0)
      ready.push(i);
  llvm::SmallVector<unsigned> order;
  while (!ready.empty()) {
    unsigned node = ready.top();
    ready.pop();
    order.push_back(node);
    for (unsigned reader : readers[node])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
  if (order.size() == size_t(nodes.size()))
    return order;
  // The rest waits for a cycle; a walk back over waiting nodes ends up on one.
  unsigned node =
      std::find_if(missing.begin(), missing.end(), [](unsigned count) { return count > 0; }) - missing.begin();
  std::vector<bool> seen(nodes.size());
  while (!seen[node]) {
    seen[node] = true;
    llvm::StringSet<> reads;
    collectReads(nodes[node], reads);
    for (const auto &name : reads)
      if (auto maker = makers.find(name.first()); maker != makers.end() && missing[maker->second] > 0) {
        node = maker->second;
        break;
      }
  }
  return failure(nodeName(nodes[node], node) + ": its inputs depend on its own output", "break the cycle");
}
