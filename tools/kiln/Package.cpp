#include "Package.h"

#include "Overwrite.h"
#include "package/Executable.h"
#include "package/OutputFile.h"
#include "package/Safetensors.h"
#include "render/CHeader.h"
#include "render/Pattern.h"
#include "render/WeightData.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::driver;

static std::string outputPath(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (!artefact.output.empty())
    return artefact.output;
  std::string stem = llvm::sys::path::stem(options.model).str();
  return artefact.emit == Emit::Obj ? stem + ".o" : stem;
}

static bool isBinary(const ArtefactOptions &artefact) {
  return artefact.emit == Emit::Exe || artefact.emit == Emit::Obj;
}

static std::string headerPath(llvm::StringRef object) {
  llvm::SmallString<128> header(object);
  llvm::sys::path::replace_extension(header, "h");
  return header.str().str();
}

static std::vector<NamedFile> outputFiles(const CompileOptions &options, const ArtefactOptions &artefact) {
  std::vector<NamedFile> files;
  auto add = [&](const std::string &path, const char *what) {
    if (!path.empty())
      files.push_back({path, what});
  };
  add(artefact.graphPath, "--graph");
  if (artefact.onlyInspects)
    return files;
  add(isBinary(artefact) ? outputPath(options, artefact) : artefact.output, "-o");
  if (artefact.emit == Emit::Obj)
    add(headerPath(outputPath(options, artefact)), "the object's header");
  add(artefact.weightsPath, "--weights");
  return files;
}

llvm::Error driver::checkOutputs(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact) {
  std::vector<NamedFile> inputs;
  for (const std::string &file : model.files())
    inputs.push_back({file, file == options.model ? "the model" : "a file of the model"});
  return checkOverwrites(inputs, outputFiles(options, artefact));
}

llvm::Error driver::checkArtefact(const CompileOptions &options, const ArtefactOptions &artefact) {
  bool isFile = isBinary(artefact);
  if (artefact.isStatic && artefact.emit != Emit::Exe)
    return usageError("--static: only programs are linked", "leave it out, or leave out --emit");
  if (!isFile && !artefact.weightsPath.empty())
    return usageError("--weights " + artefact.weightsPath + ": text holds no weights", "use --emit exe or obj");
  std::string output = outputPath(options, artefact);
  if (artefact.emit == Emit::Obj && headerPath(output) == output)
    return usageError(output + ": an object's header has this name", "let the object's name end in .o");
  std::vector<NamedFile> inputs = {{options.model, "the model"}};
  if (!options.optsPath.empty())
    inputs.push_back({options.optsPath, "--opts"});
  if (llvm::Error error = checkOverwrites(inputs, outputFiles(options, artefact)))
    return error;
  if (!isFile || artefact.onlyInspects)
    return llvm::Error::success();

  llvm::Expected<const DeviceEntry *> device = findDevice(options.pipeline.device);
  if (!device)
    return device.takeError();
  if ((*device)->isInternal)
    return usageError("--device " + options.pipeline.device + ": only kiln itself runs it",
                      "use kiln run or kiln verify, or another device");
  if (artefact.isStatic && (*device)->compiler.source)
    return usageError("--static: the device " + options.pipeline.device + " loads its driver at run time",
                      "leave it out, or use device cpu or c");
  if (output == "-")
    return usageError("-o -: a program or object goes to a file", "name one");
  if (llvm::sys::fs::exists(output) && !llvm::sys::fs::is_regular_file(output) && !llvm::sys::fs::is_directory(output))
    return failure(output + ": cannot be written: it is no regular file", "name another place with -o");
  if (artefact.emit != Emit::Obj)
    return llvm::Error::success();
  return checkHeaderIsOurs(headerPath(output));
}

static llvm::Error writeWeightsFile(const Rendering &rendering, const std::string &path) {
  std::vector<package::SafetensorsEntry> entries;
  for (const render::WeightEntry &weight : rendering.tables().weights)
    entries.push_back(
        {.name = weight.name,
         .dtype = static_cast<kiln_dtype>(weight.dtype),
         .dims = weight.dims,
         .bytes = weight.bytes,
         .write = [&](llvm::raw_ostream &out) { return render::writeWeight(weight, rendering.weightSource(), out); }});
  return package::writeFile(path, [&](llvm::raw_ostream &out) { return package::writeSafetensors(entries, out); });
}

static render::WeightPlacement placement(const ArtefactOptions &artefact) {
  return artefact.weightsPath.empty() ? render::WeightPlacement::Section : render::WeightPlacement::Absent;
}

llvm::Error driver::packageObject(const Rendering &rendering, const ArtefactOptions &artefact) {
  std::string output = outputPath(rendering.options(), artefact);
  std::string name = render::identifier(llvm::sys::path::stem(output));
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "_");
  std::string symbol = name + "_model";

  if (!artefact.weightsPath.empty())
    if (llvm::Error error = writeWeightsFile(rendering, artefact.weightsPath))
      return error;
  if (llvm::Error error = rendering.object(output, symbol, placement(artefact)))
    return error;
  llvm::Error error = package::writeFile(headerPath(output), [&](llvm::raw_ostream &out) {
    out << render::modelHeader(rendering.tables(), name, symbol);
    return llvm::Error::success();
  });
  if (error)
    llvm::sys::fs::remove(output);
  return error;
}

llvm::Error driver::packageProgram(const Rendering &rendering, const ArtefactOptions &artefact) {
  std::string output = outputPath(rendering.options(), artefact);
  package::LinkOptions link;
  llvm::Expected<std::string> runtime = package::findRuntime(runningProgram());
  if (!runtime)
    return runtime.takeError();
  link.runtimeFolder = *runtime;
  link.device = rendering.device().isC ? "cpu" : rendering.device().compiler.name;
  link.isStatic = artefact.isStatic;

  if (!artefact.weightsPath.empty())
    if (llvm::Error error = writeWeightsFile(rendering, artefact.weightsPath))
      return error;
  llvm::Expected<package::TemporaryFile> object = package::TemporaryFile::beside(output, ".o");
  if (!object)
    return object.takeError();
  if (!rendering.hasHostKernels()) {
    if (llvm::Error error = rendering.object(object->path(), kProgramSymbol, placement(artefact)))
      return error;
    return package::linkExecutable({object->path().str()}, link, output);
  }
  llvm::Expected<package::TemporaryFile> kernels = package::TemporaryFile::beside(output, ".a");
  if (!kernels)
    return kernels.takeError();
  if (llvm::Error error = rendering.parts(object->path(), kernels->path(), kProgramSymbol, placement(artefact)))
    return error;
  return package::linkExecutable({object->path().str(), kernels->path().str()}, link, output);
}
