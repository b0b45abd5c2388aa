//===- Schema.cpp - Check a document against the embedded schema -------------===//
#include "import/json/Document.h"
#include "support/Error.h"
#include "support/Nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using valijson::adapters::NlohmannJsonAdapter;

static constexpr char schemaText[] =
#include "import/json/GraphSchema.inc"
    ;

namespace {
struct CompiledSchema {
  Json text = Json::parse(schemaText);
  valijson::Schema schema;
  CompiledSchema() { valijson::SchemaParser().populateSchema(NlohmannJsonAdapter(text), schema); }
};
} // namespace

/// The subschema for a step of a path (a property's name or "0"), past any $ref.
static const Json *descend(const Json &root, const Json *schema, const std::string &step) {
  const Json *next = nullptr;
  if (schema->contains("properties") && (*schema)["properties"].contains(step))
    next = &(*schema)["properties"][step];
  else if (schema->contains("items"))
    next = &(*schema)["items"];
  else if (schema->contains("additionalProperties") && (*schema)["additionalProperties"].is_object())
    next = &(*schema)["additionalProperties"];
  if (next && next->contains("$ref"))
    next = &root[Json::json_pointer((*next)["$ref"].get<std::string>().substr(1))];
  return next;
}

/// valijson names constraints; the description in the schema says it in a reader's words.
static std::string explain(const valijson::ValidationResults::Error &error, const Json &schema, const Json &document) {
  std::string place;
  const Json *wanted = &schema, *value = &document;
  for (const std::string &bracketed : llvm::ArrayRef(error.context).drop_front()) {
    // A name may have brackets of its own.
    std::string step = llvm::StringRef(bracketed).drop_front().drop_back().str();
    wanted = wanted ? descend(schema, wanted, step) : nullptr;
    bool index = value->is_array();
    place += index ? "[" + step + "]" : (place.empty() ? "" : ".") + step;
    value = index ? &(*value)[std::stoul(step)] : &(*value)[step];
  }
  std::string text = place.empty() ? "" : place + ": ";
  llvm::StringRef cause = error.description;
  if (size_t quote = cause.find('\''); cause.starts_with("Missing required property") && quote != cause.npos)
    return text + "the property " + cause.substr(quote).rtrim(".").str() + " is missing";
  if (cause.starts_with("Object contains a property")) {
    llvm::StringRef name = cause.substr(cause.find(": ")).trim(": .");
    std::vector<llvm::StringRef> known;
    if (wanted && wanted->contains("properties"))
      for (const auto &property : (*wanted)["properties"].items())
        known.push_back(property.key());
    std::string remedy = didYouMean(name.trim('\''), known, "");
    return text + "there is no property " + name.str() + (remedy.empty() ? "" : "; ") + remedy;
  }
  std::string found = value->dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  if (found.size() > 40)
    found = found.substr(0, 37) + "...";
  std::string description = wanted ? wanted->value("description", cause.str()) : cause.str();
  return text + found + " is not what is wanted: " + description;
}

/// For a name that does not fit, the validator only says that the document does not fit.
static llvm::Error checkSymbolNames(const Json &document) {
  auto symbols = document.is_object() ? document.find("symbols") : document.end();
  if (symbols == document.end() || !symbols->is_object())
    return llvm::Error::success();
  for (const auto &symbol : symbols->items()) {
    llvm::StringRef name = symbol.key();
    auto fits = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    if (name.empty() || llvm::isDigit(name.front()) || !llvm::all_of(name, fits))
      return failure("symbols: '" + name + "' is not a name of a size",
                     "use letters from a to z, digits and _, no digit first");
  }
  return llvm::Error::success();
}

llvm::Error kiln::import::json::checkSchema(const Json &document) {
  if (llvm::Error error = checkSymbolNames(document))
    return error;
  static const CompiledSchema compiled;
  valijson::ValidationResults results;
  NlohmannJsonAdapter adapter(document);
  if (valijson::Validator().validate(compiled.schema, adapter, &results))
    return llvm::Error::success();
  valijson::ValidationResults::Error first;
  results.popError(first);
  return failure(explain(first, compiled.text, document));
}
