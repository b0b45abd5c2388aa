//===- Document.h - A graph's JSON text, parsed and checked -----------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <nlohmann/json.hpp>

namespace kiln::import::json {

using Json = nlohmann::json;

/// Reads and parses the file, and checks it against graph.schema.json. Errors name the file, and the line and column or
/// the place in the document. A file of more than `memoryLimit` bytes is refused.
llvm::Expected<Json> readDocument(llvm::StringRef path, int64_t memoryLimit);

/// Checks a document against the schema; the error says where in the document, and what is wanted there.
llvm::Error checkSchema(const Json &document);

} // namespace kiln::import::json
