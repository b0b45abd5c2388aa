//===- main.cpp - kiln: from a model file to a running binary -----------------===//

#include "Compile.h"
#include "Devices.h"
#include "Doctor.h"
#include "Run.h"
#include "Verify.h"
#include "inspect/Log.h"
#include "inspect/Progress.h"
#include "options/CommandLine.h"
#include "package/Interrupt.h"
#include "running/StoredCase.h"
#include "support/DebugStream.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;

static llvm::Expected<int> execute(int argc, char **argv) {
  llvm::Expected<std::optional<CommandLine>> line = parseCommandLine(argc, argv);
  if (!line)
    return line.takeError();
  if (!*line)
    return EXIT_SUCCESS;
  // The runtime is C that reads its level from the environment, as in the programs that kiln makes.
  setenv("DEBUG", std::to_string((*line)->compile.debug).c_str(), /*overwrite=*/1);

  if ((*line)->logLevel == LogLevel::Info)
    logProgress();
  else if (!(*line)->isQuiet && (*line)->compile.debug == 0 && (*line)->command != Command::Doctor)
    showProgress();
  if ((*line)->timesStages)
    timeStages();

  // A folder means the model in it.
  if (CompileOptions &options = (*line)->compile; !options.model.empty()) {
    llvm::Expected<std::string> model = findModel(options.model);
    if (!model)
      return model.takeError();
    options.model = std::move(*model);
  }

  switch ((*line)->command) {
  case Command::Compile:
    if (llvm::Error error = compile((*line)->compile, (*line)->artefact))
      return error;
    beginStage("");
    printStageTimes(debugStream());
    return EXIT_SUCCESS;
  case Command::Run:
    return run((*line)->compile, (*line)->run);
  case Command::Verify: {
    llvm::Expected<bool> agrees = verify((*line)->compile, (*line)->verify);
    if (!agrees)
      return agrees.takeError();
    return *agrees ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  case Command::Devices:
    (*line)->isJson ? listDevicesJson(llvm::outs()) : listDevices(llvm::outs());
    return EXIT_SUCCESS;
  case Command::Doctor:
    return examine((*line)->isJson, llvm::outs()) ? EXIT_SUCCESS : EXIT_FAILURE;
  case Command::Flags:
    if (llvm::Error error = printFlags((*line)->flags, llvm::outs()))
      return error;
    return EXIT_SUCCESS;
  }
  llvm_unreachable("every command is handled");
}

/// Prints the error in one line and returns its exit status.
static int report(llvm::Error error) {
  ErrorKind kind = ErrorKind::Failure;
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const UserError &user) {
        kind = user.kind();
        text = user.text();
      },
      [&](const llvm::ErrorInfoBase &other) { text = other.message(); });
  logError(text);
  return kind == ErrorKind::Usage ? 2 : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  package::endOnWantOfMemory();
  package::endOnInterrupts();
  llvm::InitLLVM init(argc, argv);
  package::endOnWantOfMemory();
  llvm::setBugReportMsg("kiln crashed, which is a bug of kiln's. A report should have the command and the model.\n");
  beginLog();
  // Even an error of the command line itself has the requested form.
  for (llvm::StringRef argument :
       llvm::ArrayRef(argv, argc).drop_front().take_until([](llvm::StringRef word) { return word == "--"; }))
    if (argument == "--json")
      logErrorsAsJson();
  llvm::Expected<int> status = execute(argc, argv);
  beginStage("");
  llvm::Error flushed = flushOutput();
  if (!status)
    return llvm::consumeError(std::move(flushed)), report(status.takeError());
  return flushed ? report(std::move(flushed)) : *status;
}
