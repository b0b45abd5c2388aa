#include "import/onnx/Unsupported.h"

#include "import/onnx/Refused.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/TopologicalOrder.h"
#include "support/Error.h"
#include "support/Nearest.h"
#include "support/Page.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln;
using namespace kiln::import::onnx;
using llvm::Twine;
using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The most operators that one line names; for more it gives their number.
static constexpr size_t kMostNamed = 20;

namespace {

class Search {
public:
  explicit Search(FunctionOf functionOf) : functionOf_(functionOf) {}
  void look(const Nodes &nodes);
  llvm::Error error() const;

private:
  FunctionOf functionOf_;
  llvm::DenseSet<const ::onnx::FunctionProto *> seen_;
  std::vector<std::pair<std::string, size_t>> counts_; ///< of operators that are not there
  bool isOfKnownDomain_ = false;                       ///< one of them
  const Refusal *refusal_ = nullptr;                   ///< of the first that is known and not imported
  std::string refused_;                                ///< its name
};

} // namespace

/// "did you mean 'Relu'?", or "" if no operator has such a name.
static std::string nearestOf(llvm::StringRef name) {
  std::vector<std::string> known = Registry::all().names();
  size_t letters = name.rsplit(':').second.empty() ? name.size() : name.rsplit(':').second.size();
  return didYouMean(name, std::vector<llvm::StringRef>(known.begin(), known.end()), "", unsigned(letters + 2) / 3);
}

void Search::look(const Nodes &nodes) {
  const Registry &registry = Registry::all();
  for (const ::onnx::NodeProto &node : nodes) {
    const ::onnx::FunctionProto *function = functionOf_(node);
    if (function && seen_.insert(function).second)
      look(function->node());
    if (!function && !registry.find(node.domain(), node.op_type())) {
      std::string name = operatorName(node);
      auto known = llvm::find_if(counts_, [&](const auto &each) { return each.first == name; });
      if (known == counts_.end())
        known = counts_.insert(known, {std::move(name), 0});
      ++known->second;
      isOfKnownDomain_ |= registry.hasDomain(node.domain());
      if (!refusal_ && (refusal_ = refusalOf(node.domain(), node.op_type())))
        refused_ = operatorName(node);
    }
    for (const ::onnx::AttributeProto &attribute : node.attribute()) {
      look(attribute.g().node());
      for (const ::onnx::GraphProto &graph : attribute.graphs())
        look(graph.node());
    }
  }
}

llvm::Error Search::error() const {
  bool isOne = counts_.size() == 1;
  std::string named;
  for (const auto &[name, count] : llvm::ArrayRef(counts_).take_front(kMostNamed)) {
    named +=
        (named.empty() ? "" : ", ") + (isOne ? quoted(name) : name) + (count > 1 ? " x" + std::to_string(count) : "");
    if (std::string meant = isOne ? "" : nearestOf(name); !meant.empty())
      named += " (" + meant + ")";
  }
  if (counts_.size() > kMostNamed)
    named += " and " + std::to_string(counts_.size() - kMostNamed) + " more";
  std::string cause = (isOne ? "operator " : "operators ") + named + (isOne ? " is" : " are") + " not supported";
  if (refusal_)
    return failure(cause + ": " + (isOne ? "" : refused_ + ": ") + refusal_->cause, refusal_->remedy);
  if (!isOfKnownDomain_)
    return failure(cause, "export the model with ONNX's own operators, or define " + Twine(isOne ? "it" : "them") +
                              (isOne ? " as a function of the model" : " as functions of the model"));
  std::string meant = isOne ? nearestOf(counts_.front().first) : "";
  return failure(cause, meant + (meant.empty() ? "" : " ") + pagePath("onnx-operators.md") +
                            " lists those that are, and says how to export a model again");
}

llvm::Error kiln::import::onnx::unsupportedOperators(const ::onnx::GraphProto &graph, FunctionOf functionOf) {
  Search search(functionOf);
  search.look(graph.node());
  return search.error();
}
