#include "Depfile.h"

#include "ArtefactFiles.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace kiln;
using namespace kiln::driver;

llvm::Error driver::checkDepfile(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (artefact.depfile.empty())
    return llvm::Error::success();
  std::string output = ArtefactFiles(options, artefact).output;
  return output.empty() || output == "-"
             ? usageError("--depfile " + artefact.depfile + ": there is no output to name", "name a file with -o")
             : llvm::Error::success();
}

llvm::Error driver::writeDepfile(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact,
                                 package::Outputs &outputs) {
  if (artefact.depfile.empty())
    return llvm::Error::success();
  std::vector<std::string> inputs{options.model};
  // A dump may name a model that is not there and that nothing is read from.
  for (const std::string &file : model.files())
    if (llvm::sys::fs::exists(file) && !llvm::is_contained(inputs, file))
      inputs.push_back(file);
  if (!options.optsPath.empty())
    inputs.push_back(options.optsPath);
  std::string output = ArtefactFiles(options, artefact).output;
  for (const std::string &path : llvm::concat<const std::string>(llvm::ArrayRef(output), inputs))
    if (path.find('\n') != path.npos)
      return failure(path + ": --depfile cannot give a name that has a line's end", "rename the file");
  return outputs.write(artefact.depfile, [&](llvm::raw_ostream &out) {
    out << makeWord(output) << ":";
    for (const std::string &input : inputs)
      out << " \\\n  " << makeWord(input);
    out << "\n";
    return llvm::Error::success();
  });
}
