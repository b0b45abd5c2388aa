//===- Doctor.cpp - kiln doctor: what works on this machine -------------===//
//
// Whether a program can be made depends on a linker, on libraries that are loaded and on the system's headers, and each
// device needs others. So nothing is looked for by its name: a small model is compiled for each device, and the
// compiler's message is the one that the user would see. Whether this machine can run such a program is a second
// question, which the device's runtime answers. A fault is a row of the report, never its end.
//
//===--------------------------------------------------------------------===//
#include "Doctor.h"

#include "Compile.h"
#include "Devices.h"
#include "Version.h"
#include "inspect/Json.h"
#include "package/OutputFile.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"

using namespace kiln;
using namespace kiln::driver;

static constexpr llvm::StringLiteral kTrial = R"({ "inputs": [{ "name": "x", "dtype": "float32", "shape": [2] }],
  "nodes": [{ "op": "neg", "inputs": ["x"], "output": "y" }], "outputs": ["y"] })";

namespace {
struct Check {
  std::string name;
  bool isWell;
  std::string text;         ///< the part that works; or the missing one, with a remedy
  std::optional<bool> runs; ///< of a device: whether this machine runs its programs
};

/// A folder for trials: one for temporary files, or where that is not possible one in the working folder.
struct Place {
  std::unique_ptr<package::StagedFile> file; ///< null: neither can be written
  std::string problem;                       ///< of the folder for temporary files
};
} // namespace

static Place findPlace() {
  Place place;
  if (llvm::Error error = package::StagedFile::temporary("a trial of kiln doctor").moveInto(place.file)) {
    place.problem = llvm::toString(std::move(error));
    llvm::consumeError(package::StagedFile::beside("trial").moveInto(place.file));
  }
  return place;
}

/// Compiles a small model for a device; "" if that works, else the fault.
static std::string tryDevice(llvm::StringRef device, const Place &place) {
  if (!place.file)
    return place.problem;
  auto write = [](llvm::raw_fd_ostream &out) {
    out << kTrial;
    return llvm::Error::success();
  };
  CompileOptions options;
  options.model = place.file->part("trial.json");
  options.device = device;
  ArtefactOptions artefact;
  artefact.output = place.file->part("trial");
  llvm::Error error = place.file->fillPart("trial.json", write);
  if (!error)
    error = compile(options, artefact);
  std::string problem = error ? llvm::toString(std::move(error)) : "";
  llvm::StringRef text = problem; // the names of files do not matter here
  if (!text.consume_front(artefact.output + ": "))
    text.consume_front(options.model + ": ");
  return text.str();
}

static Check checkTemporaries(const Place &place) {
  if (!place.problem.empty())
    return {"tmpdir", false, place.problem, {}};
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
  return {"tmpdir", true, (folder + " can be written").str(), {}};
}

static std::string describeMachine(const Found &found) {
  if (!found.problem.empty())
    return "; cannot run here: " + found.problem;
  return found.names.empty() ? "" : "; here: " + llvm::join(found.names, ", ");
}

static std::vector<Check> makeChecks() {
  std::vector<Check> checks;
  for (const DeviceEntry &entry : devices()) {
    if (entry.isInternal)
      continue;
    std::string problem = tryDevice(entry.compiler.name, findPlace());
    Found found = findOn(entry);
    checks.push_back(
        {entry.compiler.name, problem.empty(),
         (problem.empty() ? "programs can be made" : "programs cannot be made: " + problem) + describeMachine(found),
         found.problem.empty()});
  }
  checks.push_back(checkTemporaries(findPlace()));
  bool draws = bool(llvm::sys::findProgramByName("dot"));
  checks.push_back({"graphviz",
                    draws,
                    draws ? "--graph draws .svg" : "missing, so --graph writes .dot alone; install graphviz",
                    {}});
  return checks;
}

static void printChecks(llvm::ArrayRef<Check> checks, llvm::raw_ostream &out) {
  Json document = jsonDocument();
  document["kiln"] = KILN_VERSION;
  document["commit"] = commit().str();
  document["llvm"] = LLVM_VERSION_STRING;
  document["system"] = llvm::sys::getDefaultTargetTriple();
  Json &list = document["checks"] = Json::array();
  for (const Check &check : checks) {
    Json &row = list.emplace_back(Json{{"name", check.name}, {"ok", check.isWell}});
    if (check.runs)
      row["runs"] = *check.runs;
    row["text"] = check.text;
  }
  printJson(document, out);
}

bool driver::examine(bool asJson, llvm::raw_ostream &out) {
  std::vector<Check> checks = makeChecks();
  if (asJson) {
    printChecks(checks, out);
  } else {
    out << versionLine() << ", " << llvm::sys::getDefaultTargetTriple() << "\n";
    for (const Check &check : checks)
      out << (check.isWell ? "ok       " : "missing  ") << llvm::left_justify(check.name, 10) << check.text << "\n";
  }
  return checks.front().isWell;
}
