#include "OtherWords.h"

#include "support/Nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace kiln;
using llvm::StringRef;
using Words = llvm::ArrayRef<std::pair<StringRef, StringRef>>;

/// Names of options in compilers and other tools.
static constexpr std::pair<StringRef, StringRef> kOptions[] = {{"-q", "--quiet"},
                                                               {"-V", "--version"},
                                                               {"-H", "--help"},
                                                               {"--opt-level", "-O"},
                                                               {"--optimize", "-O"},
                                                               {"--output", "-o"},
                                                               {"--out", "-o"},
                                                               {"--cpu", "--mcpu"},
                                                               {"--march", "--mcpu"},
                                                               {"--mtune", "--mcpu"},
                                                               {"--arch", "--target"},
                                                               {"--triple", "--target"},
                                                               {"--backend", "--device"},
                                                               {"--verbose", "--log-level"},
                                                               {"--trace", "--profile"},
                                                               {"--benchmark", "--bench"},
                                                               {"--gpu", "--device cuda"},
                                                               {"--cuda", "--device cuda"},
                                                               {"--opencl", "--device opencl"},
                                                               {"--batch", "--dim batch=N"},
                                                               {"--batch-size", "--dim batch=N"}};

static constexpr std::pair<StringRef, StringRef> kKinds[] = {
    {"c", "source"},       {"bundle", "source"},  {"kernel", "render"}, {"kernels", "render"},
    {"opencl", "render"},  {"cuda", "render"},    {"uop", "lower"},     {"uops", "lower"},
    {"mlir", "lower"},     {"graph", "import"},   {"onnx", "import"},   {"o", "obj"},
    {"object", "obj"},     {"lib", "static"},     {"a", "static"},      {"archive", "static"},
    {"library", "shared"}, {"so", "shared"},      {"dll", "shared"},    {"dylib", "shared"},
    {"h", "header"},       {"executable", "exe"}, {"program", "exe"},   {"binary", "exe"},
    {"bin", "exe"},        {"s", "asm"},          {"assembly", "asm"},  {"assembler", "asm"},
    {"ptx", "asm"},        {"ll", "llvm"},        {"llvm-ir", "llvm"},  {"optimise", "optimize"},
    {"optimized", "opts"}, {"opt", "opts"}};

static constexpr std::pair<StringRef, StringRef> kEndings[] = {
    {".so", "shared"}, {".dylib", "shared"}, {".dll", "shared"}, {".o", "obj"},   {".a", "static"},
    {".h", "header"},  {".c", "source"},     {".s", "asm"},      {".ll", "llvm"}, {".mlir", "lower"}};

static constexpr std::pair<StringRef, StringRef> kSystems[] = {{"x86_64", "x86_64-linux-gnu"},
                                                               {"aarch64", "aarch64-linux-gnu"},
                                                               {"riscv64", "riscv64-linux-gnu"},
                                                               {"armv7", "arm-linux-gnueabihf"}};

static std::string remedy(StringRef given, Words words, llvm::ArrayRef<StringRef> known, StringRef otherwise,
                          unsigned mostEdits) {
  for (const auto &[other, own] : words)
    if (given.equals_insensitive(other) && llvm::is_contained(known, own.split(' ').first))
      return "did you mean '" + own.str() + "'?";
  bool isLetter = given.ltrim('-').size() < 2;
  return isLetter ? otherwise.str() : didYouMean(given, known, otherwise, mostEdits);
}

std::string driver::nearestOption(StringRef given, llvm::ArrayRef<StringRef> known, StringRef otherwise) {
  return remedy(given, kOptions, known, otherwise, /*mostEdits=*/2);
}

std::string driver::nearestKind(StringRef given, llvm::ArrayRef<StringRef> known, StringRef otherwise) {
  return remedy(given, kKinds, known, otherwise, /*mostEdits=*/3);
}

StringRef driver::systemOf(StringRef text) {
  const auto *found = llvm::find_if(kSystems, [&](const auto &each) { return each.first == text; });
  return found == std::end(kSystems) ? text : found->second;
}

StringRef driver::kindOfFile(StringRef file) {
  const auto *found = llvm::find_if(kEndings, [&](const auto &each) { return file.ends_with(each.first); });
  return found == std::end(kEndings) ? "" : found->second;
}
