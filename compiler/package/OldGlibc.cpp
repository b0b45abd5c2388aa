#include "package/OldGlibc.h"

#include "support/Error.h"

#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"

using namespace kiln;
namespace object = llvm::object;

static llvm::Error addNames(const object::ObjectFile &file, std::vector<std::string> &names) {
  for (const object::SymbolRef &symbol : file.symbols()) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (name->consume_front("__wrap_"))
      names.push_back(name->str());
  }
  return llvm::Error::success();
}

static llvm::Error addNames(const object::Archive &archive, std::vector<std::string> &names) {
  llvm::Error error = llvm::Error::success();
  for (const object::Archive::Child &child : archive.children(error)) {
    llvm::Expected<std::unique_ptr<object::Binary>> member = child.getAsBinary();
    if (!member)
      return llvm::joinErrors(std::move(error), member.takeError());
    if (auto *file = llvm::dyn_cast<object::ObjectFile>(member->get()))
      if (llvm::Error failed = addNames(*file, names))
        return llvm::joinErrors(std::move(error), std::move(failed));
  }
  return error;
}

static llvm::Error addNames(llvm::StringRef path, std::vector<std::string> &names) {
  llvm::Expected<object::OwningBinary<object::Binary>> binary = object::createBinary(path);
  if (!binary)
    return binary.takeError();
  if (auto *archive = llvm::dyn_cast<object::Archive>(binary->getBinary()))
    return addNames(*archive, names);
  return addNames(*llvm::cast<object::ObjectFile>(binary->getBinary()), names);
}

llvm::Expected<std::vector<std::string>> package::oldGlibcArguments(llvm::ArrayRef<std::string> files,
                                                                    bool loadsLibraries) {
  std::vector<std::string> names;
  for (const std::string &file : files)
    if (llvm::Error error = addNames(file, names))
      return failure(file + ": cannot be read: " + llvm::toString(std::move(error)),
                     "build or install kiln as a whole");
  std::vector<std::string> arguments;
  if (names.empty())
    return arguments;
  for (const std::string &name : names)
    arguments.push_back("-Wl,--wrap=" + name);
  llvm::append_range(arguments, files);
  // Newer glibcs have no separate libraries of these names, but keep empty ones for programs that name them.
  arguments.push_back("-Wl,--push-state,--no-as-needed");
  arguments.push_back("-l:libpthread.so.0");
  if (loadsLibraries)
    arguments.push_back("-l:libdl.so.2");
  arguments.push_back("-Wl,--pop-state");
  return arguments;
}
