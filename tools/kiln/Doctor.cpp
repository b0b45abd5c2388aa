//===- Doctor.cpp - kiln doctor: what works on this machine -------------===//
//
// Whether a program can be made depends on a linker, on libraries that are loaded and on the system's headers, and each
// device needs others. So nothing is looked for by its name: a small model is compiled for each device, and the
// compiler's message is the one that the user would see. Whether another machine can run such a program is a second
// question, which the device's runtime answers.
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
  std::string text; ///< the part that works; or the missing one, with a remedy
};
} // namespace

/// Compiles a small model for a device; "" if that works, else the fault.
static llvm::Expected<std::string> tryDevice(llvm::StringRef device) {
  llvm::Expected<std::unique_ptr<package::StagedFile>> trial = package::StagedFile::temporary("a trial of kiln doctor");
  if (!trial)
    return trial.takeError();
  auto write = [](llvm::raw_fd_ostream &out) {
    out << kTrial;
    return llvm::Error::success();
  };
  if (llvm::Error error = (*trial)->fillPart("trial.json", write))
    return std::move(error);
  CompileOptions options;
  options.model = (*trial)->part("trial.json");
  options.device = device;
  ArtefactOptions artefact;
  artefact.output = (*trial)->part("trial");
  llvm::Error error = compile(options, artefact);
  std::string problem = error ? llvm::toString(std::move(error)) : "";
  llvm::StringRef text = problem; // the names of files do not matter here
  if (!text.consume_front(artefact.output + ": "))
    text.consume_front(options.model + ": ");
  return text.str();
}

static std::string describeMachine(const Found &found) {
  if (!found.problem.empty())
    return "; cannot run here: " + found.problem;
  return found.names.empty() ? "" : "; here: " + llvm::join(found.names, ", ");
}

static llvm::Expected<std::vector<Check>> makeChecks() {
  std::vector<Check> checks;
  for (const DeviceEntry &entry : devices()) {
    if (entry.isInternal)
      continue;
    llvm::Expected<std::string> problem = tryDevice(entry.compiler.name);
    if (!problem)
      return problem.takeError();
    std::string machine = describeMachine(findOn(entry));
    checks.push_back({entry.compiler.name, problem->empty(),
                      (problem->empty() ? "programs can be made" : "programs cannot be made: " + *problem) + machine});
  }
  bool draws = bool(llvm::sys::findProgramByName("dot"));
  checks.push_back(
      {"graphviz", draws, draws ? "--graph draws .svg" : "missing, so --graph writes .dot alone; install graphviz"});
  return checks;
}

static void printChecks(llvm::ArrayRef<Check> checks, llvm::raw_ostream &out) {
  Json document = jsonDocument();
  document["kiln"] = KILN_VERSION;
  document["commit"] = commit().str();
  document["llvm"] = LLVM_VERSION_STRING;
  document["system"] = llvm::sys::getDefaultTargetTriple();
  Json &list = document["checks"] = Json::array();
  for (const Check &check : checks)
    list.push_back({{"name", check.name}, {"ok", check.isWell}, {"text", check.text}});
  printJson(document, out);
}

llvm::Expected<bool> driver::examine(bool asJson, llvm::raw_ostream &out) {
  llvm::Expected<std::vector<Check>> checks = makeChecks();
  if (!checks)
    return checks.takeError();
  if (asJson) {
    printChecks(*checks, out);
  } else {
    out << versionLine() << ", " << llvm::sys::getDefaultTargetTriple() << "\n";
    for (const Check &check : *checks)
      out << (check.isWell ? "ok       " : "missing  ") << llvm::left_justify(check.name, 10) << check.text << "\n";
  }
  return checks->front().isWell;
}
