#include "render/model/Origin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;

std::string render::originJson(const Origin &origin) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::json::OStream json(out);
  auto addText = [&](llvm::StringRef name, const std::string &value) {
    if (!value.empty())
      json.attribute(name, llvm::json::fixUTF8(value));
  };
  auto addList = [&](llvm::StringRef name, const std::vector<std::string> &values) {
    if (!values.empty())
      json.attribute(name, llvm::json::Array(values));
  };
  json.object([&] {
    addText("kiln", origin.kiln);
    addText("model", origin.model);
    addText("blake3", origin.digest);
    addList("devices", origin.devices);
    addList("cpus", origin.cpus);
    addText("target", origin.target);
    addList("libraries", origin.libraries);
  });
  return text;
}

std::string render::originSentence(const Origin &origin) {
  std::string text = "kiln " + origin.kiln + " made it of " + origin.model;
  if (!origin.digest.empty())
    text += " (BLAKE3 " + origin.digest + ")";
  text += " for device " + llvm::join(origin.devices, ", ");
  if (!origin.cpus.empty())
    text += ", CPU " + llvm::join(origin.cpus, ", ");
  return origin.target.empty() ? text : text + ", " + origin.target;
}
