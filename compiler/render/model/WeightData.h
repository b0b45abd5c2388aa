//===- WeightData.h - The bytes of constant tensors ------------------------------------===//
//
// A weight is a reference or a recipe until a model is packaged. These functions read the data in pieces, so that
// memory use does not grow with the weights.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "render/model/ModelTables.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <concepts>

namespace kiln::render {

class RecipeRunner;

/// Writes the elements, row-major and little-endian; a bool takes one byte.
void writeElements(mlir::ElementsAttr elements, llvm::raw_ostream &out);

/// The source of weights' bytes.
struct WeightSource {
  template <class Path>
    requires std::convertible_to<Path, llvm::StringRef>
  WeightSource(const Path &folder, RecipeRunner *recipes = nullptr)
      : folder(llvm::StringRef(folder).str()), recipes(recipes) {}

  std::string folder;              ///< paths of #graph.file are relative to it
  RecipeRunner *recipes = nullptr; ///< needed if a weight is a #graph.recipe
};

/// Writes the bytes of one weight. A file that is missing, short or changed since the import (by its hash) is an error.
llvm::Error writeWeight(const WeightEntry &weight, const WeightSource &source, llvm::raw_ostream &out);

/// Writes weights at their offsets, which grow, with zeros between them.
llvm::Error writeWeights(llvm::ArrayRef<WeightEntry> weights, const WeightSource &source, llvm::raw_ostream &out);

/// The same into memory, as large as what is written.
llvm::Error readWeight(const WeightEntry &weight, const WeightSource &source, llvm::MutableArrayRef<char> to);
llvm::Error readWeights(llvm::ArrayRef<WeightEntry> weights, const WeightSource &source,
                        llvm::MutableArrayRef<char> to);

} // namespace kiln::render
