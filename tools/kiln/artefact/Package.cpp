//===- Package.cpp - Make the files of `kiln compile` -------------------===//
//
// An artefact is several files, a library with its header and its weights, that belong together, and their
// names come from the user: -o may name the model itself, or a file that somebody else wrote. So all names
// are checked before anything is compiled. The files are made elsewhere and get their names only when every
// file is whole (package/OutputFile.h). The device decides which combinations make sense: one that loads
// its driver at run time cannot be linked statically, and only output of a C compiler can be given as
// source.
//
//===--------------------------------------------------------------------===//
#include "Package.h"

#include "ArtefactFiles.h"
#include "Depfile.h"
#include "Overwrite.h"
#include "package/Link.h"
#include "package/OutputFile.h"
#include "package/Safetensors.h"
#include "render/model/CHeader.h"
#include "render/model/WeightData.h"
#include "support/Error.h"
#include "tools/kiln/options/TargetOption.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"

using namespace kiln;
using namespace kiln::driver;

static std::vector<NamedFile> outputFiles(const CompileOptions &options, const ArtefactOptions &artefact) {
  std::vector<NamedFile> files;
  auto add = [&](const std::string &path, const char *what) {
    if (!path.empty())
      files.push_back({path, what});
  };
  add(artefact.graphPath, "--graph");
  if (artefact.onlyInspects)
    return files;
  ArtefactFiles made(options, artefact);
  add(made.output, "-o");
  for (const auto &[path, what] : made.companions())
    add(path, what);
  add(artefact.weightsPath, "--weights");
  add(artefact.depfile, "--depfile");
  return files;
}

llvm::Error driver::checkOutputs(const Model &model, const CompileOptions &options, const ArtefactOptions &artefact) {
  std::vector<NamedFile> inputs;
  for (const std::string &file : model.files())
    inputs.push_back({file, file == options.model ? "the model" : "a file of the model"});
  return checkOverwrites(inputs, outputFiles(options, artefact));
}

llvm::Error driver::checkDevice(llvm::StringRef name, const ArtefactOptions &artefact) {
  if (!isArtefact(artefact.emit))
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
  if (artefact.emit == Emit::Source && !(*device)->isC)
    return usageError("--emit source: the device " + name + " is not made by a C compiler", "use --device c");
  return llvm::Error::success();
}

/// Whether options for some artefacts only are given for one of these.
static llvm::Error checkKind(const ArtefactOptions &artefact) {
  bool isForPrograms = isArtefact(artefact.emit) && artefact.emit != Emit::Exe;
  if (artefact.isStatic && artefact.emit != Emit::Exe)
    return usageError("--static: only programs are linked so", "leave it out, or leave out --emit");
  if (artefact.keepsNames && artefact.emit != Emit::Exe && artefact.emit != Emit::Shared)
    return usageError("-g: only programs and shared libraries are stripped of names", "leave it out");
  if (!artefact.name.empty() && !isForPrograms)
    return usageError("--name " + artefact.name + ": only a header has names",
                      "use --emit obj, shared, static, header or source");
  if (!artefact.name.empty() && render::headerName(artefact.name) != artefact.name)
    return usageError("--name " + artefact.name + ": is not a name that C functions can begin with",
                      "use letters, digits and _, no digit first, and none of C's or its library's");
  if ((!isArtefact(artefact.emit) || artefact.emit == Emit::Header) && !artefact.weightsPath.empty())
    return usageError("--weights " + artefact.weightsPath + ": text holds no weights",
                      "use --emit exe, obj, shared, static or source");
  return llvm::Error::success();
}

/// Whether a shell would not read pkg-config's text for a name as that name.
static bool isRunByShells(llvm::StringRef name) {
  return llvm::any_of(name,
                      [](char c) { return llvm::StringRef("$()").contains(c) || static_cast<unsigned char>(c) < ' '; });
}

llvm::Error driver::checkArtefact(const CompileOptions &options, const ArtefactOptions &artefact) {
  if (llvm::Error error = checkKind(artefact))
    return error;
  if (llvm::Error error = checkDepfile(options, artefact))
    return error;
  ArtefactFiles files(options, artefact);
  if (files.header == files.output && !files.header.empty())
    return usageError(files.output + ": the header has this name", "let the output's name end in .o, .so, .a or .c");
  const std::string &header = artefact.emit == Emit::Header ? files.output : files.header;
  if (render::hidesSystemHeader(llvm::sys::path::filename(header)))
    return usageError(header + ": programs that include the C library's header of this name would get the model's",
                      "name another file with -o");
  std::vector<NamedFile> inputs;
  if (!artefact.output.empty()) // else checkOutputs looks, when it is known that this is a model
    inputs.push_back({options.model, "the model"});
  if (!options.optsPath.empty())
    inputs.push_back({options.optsPath, "--opts"});
  if (llvm::Error error = checkOverwrites(inputs, outputFiles(options, artefact)))
    return error;
  if (!files.pkgConfig.empty() && isRunByShells(llvm::sys::path::filename(files.output)))
    return usageError(files.output + ": pkg-config would hand this name to a shell that takes it for a command",
                      "name another file with -o, without $, ( and )");
  if (!isArtefact(artefact.emit) || artefact.onlyInspects)
    return llvm::Error::success();
  if (llvm::Error error = checkDevice(options.device.empty() ? "cpu" : options.device, artefact))
    return error;
  if (artefact.emit == Emit::Header) // a header may go to standard output or a pipe, too
    return llvm::sys::fs::is_regular_file(files.output) ? checkIsOurs(files.output, "the header")
                                                        : llvm::Error::success();
  if (files.output == "-")
    return usageError("-o -: what programs are made of goes to a file", "name one");
  if (artefact.weightsPath == "-")
    return usageError("--weights -: weights go to a file", "name one");
  auto isSpecial = [](const std::string &path) {
    return llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path) && !llvm::sys::fs::is_directory(path);
  };
  for (const auto &[path, option] : {std::pair(files.output, "-o"), std::pair(artefact.weightsPath, "--weights")})
    if (isSpecial(path) && path != options.model) // Model says of it that it has to be a file
      return failure(path + ": cannot be written: it is not a regular file",
                     llvm::Twine("name another place with ") + option);
  for (const auto &[path, what] : files.companions())
    if (llvm::Error error = checkIsOurs(path, what))
      return error;
  return files.runtimeSource.empty() ? llvm::Error::success()
                                     : checkIsSameRuntime(files.runtimeSource, artefact.isFreestanding);
}

