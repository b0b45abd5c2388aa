//===- Number.h - Numbers as text that reads back the same ------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include <string>

namespace kiln::render {

/// The fewest decimal digits that read back as `value`, in Python's layout: 0.25, 2.0, 1e-05, 1e+16, -0.0, inf, nan.
std::string floatText(double value);

/// A constant as Python prints it: 3, 0.25, True. A float of any width prints as the double that it is.
std::string pythonText(mlir::TypedAttr value);

} // namespace kiln::render
