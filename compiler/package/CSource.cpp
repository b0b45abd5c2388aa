#include "package/CSource.h"

#include "package/Spawn.h"

#include "kiln/program.h"

using namespace kiln;
using namespace kiln::package;

/// Weights are not written as C literals: the assembler copies them from the file into a section that may lie further
/// than 2 GB from the code.
static void includeWeights(llvm::StringRef file, llvm::raw_ostream &out) {
  out << "#ifdef __x86_64__\n#define KILN_SECTION \".lrodata.kiln,\\\"al\\\"\"\n#else\n"
      << "#define KILN_SECTION \".rodata.kiln,\\\"a\\\"\"\n#endif\n"
      << "__asm__(\".pushsection \" KILN_SECTION \",%progbits\\n.balign " << KILN_ALIGNMENT
      << "\\nkiln_the_weights:\\n.incbin \\\"" << file << "\\\"\\n.popsection\\n\");\n";
}

llvm::Error package::compileC(llvm::StringRef source, const CSourceOptions &options, const StagedFile &to,
                              llvm::StringRef name) {
  static constexpr char kSource[] = "source.c";
  llvm::Error written = to.fillPart(kSource, [&](llvm::raw_ostream &out) {
    out << source;
    if (!options.weightsPart.empty())
      includeWeights(options.weightsPart, out);
    return llvm::Error::success();
  });
  if (written)
    return written;
  // The source is passed as standard input, so that no file's name gets into the bytes.
  std::vector<std::string> arguments = {"-std=c11",
                                        "-O" + std::to_string(options.level),
                                        "-fwrapv",
                                        "-ffp-contract=off",
                                        "-ffunction-sections",
                                        "-fdata-sections",
                                        "-fPIC",
                                        "-I" + options.includeFolder};
  if (options.isX86)
    arguments.push_back("-fcf-protection=full");
  switch (options.result) {
  case CResult::Object:
    arguments.push_back("-c");
    break;
  case CResult::Assembly:
    arguments.push_back("-S");
    break;
  case CResult::SharedLibrary:
    arguments.push_back("-shared");
    break;
  }
  for (llvm::StringRef argument :
       {llvm::StringRef("-o"), name, llvm::StringRef("-x"), llvm::StringRef("c"), llvm::StringRef("-")})
    arguments.push_back(argument.str());
  if (options.result == CResult::SharedLibrary)
    arguments.push_back("-lm");
  return spawnCompiler(options.compiler, arguments, {.file = to, .doWhat = "compile", .input = kSource});
}