llvm::Expected<WeightsOf> driver::placeWeights(const Rendering &rendering, const std::string &path,
                                               package::Outputs &outputs) {
  if (path.empty())
    return WeightsOf(render::WeightPlacement::Section);
  std::vector<package::SafetensorsEntry> entries;
  const std::vector<render::WeightEntry> shared = render::sharedWeights(rendering.versions());
  std::vector<render::WeightEntry> weights; // in the order of writing
  for (bool isFirst : {true, false})
    llvm::copy_if(shared, std::back_inserter(weights),
                  [&](const render::WeightEntry &weight) { return package::comesFirst(weight.bytes) == isFirst; });
  entries.reserve(weights.size());
  for (const render::WeightEntry &weight : weights)
    entries.push_back(
        {.name = weight.name,
         .dtype = static_cast<kiln_dtype>(weight.dtype),
         .dims = weight.dims,
         .bytes = weight.bytes,
         .write = [&](llvm::raw_ostream &out) { return render::writeWeight(weight, rendering.weightSource(), out); }});
  if (render::RecipeRunner *recipes = rendering.weightSource().recipes)
    recipes->expect(weights);
  std::string digest;
  llvm::Error error = outputs.write(
      path, [&](llvm::raw_pwrite_stream &out) { return package::writeSafetensors(entries, out).moveInto(digest); });
  if (error)
    return std::move(error);
  return WeightsOf(render::WeightPlacement::Absent, digest);
}

llvm::Expected<package::LinkOptions> driver::linkOptions(const Rendering &rendering) {
  llvm::Expected<std::string> runtime = package::findRuntime(runningProgram());
  if (!runtime)
    return runtime.takeError();
  package::LinkOptions options;
  options.runtimeFolder = *runtime;
  options.compiler = rendering.cCompiler();
  llvm::StringRef system = tripleOf(rendering.model().module());
  options.compilesRuntime = !system.empty();
  for (const render::LibraryEntry &library : rendering.tables().libraries)
    options.libraries.push_back({library.word.str(), library.linked.str()});
  llvm::Triple triple(llvm::Triple::normalize(system));
  if (triple.isMusl())
    options.staticPie = package::StaticPie::Spelled;
  else if (triple.isARM() || triple.isRISCV()) // glibc has their start file only in systems newer than Debian 12
    options.staticPie = package::StaticPie::AskedFirst;
  options.devices.clear();
  for (const DeviceEntry *device : rendering.devices()) {
    std::string name = device->isC ? "cpu" : device->compiler.name;
    if (!llvm::is_contained(options.devices, name))
      options.devices.push_back(name);
  }
  return options;
}

llvm::Expected<std::vector<std::string>> driver::compileObjects(const Rendering &rendering, const ModelNames &names,
                                                                const WeightsOf &weights,
                                                                const package::StagedFile &file) {
  std::vector<std::string> objects = {"host.o"};
  if (rendering.hasHostKernels())
    objects.push_back("kernels.a");
  llvm::Error error = rendering.hasHostKernels() ? rendering.parts(file, objects[0], objects[1], names, weights)
                                                 : rendering.object(file, names, weights, objects[0]);
  if (error)
    return std::move(error);
  return objects;
}

llvm::Error driver::packageProgram(const Rendering &rendering, const ArtefactOptions &artefact,
                                   package::Outputs &outputs) {
  llvm::Expected<package::LinkOptions> link = linkOptions(rendering);
  if (!link)
    return link.takeError();
  link->isStatic = artefact.isStatic;
  link->strip = !artefact.keepsNames;

  llvm::Expected<package::StagedFile *> program = outputs.add(ArtefactFiles(rendering.options(), artefact).output);
  if (!program)
    return program.takeError();
  llvm::Expected<WeightsOf> weights = placeWeights(rendering, artefact.weightsPath, outputs);
  if (!weights)
    return weights.takeError();
  llvm::Expected<std::vector<std::string>> objects = compileObjects(rendering, {}, *weights, **program);
  if (!objects)
    return objects.takeError();
  return package::linkExecutable(*objects, *link, **program);
}
