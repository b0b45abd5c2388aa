#include "package/Link.h"

#include "package/OldGlibc.h"
#include "package/Spawn.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::package;
namespace fs = llvm::sys::fs;

using Arguments = std::vector<std::string>;

llvm::Expected<std::string> package::findRuntime(llvm::StringRef executable) {
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
  llvm::sys::path::append(folder, "lib", "kiln");
  if (!fs::is_directory(folder))
    return failure(folder + ": the runtime's libraries are not there", "build or install kiln as a whole");
  return folder.str().str();
}

/// Likely causes if the compiler complains.
static std::string remedyOf(const LinkOptions &options) {
  if (!options.compilesRuntime || options.libraries.empty())
    return {};
  std::string names =
      llvm::join(llvm::map_range(options.libraries, [](const Library &each) { return each.name; }), ", ");
  return "the model calls " + names + ", which " + options.compiler + " has to find";
}

/// Adds the runtime, with the command line of a program if it `isProgram`.
static llvm::Error addRuntime(const LinkOptions &options, bool isProgram, const StagedFile &file,
                              Arguments &arguments) {
  if (options.compilesRuntime) {
    static constexpr char kRuntime[] = "runtime.o";
    arguments.push_back(kRuntime);
    Arguments compiling = {"-std=c11",
                           "-Os",
                           "-fPIC",
                           "-ffunction-sections",
                           "-fdata-sections",
                           "-fstack-protector-strong",
                           "-c",
                           "-o",
                           kRuntime,
                           options.runtimeFolder + "/source/" + (isProgram ? "program.c" : "kiln.c")};
    for (const Library &library : options.libraries) {
      compiling.push_back("-DKILN_WITH_" + library.name);
      llvm::SmallVector<llvm::StringRef> linked;
      llvm::SplitString(library.linked, linked);
      arguments.push_back("-Wl,-Bstatic");
      arguments.insert(arguments.end(), linked.begin(), linked.end());
      if (!options.isStatic)
        arguments.push_back("-Wl,-Bdynamic");
    }
    return spawnCompiler(options.compiler, compiling,
                         {.file = file, .doWhat = "compile the runtime", .remedy = remedyOf(options)});
  }
  Arguments names;
  if (isProgram)
    names = {"main", "cli", "npy"};
  for (const std::string &name : names)
    arguments.push_back(options.runtimeFolder + "/libkiln_" + name + ".a");
  for (const std::string &device : options.devices)
    arguments.push_back(options.runtimeFolder + "/libkiln_device_" + device + ".a");
  arguments.push_back(options.runtimeFolder + "/libkiln_runtime.a");
  return llvm::Error::success();
}

/// Adds the objects that let a dynamically linked program or library run with an older glibc.
static llvm::Error addOldGlibc(const LinkOptions &options, const StagedFile &file, Arguments &arguments) {
  Arguments files = {options.runtimeFolder + "/libkiln_glibc.a"};
  if (options.compilesRuntime) {
    files.clear();
    for (const char *name : {"glibc", "glibc_math"}) {
      files.push_back(file.part(std::string(name) + ".o"));
      if (llvm::Error error = spawnCompiler(options.compiler,
                                            {"-std=c11", "-Os", "-fPIC", "-ffunction-sections", "-c", "-o",
                                             files.back(), options.runtimeFolder + "/source/" + name + ".c"},
                                            {.file = file, .doWhat = "compile the runtime"}))
        return error;
    }
  }
  bool loadsLibraries = llvm::any_of(options.devices, [](const std::string &device) { return device != "cpu"; });
  llvm::Expected<Arguments> wrapping = oldGlibcArguments(files, loadsLibraries);
  if (!wrapping)
    return wrapping.takeError();
  llvm::append_range(arguments, *wrapping);
  return llvm::Error::success();
}

static Arguments hardened(const LinkOptions &options) {
  Arguments arguments = {"-o",           "output",     "-Wl,--gc-sections", "-Wl,--build-id=none",
                         "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"};
  if (options.strip)
    arguments.push_back("-s");
  return arguments;
}

namespace {

/// The arguments that let a program lie anywhere, before and after everything that is linked.
struct ProgramForm {
  Arguments before, after;
};

} // namespace

/// The best form first; another is for a compiler that cannot make it.
static llvm::SmallVector<ProgramForm, 2> programForms(const LinkOptions &options) {
  if (!options.isStatic)
    return {{{"-pie"}, {}}};
  switch (options.staticPie) {
  case StaticPie::Asked:
    return {{{"-static-pie"}, {}}};
  case StaticPie::AskedFirst:
    return {{{"-static-pie"}, {}}, {{"-static"}, {}}};
  case StaticPie::Spelled:
    return {{{"-static", "-Wl,-pie,--no-dynamic-linker,-z,text", "-nostartfiles", "-l:rcrt1.o", "-l:crti.o",
              "-l:crtbeginS.o"},
             {"-l:crtendS.o", "-l:crtn.o"}},
            {{"-static"}, {}}};
  }
  llvm_unreachable("every way is handled");
}

