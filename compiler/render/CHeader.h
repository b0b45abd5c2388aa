//===- CHeader.h - The typed C header of a model ---------------------------------------===//
//
// What a C or C++ program includes to run one model, and all that it includes: the runtime's types are written into it.
// It declares the model's functions (EntryPoints.h) and defines two that take the inputs as typed pointers and the
// symbols as numbers.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "render/ModelTables.h"

namespace kiln::render {

/// The header as text. `name` is the model's; names of inputs, outputs and symbols become C identifiers, each one's
/// own. `types` is the text of kiln/types.h.
std::string modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef types);

/// What the names of a model's header and its functions begin with, for a model of any name: "net" of net_run.
std::string headerName(llvm::StringRef text);

/// What a model's kiln_model is called, where its functions begin with `prefix`.
inline std::string modelSymbol(llvm::StringRef prefix) { return (prefix + "_model").str(); }

} // namespace kiln::render
