#include "RatesOption.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace kiln;

llvm::Expected<driver::Rates> driver::parseRates(llvm::StringRef text) {
  Rates rates;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  llvm::ArrayRef<llvm::StringLiteral> names = RatesAttr::names();
  for (llvm::StringRef part : parts) {
    auto [name, number] = part.split('=');
    double value;
    if (!llvm::is_contained(names, name))
      return usageError("--rates " + part + ": no such rate",
                        "rates are " + llvm::join(names.drop_back(), ", ") + " and " + names.back());
    if (number.getAsDouble(value) || !std::isfinite(value) || value <= 0)
      return usageError("--rates " + part + ": is not a finite number above 0",
                        "write NAME=NUMBER, for example units=32");
    rates.emplace_back(name.str(), Rate{value});
  }
  return rates;
}
