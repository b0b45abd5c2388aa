#include "ArtefactFiles.h"
#include "Package.h"
#include "render/model/CHeader.h"
#include "render/model/EntryPoints.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::driver;

namespace {

/// An unfinished artefact: its files are made together.
class Packager {
public:
  Packager(const Rendering &rendering, const ArtefactOptions &artefact, package::Outputs &outputs)
      : rendering_(rendering), artefact_(artefact), files_(rendering.options(), artefact),
        names_{render::modelSymbol(files_.prefix), files_.prefix}, outputs_(outputs) {}
  llvm::Error run();

private:
  llvm::Error writeBinary();
  llvm::Error writeSource();
  llvm::Error writeHeader(const std::string &path);
  llvm::Error writePkgConfig();
  /// Copies a file of the runtime to `path`.
  llvm::Error copy(llvm::StringRef name, const std::string &path);

  const Rendering &rendering_;
  const ArtefactOptions &artefact_;
  ArtefactFiles files_;
  ModelNames names_;
  package::Outputs &outputs_;
};

} // namespace

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> runtimeFile(llvm::StringRef name) {
  llvm::Expected<std::string> runtime = package::findRuntime(runningProgram());
  if (!runtime)
    return runtime.takeError();
  std::string path = *runtime + "/" + name.str();
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return failure(path + ": cannot be read: " + file.getError().message(), "build or install kiln as a whole");
  return std::move(*file);
}

llvm::Error Packager::writeHeader(const std::string &path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> types = runtimeFile("include/kiln/types.h");
  if (!types)
    return types.takeError();
  return outputs_.write(path, [&](llvm::raw_ostream &out) {
    // The functions of my-net and my_net have the same names, the files do not.
    out << render::modelHeader(rendering_.tables(), files_.prefix, (*types)->getBuffer(), llvm::sys::path::stem(path),
                               rendering_.origin());
    return llvm::Error::success();
  });
}

/// ${pcfiledir} is the file's folder: library, header and file move together. pkg-config escapes special characters
/// only in a path of -L and -I.
llvm::Error Packager::writePkgConfig() {
  return outputs_.write(files_.pkgConfig, [&](llvm::raw_ostream &out) {
    out << "# The model " << files_.prefix << ", made by kiln.\nName: " << files_.prefix
        << "\nDescription: a model that kiln compiled\nVersion: " KILN_VERSION "\n"
        << "Cflags: -I${pcfiledir}\nLibs: -L${pcfiledir} -l:" << shellWord(llvm::sys::path::filename(files_.output))
        << " -pthread -lm\n";
    return llvm::Error::success();
  });
}

llvm::Error Packager::copy(llvm::StringRef name, const std::string &path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file = runtimeFile(name);
  if (!file)
    return file.takeError();
  return outputs_.write(path, [&](llvm::raw_ostream &out) {
    out << (*file)->getBuffer();
    return llvm::Error::success();
  });
}

llvm::Error Packager::writeBinary() {
  llvm::Expected<package::StagedFile *> file = outputs_.add(files_.output);
  if (!file)
    return file.takeError();
  llvm::Expected<WeightsOf> weights = placeWeights(rendering_, artefact_.weightsPath, outputs_);
  if (!weights)
    return weights.takeError();
  if (artefact_.emit == Emit::Obj)
    return rendering_.object(**file, names_, *weights);
  llvm::Expected<package::LinkOptions> link = linkOptions(rendering_);
  if (!link)
    return link.takeError();
  link->exports = render::entryPointNames(files_.prefix);
  link->strip = !artefact_.keepsNames;
  llvm::Expected<std::vector<std::string>> objects = compileObjects(rendering_, names_, *weights, **file);
  if (!objects)
    return objects.takeError();
  return artefact_.emit == Emit::Shared ? package::linkSharedLibrary(*objects, *link, **file)
                                        : package::linkArchive(*objects, *link, files_.prefix + ".o", **file);
}

llvm::Error Packager::writeSource() {
  llvm::Expected<WeightsOf> weights = placeWeights(rendering_, artefact_.weightsPath, outputs_);
  if (!weights)
    return weights.takeError();
  llvm::Expected<std::string> source = rendering_.selfContainedC(names_, *weights);
  if (!source)
    return source.takeError();
  llvm::Error error = outputs_.write(files_.output, [&](llvm::raw_ostream &out) {
    out << *source;
    return llvm::Error::success();
  });
  if (error)
    return error;
  if (llvm::Error failed =
          copy(artefact_.isFreestanding ? "source/freestanding.c" : "source/kiln.c", files_.runtimeSource))
    return failed;
  return copy("source/kiln.h", files_.runtimeHeader);
}

llvm::Error Packager::run() {
  if (artefact_.emit == Emit::Source) {
    if (llvm::Error error = writeSource())
      return error;
  } else if (artefact_.emit != Emit::Header) {
    if (llvm::Error error = writeBinary())
      return error;
  }
  if (llvm::Error error = writeHeader(artefact_.emit == Emit::Header ? files_.output : files_.header))
    return error;
  return files_.pkgConfig.empty() ? llvm::Error::success() : writePkgConfig();
}

llvm::Error driver::packageForPrograms(const Rendering &rendering, const ArtefactOptions &artefact,
                                       package::Outputs &outputs) {
  return Packager(rendering, artefact, outputs).run();
}
