#include "import/onnx/text/Patterns.h"

#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <memory>
#include <vector>

using namespace kiln::import::onnx;

std::string kiln::import::onnx::patternError(kiln_call call, llvm::ArrayRef<std::string> patterns,
                                             llvm::ArrayRef<int64_t> numbers) {
  struct Memory : kiln_scratch {
    std::vector<std::unique_ptr<std::max_align_t[]>> blocks;
  } memory;
  memory.reserve = memory.keep = [](kiln_scratch *scratch, int64_t bytes) -> void * {
    auto block = std::make_unique<std::max_align_t[]>(size_t(bytes) / sizeof(std::max_align_t) + 1);
    return static_cast<Memory *>(scratch)->blocks.emplace_back(std::move(block)).get();
  };
  llvm::SmallVector<const char *> texts;
  for (const std::string &pattern : patterns)
    texts.push_back(pattern.c_str());
  void *buffers[] = {nullptr, nullptr, texts.data()};
  const char *cause = call(buffers, numbers.data(), &memory);
  return cause ? cause : "";
}
