#include "Run.h"

#include "inspect/Progress.h"
#include "package/Interrupt.h"
#include "running/Load.h"

#include "kiln/cli.h"

using namespace kiln;
using namespace kiln::driver;

llvm::Expected<int> driver::run(const CompileOptions &options, const RunOptions &run) {
  llvm::Expected<std::unique_ptr<Model>> model = Model::open(options);
  if (!model)
    return model.takeError();
  llvm::Expected<std::unique_ptr<target::LoadedModel>> loaded = load(**model, options);
  if (!loaded)
    return loaded.takeError();

  beginStage("");
  // The command line of programs makes signals wait by itself while it names outputs, and leaves no other files.
  package::leaveInterruptsToSystem();
  std::string program = "kiln";
  std::vector<std::string> arguments = run.arguments;
  std::vector<char *> argv = {program.data()};
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  return kiln_cli_main(&(*loaded)->model(), static_cast<int>(argv.size()) - 1, argv.data());
}
