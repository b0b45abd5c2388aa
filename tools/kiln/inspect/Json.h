//===- Json.h - The documents of --json -------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

namespace kiln::driver {

/// Members stay in the order in which they are given.
using Json = nlohmann::ordered_json;

/// A document with its first member, `version`, which programs' documents have, too (runtime/src/cli/json_text.h). It
/// is to be given further members.
Json jsonDocument();

/// The names in a launch's "['conv1', 'relu']", as an array; of "" an empty one.
Json nodesOf(llvm::StringRef origin);

/// The document and an end of line. Bytes that are not UTF-8 become U+FFFD.
void printJson(const Json &document, llvm::raw_ostream &out);

} // namespace kiln::driver