llvm::Error package::linkExecutable(llvm::ArrayRef<std::string> objects, const LinkOptions &options,
                                    const StagedFile &program) {
  Arguments parts(objects.begin(), objects.end());
  if (llvm::Error error = addRuntime(options, /*isProgram=*/true, program, parts))
    return error;
  if (!options.isStatic)
    if (llvm::Error error = addOldGlibc(options, program, parts))
      return error;
  llvm::Error failed = llvm::Error::success();
  for (const ProgramForm &form : programForms(options)) {
    Arguments arguments = hardened(options);
    llvm::append_range(arguments, form.before);
    llvm::append_range(arguments, parts);
    llvm::append_range(arguments, Arguments{"-pthread", "-lm"});
    llvm::append_range(arguments, form.after);
    llvm::consumeError(std::move(failed));
    failed =
        spawnCompiler(options.compiler, arguments, {.file = program, .doWhat = "link", .remedy = remedyOf(options)});
    if (!failed)
      break;
  }
  return failed;
}

llvm::Error package::linkSharedLibrary(llvm::ArrayRef<std::string> objects, const LinkOptions &options,
                                       const StagedFile &library) {
  static constexpr char kVersions[] = "exports.map";
  llvm::Error written = library.fillPart(kVersions, [&](llvm::raw_ostream &out) {
    out << "{\n  global:\n";
    for (const std::string &name : options.exports)
      out << "    " << name << ";\n";
    out << "  local: *;\n};\n";
    return llvm::Error::success();
  });
  if (written)
    return written;
  Arguments arguments = hardened(options);
  // Bound to itself: if two such libraries are in a process, each has its own runtime.
  llvm::append_range(arguments, Arguments{"-shared", "-Wl,-Bsymbolic", "-Wl,--no-undefined",
                                          std::string("-Wl,--version-script=") + kVersions});
  // The compiler would take a comma for the end of the linker's argument.
  llvm::append_range(arguments,
                     Arguments{"-Xlinker", "-soname", "-Xlinker", llvm::sys::path::filename(library.output()).str()});
  llvm::append_range(arguments, objects);
  if (llvm::Error error = addRuntime(options, /*isProgram=*/false, library, arguments))
    return error;
  if (llvm::Error error = addOldGlibc(options, library, arguments))
    return error;
  llvm::append_range(arguments, Arguments{"-pthread", "-lm"});
  return spawnCompiler(options.compiler, arguments, {.file = library, .doWhat = "link", .remedy = remedyOf(options)});
}

/// Writes the object with all symbols but these local, so that no other object can refer to them.
static llvm::Error hideSymbols(llvm::MemoryBufferRef object, llvm::ArrayRef<std::string> kept, llvm::raw_ostream &out) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  llvm::objcopy::ConfigManager config;
  for (const std::string &name : kept)
    if (llvm::Error error = config.Common.SymbolsToKeepGlobal.addMatcher(llvm::objcopy::NameOrPattern::create(
            name, llvm::objcopy::MatchStyle::Literal, [](llvm::Error error) { return error; })))
      return error;
  return llvm::objcopy::executeObjcopyOnBinary(config, **file, out);
}

llvm::Error package::linkArchive(llvm::ArrayRef<std::string> objects, const LinkOptions &options,
                                 llvm::StringRef member, const StagedFile &archive) {
  static constexpr char kWhole[] = "whole.o";
  Arguments arguments = {"-r", "-nostdlib", "-o", kWhole, "-Wl,--build-id=none", "-Wl,--gc-sections"};
  for (const std::string &name : options.exports)
    arguments.push_back("-Wl,-u," + name);
  llvm::append_range(arguments, objects);
  if (llvm::Error error = addRuntime(options, /*isProgram=*/false, archive, arguments))
    return error;
  if (llvm::Error error =
          spawnCompiler(options.compiler, arguments, {.file = archive, .doWhat = "link", .remedy = remedyOf(options)}))
    return error;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> whole = llvm::MemoryBuffer::getFile(archive.part(kWhole));
  if (!whole)
    return failure(archive.output() + ": cannot link: " + whole.getError().message());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = hideSymbols((*whole)->getMemBufferRef(), options.exports, stream))
    return failure(archive.output() + ": cannot link: " + llvm::toString(std::move(error)));
  return archive.fill([&](llvm::raw_ostream &out) {
    llvm::NewArchiveMember object(llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), member));
    return llvm::writeArchiveToStream(out, std::move(object), llvm::SymtabWritingMode::NormalSymtab,
                                      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  });
}
