//===- CHeader.h - The typed C header of a model ---------------------------------------===//
//
// A C or C++ program includes this to run one model, and nothing else: the runtime's types are written into it.
// It declares the model's functions (EntryPoints.h) and defines two that take the inputs as typed pointers and
// the symbols as numbers, and two that take the same as the members of structs. A file may include the headers of
// several models. Definitions that two of them share are either the same (the runtime's types, a macro of the
// same value), or cause an error where they are used or included. So a program never means one model and runs
// another.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "render/model/HeaderNames.h"
#include "render/model/ModelTables.h"
#include "render/model/Origin.h"

namespace kiln::render {

/// The header as text. `name` is the model's; names of inputs, outputs and symbols become C identifiers, each one's
/// own. `types` is the text of kiln/types.h. Headers whose names begin alike and whose models differ, by their inputs
/// and outputs or by what `model` says of them, are not mistaken for one another. A comment has the origin, if it is
/// known.
std::string modelHeader(const ModelTables &tables, llvm::StringRef name, llvm::StringRef types,
                        llvm::StringRef model = "", const Origin &origin = {});

/// The name of a model's kiln_model if its functions begin with `prefix`.
inline std::string modelSymbol(llvm::StringRef prefix) { return (prefix + "_model").str(); }

} // namespace kiln::render
