//===- EntryPoints.h - The functions that an object has of its own ---------------------===//
//
// A library that hides the runtime within it needs functions under its model's name. Each passes its arguments on to a
// function of kiln/kiln.h. The same table is rendered to LLVM IR, to C and to the declarations of the header.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace kiln::render {

struct EntryPoint {
  llvm::StringLiteral suffix;     ///< "create": the function is NAME_create
  llvm::StringLiteral target;     ///< the runtime's function
  bool passesModel;               ///< whether the target takes the model before the arguments
  llvm::StringLiteral result;     ///< as C spells it, with the space after it
  llvm::StringLiteral parameters; ///< as C declares them
  llvm::StringLiteral arguments;  ///< their names
  llvm::StringLiteral types;      ///< of result and parameters, a letter each: v void, p pointer, i int32_t, z size_t
  llvm::StringLiteral comment;    ///< for the header; "" if the one before covers it
};

llvm::ArrayRef<EntryPoint> entryPoints();

/// NAME_create and so on, for a model whose names begin with `prefix`.
std::vector<std::string> entryPointNames(llvm::StringRef prefix);

} // namespace kiln::render
