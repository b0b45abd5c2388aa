#include "import/json/Document.h"

#include "support/Error.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using llvm::Twine;

/// "line 3, column 7" of a byte position, counted from 1.
static std::string lineAndColumn(llvm::StringRef text, size_t position) {
  llvm::StringRef before = text.take_front(position ? position - 1 : 0);
  size_t lineStart = before.rfind('\n');
  size_t column = before.size() - (lineStart == llvm::StringRef::npos ? 0 : lineStart + 1) + 1;
  return ("line " + Twine(before.count('\n') + 1) + ", column " + Twine(column)).str();
}

/// Lists and objects nest; their readers are recursive, and a stack is finite.
static constexpr int mostDepth = 64;

static size_t findTooDeep(llvm::StringRef text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '[' || c == '{') && ++depth > mostDepth)
      return i;
    else if (!inString && (c == ']' || c == '}'))
      --depth;
  }
  return llvm::StringRef::npos;
}

namespace {

/// Looks for a property that an object has twice; the document would keep the last.
class PropertyCheck {
public:
  /// What the parser calls at each step.
  bool operator()(Json::parse_event_t event, const Json &parsed);
  /// The first that is found, with its place; "": none.
  const std::string &fault() const { return fault_; }

private:
  struct Level {
    bool isList = false;
    size_t index = 0;        ///< of a list: the element that is read
    std::string property;    ///< of an object: the one that is read
    llvm::StringSet<> names; ///< of an object: those so far
  };
  std::string place() const;

  std::vector<Level> levels_;
  std::string fault_;
};

} // namespace

/// As Schema.cpp names places: "nodes[0].value".
std::string PropertyCheck::place() const {
  std::string text;
  for (const Level &level : llvm::ArrayRef(levels_).drop_back())
    text += level.isList ? "[" + std::to_string(level.index) + "]" : (text.empty() ? "" : ".") + level.property;
  return text.empty() ? "" : text + ": ";
}

bool PropertyCheck::operator()(Json::parse_event_t event, const Json &parsed) {
  using Event = Json::parse_event_t;
  if (event == Event::object_start || event == Event::array_start) {
    levels_.emplace_back().isList = event == Event::array_start;
    return true;
  }
  if (event == Event::key) {
    Level &level = levels_.back();
    level.property = parsed.get_ref<const std::string &>();
    if (!level.names.insert(level.property).second && fault_.empty())
      fault_ = place() + "the property '" + level.property + "' is given twice";
    return true;
  }
  if (event == Event::object_end || event == Event::array_end)
    levels_.pop_back();
  if (!levels_.empty() && levels_.back().isList)
    ++levels_.back().index;
  return true;
}

llvm::Expected<Json> kiln::import::json::readDocument(llvm::StringRef path, int64_t memoryLimit) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return failure(path + ": cannot be read: " + buffer.getError().message(), "give the path of a graph");
  llvm::StringRef text = (*buffer)->getBuffer();
  if (int64_t(text.size()) > memoryLimit)
    return failure(path + ": " + Twine(text.size()) + " bytes are more than the limit of " + Twine(memoryLimit),
                   "keep weights in .npy or .safetensors files");
  if (size_t at = findTooDeep(text); at != text.npos)
    return failure(path + ": " + lineAndColumn(text, at + 1) + ": lists nest more than " + Twine(mostDepth) + " deep",
                   "a tensor has fewer axes");
  Json document;
  PropertyCheck properties;
  try {
    document = Json::parse(text.begin(), text.end(),
                           [&](int, Json::parse_event_t event, Json &parsed) { return properties(event, parsed); });
  } catch (const Json::parse_error &error) {
    if (error.byte > text.size())
      return failure(path + ": " + lineAndColumn(text, text.size() + 1) + ": the text ends within the document",
                     "the file is truncated");
    return failure(path + ": " + lineAndColumn(text, error.byte) + ": this is not JSON", "correct the text there");
  } catch (const Json::out_of_range &) {
    return failure(path + ": a number is larger than any float64", "write \"inf\" where infinity is meant");
  }
  if (!properties.fault().empty())
    return failure(path + ": " + properties.fault(), "give it once");
  if (llvm::Error error = checkSchema(document))
    return failure(path + ": " + llvm::toString(std::move(error)));
  return document;
}
