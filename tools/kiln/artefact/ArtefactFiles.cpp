#include "ArtefactFiles.h"

#include "render/model/CHeader.h"

#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::driver;
namespace path = llvm::sys::path;

/// The texts before and after the model's name.
static std::pair<llvm::StringRef, llvm::StringRef> affixes(Emit emit) {
  switch (emit) {
  case Emit::Obj:
    return {"", ".o"};
  case Emit::Shared:
    return {"lib", ".so"};
  case Emit::Static:
    return {"lib", ".a"};
  case Emit::Header:
    return {"", ".h"};
  case Emit::Source:
    return {"", ".c"};
  default:
    return {"", ""};
  }
}

bool driver::isArtefact(Emit emit) { return emit == Emit::Exe || !affixes(emit).second.empty(); }

static std::string beside(llvm::StringRef output, const llvm::Twine &name) {
  llvm::SmallString<128> file(path::parent_path(output));
  path::append(file, name);
  return file.str().str();
}

ArtefactFiles::ArtefactFiles(const CompileOptions &options, const ArtefactOptions &artefact) : output(artefact.output) {
  if (!isArtefact(artefact.emit))
    return;
  auto [before, behind] = affixes(artefact.emit);
  if (output.empty())
    output = (before + path::stem(options.model) + behind).str();
  if (artefact.emit == Emit::Exe)
    return;
  llvm::StringRef stem = path::stem(output == "-" ? options.model : output);
  if (output != "-" && stem.size() > before.size())
    stem.consume_front(before);
  prefix = render::headerName(artefact.name.empty() ? stem : artefact.name);
  if (artefact.emit != Emit::Header)
    header = beside(output, stem + ".h");
  if (artefact.emit == Emit::Static)
    pkgConfig = beside(output, stem + ".pc");
  if (artefact.emit == Emit::Source) {
    runtimeSource = beside(output, "kiln.c");
    runtimeHeader = beside(output, "kiln.h");
  }
}

std::vector<std::pair<std::string, const char *>> ArtefactFiles::companions() const {
  std::vector<std::pair<std::string, const char *>> files;
  for (auto [file, what] :
       {std::pair(&header, "the header"), std::pair(&pkgConfig, "the file for pkg-config"),
        std::pair(&runtimeSource, "the runtime"), std::pair(&runtimeHeader, "the runtime's header")})
    if (!file->empty())
      files.push_back({*file, what});
  return files;
}
