#include "RatesOption.h"

#include "support/Error.h"

#include "llvm/ADT/SmallVector.h"

#include <cmath>

using namespace kiln;

llvm::Error driver::parseRates(llvm::StringRef text, target::Rates &rates) {
  const std::pair<llvm::StringLiteral, double *> known[] = {{"bytes-per-ns", &rates.bytesPerNs},
                                                            {"ops-per-ns", &rates.opsPerNs},
                                                            {"product-ops-per-ns", &rates.productOpsPerNs},
                                                            {"launch-ns", &rates.launchNs},
                                                            {"units", &rates.units},
                                                            {"tile-reuse", &rates.tileReuse}};
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [name, number] = part.split('=');
    const auto *rate = llvm::find_if(known, [&](const auto &entry) { return entry.first == name; });
    double value;
    if (rate == std::end(known))
      return usageError("--rates " + part + ": no such rate",
                        "rates are bytes-per-ns, ops-per-ns, product-ops-per-ns, launch-ns, units and tile-reuse");
    if (number.getAsDouble(value) || !std::isfinite(value) || value <= 0)
      return usageError("--rates " + part + ": no finite number above 0", "write NAME=NUMBER, for example units=32");
    *rate->second = value;
  }
  return llvm::Error::success();
}
