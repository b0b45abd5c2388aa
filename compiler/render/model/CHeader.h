//===- CHeader.h - The typed C header of a model ---------------------------------------===//
//
// What a C or C++ program includes to run one model, and all that it includes: the runtime's types are written into it.
// It declares the model's functions (EntryPoints.h) and defines two that take the inputs as typed pointers and the
// symbols as numbers, and two that take the same as the members of structs.
// A file may include the headers of several models. What two of them have alike is either the same (the runtime's
// types, a macro of the same value), or noticed where it is used or included: a program never means one model and runs
// another.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "render/model/HeaderNames.h"
#include "render/model/ModelTables.h"

namespace kiln::render {

/// The header as text. `name` is the model's; names of inputs, outputs and symbols become C identifiers, each one's
/// own. `types` is the text of kiln/types.h. Headers whose names begin alike and whose models differ, by what they take
/// and give or by what `model` says of them, are not taken for one another.
std::string modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef types,
                        llvm::StringRef model = "");

/// What a model's kiln_model is called, where its functions begin with `prefix`.
inline std::string modelSymbol(llvm::StringRef prefix) { return (prefix + "_model").str(); }

} // namespace kiln::render
