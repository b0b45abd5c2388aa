#include "Json.h"

#include "llvm/ADT/SmallVector.h"

using namespace kiln;

static constexpr int kVersion = 2;

driver::Json driver::jsonDocument() { return {{"version", kVersion}}; }

driver::Json driver::nodesOf(llvm::StringRef origin) {
  Json nodes = Json::array();
  if (!origin.consume_front("['") || !origin.consume_back("']"))
    return nodes;
  llvm::SmallVector<llvm::StringRef> names;
  origin.split(names, "', '");
  for (llvm::StringRef name : names)
    nodes.push_back(name.str());
  return nodes;
}

void driver::printJson(const Json &document, llvm::raw_ostream &out) {
  out << document.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << "\n";
}
