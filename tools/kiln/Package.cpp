#include "Package.h"

#include "Overwrite.h"
#include "package/Executable.h"
#include "package/OutputFile.h"
#include "package/Safetensors.h"
#include "render/CHeader.h"
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

llvm::Error driver::checkDevice(llvm::StringRef name, const ArtefactOptions &artefact) {
  if (!isBinary(artefact))
    return llvm::Error::success();
  llvm::Expected<const DeviceEntry *> device = findDevice(name);
  if (!device)
    return device.takeError();
  if ((*device)->isInternal)
    return usageError("--device " + name + ": only kiln itself runs it",
                      "use kiln run or kiln verify, or another device");
  if (artefact.isStatic && (*device)->compiler.source)
    return usageError("--static: the device " + name + " loads its driver at run time",
                      "leave it out, or use device cpu or c");
  return llvm::Error::success();
}

llvm::Error driver::checkArtefact(const CompileOptions &options, const ArtefactOptions &artefact) {
  bool isFile = isBinary(artefact);
  if (artefact.isStatic && artefact.emit != Emit::Exe)
    return usageError("--static: only programs are linked", "leave it out, or leave out --emit");
  if (!artefact.name.empty() && artefact.emit != Emit::Obj)
    return usageError("--name " + artefact.name + ": only an object's header has names", "use --emit obj");
  if (!artefact.name.empty() && render::headerName(artefact.name) != artefact.name)
    return usageError("--name " + artefact.name + ": no name that C functions can begin with",
                      "use letters, digits and _, no digit first");
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

  if (llvm::Error error = checkDevice(options.device.empty() ? "cpu" : options.device, artefact))
    return error;
  if (output == "-")
    return usageError("-o -: a program or object goes to a file", "name one");
  if (artefact.weightsPath == "-")
    return usageError("--weights -: weights go to a file", "name one");
  auto isSpecial = [](const std::string &path) {
    return llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path) && !llvm::sys::fs::is_directory(path);
  };
  for (const auto &[path, option] : {std::pair(output, "-o"), std::pair(artefact.weightsPath, "--weights")})
    if (isSpecial(path))
      return failure(path + ": cannot be written: it is no regular file",
                     llvm::Twine("name another place with ") + option);
  if (artefact.emit != Emit::Obj)
    return llvm::Error::success();
  return checkHeaderIsOurs(headerPath(output));
}

/// Has the weights lie where they are asked for: in the artefact, or in a file of their own, which is written.
static llvm::Expected<WeightsOf> placeWeights(const Rendering &rendering, const std::string &path,
                                              package::Outputs &outputs) {
  if (path.empty())
    return WeightsOf(render::WeightPlacement::Section);
  std::vector<package::SafetensorsEntry> entries;
  for (const render::WeightEntry &weight : rendering.tables().weights)
    entries.push_back(
        {.name = weight.name,
         .dtype = static_cast<kiln_dtype>(weight.dtype),
         .dims = weight.dims,
         .bytes = weight.bytes,
         .write = [&](llvm::raw_ostream &out) { return render::writeWeight(weight, rendering.weightSource(), out); }});
  std::string digest;
  llvm::Error error = outputs.write(
      path, [&](llvm::raw_pwrite_stream &out) { return package::writeSafetensors(entries, out).moveInto(digest); });
  if (error)
    return std::move(error);
  return WeightsOf(render::WeightPlacement::Absent, digest);
}

llvm::Error driver::packageObject(const Rendering &rendering, const ArtefactOptions &artefact) {
  std::string output = outputPath(rendering.options(), artefact);
  std::string name = render::headerName(artefact.name.empty() ? llvm::sys::path::stem(output).str() : artefact.name);
  std::string symbol = name + "_model";

  package::Outputs outputs;
  llvm::Expected<WeightsOf> weights = placeWeights(rendering, artefact.weightsPath, outputs);
  if (!weights)
    return weights.takeError();
  llvm::Expected<package::StagedFile *> object = outputs.add(output);
  if (!object)
    return object.takeError();
  if (llvm::Error error = rendering.object(**object, symbol, *weights))
    return error;
  llvm::Error error = outputs.write(headerPath(output), [&](llvm::raw_ostream &out) {
    out << render::modelHeader(rendering.tables(), name, symbol);
    return llvm::Error::success();
  });
  return error ? std::move(error) : outputs.commit();
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

  package::Outputs outputs;
  llvm::Expected<package::StagedFile *> program = outputs.add(output);
  if (!program)
    return program.takeError();
  llvm::Expected<WeightsOf> weights = placeWeights(rendering, artefact.weightsPath, outputs);
  if (!weights)
    return weights.takeError();
  std::vector<std::string> objects = {"host.o"};
  if (!rendering.hasHostKernels()) {
    if (llvm::Error error = rendering.object(**program, kProgramSymbol, *weights, objects.front()))
      return error;
  } else {
    objects.push_back("kernels.a");
    if (llvm::Error error = rendering.parts(**program, objects[0], objects[1], kProgramSymbol, *weights))
      return error;
  }
  if (llvm::Error error = package::linkExecutable(objects, link, **program))
    return error;
  return outputs.commit();
}
