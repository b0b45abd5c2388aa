#include "render/kernel/Number.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallString.h"

#include <charconv>
#include <cmath>

using namespace kiln;

std::string render::floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  char *end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  llvm::StringRef text(buffer, end - buffer);
  auto [mantissa, power] = text.split('e');
  int exponent = 0;
  power.consume_front("+");
  power.getAsInteger(10, exponent);
  if (exponent < -4 || exponent >= 16)
    return text.str();

  bool isNegative = mantissa.consume_front("-");
  std::string digits;
  for (char c : mantissa)
    if (c != '.')
      digits += c;
  if (exponent < 0)
    digits.insert(0, -exponent, '0');
  size_t point = exponent < 0 ? 1 : exponent + 1;
  if (digits.size() < point + 1)
    digits.append(point + 1 - digits.size(), '0');
  digits.insert(point, 1, '.');
  return (isNegative ? "-" : "") + digits;
}

std::string render::pythonText(mlir::TypedAttr value) {
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value))
    return floatText(number.getValueAsDouble());
  auto integer = llvm::cast<mlir::IntegerAttr>(value);
  if (integer.getType().isInteger(1))
    return integer.getValue().isZero() ? "False" : "True";
  llvm::SmallString<24> digits;
  integer.getValue().toString(digits, 10, /*Signed=*/!integer.getType().isUnsignedInteger());
  return digits.str().str();
}
