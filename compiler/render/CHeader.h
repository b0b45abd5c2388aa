//===- CHeader.h - The typed C header of an object -------------------------------------===//
//
// What a C or C++ program includes beside kiln/kiln.h to run one model: its constant and one function that takes the
// inputs as typed pointers and the symbols as numbers.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "render/ModelTables.h"

namespace kiln::render {

/// The header as text. `name` is the model's; names of inputs, outputs and symbols become C identifiers, each one's
/// own. `symbol` is the object's kiln_model.
std::string modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef symbol);

/// What the names of a model's header and its kiln_model begin with, for a model of any name: "net" of net_run.
std::string headerName(llvm::StringRef text);

/// Whether a file's text is, by its first line, one that modelHeader made.
bool isModelHeader(llvm::StringRef text);

} // namespace kiln::render
