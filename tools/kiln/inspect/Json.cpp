#include "Json.h"

using namespace kiln;

static constexpr int kVersion = 1;

driver::Json driver::jsonDocument() { return {{"version", kVersion}}; }

void driver::printJson(const Json &document, llvm::raw_ostream &out) {
  out << document.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << "\n";
}
