//===- Microsoft.h - ONNX Runtime's own domain ------------------------------------===//
//
// ONNX Runtime has operators of its own, and variants of some of ONNX's with other attributes and dtypes. The latter
// are in the file of ONNX's operator, which asks here whose a node is.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Registry.h"

namespace kiln::import::onnx {

inline bool isRuntimes(Node &n) { return n.proto().domain() == "com.microsoft"; }

// The families, a file each.
void addExperts(Registry &registry);
void addGatedLayers(Registry &registry);
void addImageLayers(Registry &registry);
void addNGrams(Registry &registry);
void addPackedWeights(Registry &registry);
void addRotaryEmbeddings(Registry &registry);
void addTokens(Registry &registry);

} // namespace kiln::import::onnx
