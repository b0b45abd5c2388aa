//===- WeightData.h - The bytes of constant tensors ------------------------------------===//
//
// A weight is a reference until a model is packaged. These functions read the data in pieces, so that memory use does
// not grow with the weights.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "render/ModelTables.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::render {

/// Writes the elements, row-major and little-endian; a bool takes one byte.
void writeElements(mlir::ElementsAttr elements, llvm::raw_ostream &out);

/// Writes the bytes of one weight. Paths of #graph.file are relative to `folder`. A file that is missing, short or
/// changed since the import (by its hash) is an error.
llvm::Error writeWeight(const WeightEntry &weight, llvm::StringRef folder, llvm::raw_ostream &out);

/// Writes all weights at their offsets, zeros between them: tables.weightBytes bytes.
llvm::Error writeWeights(const ModelTables &tables, llvm::StringRef folder, llvm::raw_ostream &out);

} // namespace kiln::render
