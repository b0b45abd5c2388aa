//===- Compile.cpp - Compile CUDA C++ to a program's binaries ------------------===//
// A GPU runs machine code of its own generation only, and compiles PTX of its own or an older one through its driver.
// So a program carries machine code for the requested architectures, which starts at once, and the PTX of the newest of
// them for later GPUs. Architectures with a letter, as sm_90a, are for that one GPU: their PTX would serve no later
// one, so PTX is made of the newest without a letter.
//===----------------------------------------------------------------------------===//

#include "runtime/device/cuda/Compile.h"

#include "runtime/device/cuda/Disassemble.h"
#include "runtime/device/cuda/Nvrtc.h"
#include "runtime/device/cuda/image.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

using namespace kiln;
using namespace kiln::cuda;

namespace {

struct Arch {
  std::string name;
  unsigned number;
  bool isExact; ///< for this number alone
};

} // namespace

/// The oldest that has the instructions that kernels use: conversions from and to bfloat16.
static constexpr unsigned kOldest = 80;

static llvm::Expected<llvm::SmallVector<Arch>> parseArchs(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> names;
  text.split(names, ',');
  llvm::SmallVector<Arch> archs;
  for (llvm::StringRef name : names) {
    name = name.trim();
    llvm::StringRef digits = name;
    bool isNamed = digits.consume_front("sm_"), isExact = digits.consume_back("a");
    unsigned number = 0;
    if (!isNamed || digits.getAsInteger(10, number) || number < kOldest || number > 999)
      return usageError("--gpu-arch " + text + ": '" + name + "' is not an architecture from sm_80 on",
                        "write for example sm_80,sm_90a");
    if (llvm::none_of(archs, [&](const Arch &known) { return known.name == name; }))
      archs.push_back({name.str(), number, isExact});
  }
  return archs;
}

namespace {

struct Image {
  cuda_image_kind kind;
  unsigned arch;
  std::string bytes;

  std::string name() const {
    return (kind == CUDA_IMAGE_PTX ? "compute_" : "sm_") + std::to_string(arch) + (kind == CUDA_IMAGE_EXACT ? "a" : "");
  }
};

/// All binaries of one source.
struct Binaries {
  int toolkit;
  llvm::SmallVector<Image> images; ///< the PTX last
};

} // namespace

static llvm::Expected<Binaries> makeBinaries(llvm::StringRef source, llvm::StringRef names, bool onlyPtx) {
  llvm::Expected<llvm::SmallVector<Arch>> archs = parseArchs(names);
  if (!archs)
    return archs.takeError();
  llvm::Expected<const Nvrtc *> nvrtc = Nvrtc::load();
  if (!nvrtc)
    return nvrtc.takeError();
  const Arch *newest = nullptr; // of those that have PTX for later GPUs
  for (const Arch &arch : *archs)
    if (!arch.isExact && (!newest || arch.number > newest->number))
      newest = &arch;
  unsigned ptxArch = newest ? newest->number : 0;
  for (const Arch &arch : *archs)
    ptxArch = newest ? ptxArch : std::max(ptxArch, arch.number);
  Binaries binaries{(*nvrtc)->version(), {}};
  std::string ptx;
  for (const Arch &arch : *archs) {
    if (onlyPtx)
      continue;
    llvm::Expected<Nvrtc::Result> made = (*nvrtc)->compile(source, arch.name);
    if (!made)
      return made.takeError();
    binaries.images.push_back({arch.isExact ? CUDA_IMAGE_EXACT : CUDA_IMAGE_CUBIN, arch.number, made->cubin});
    if (&arch == newest)
      ptx = made->ptx;
  }
  if (ptx.empty()) {
    llvm::Expected<Nvrtc::Result> made = (*nvrtc)->compile(source, "compute_" + std::to_string(ptxArch));
    if (!made)
      return made.takeError();
    ptx = made->ptx;
  }
  binaries.images.push_back({CUDA_IMAGE_PTX, ptxArch, ptx + '\0'});
  return binaries;
}

llvm::Expected<std::string> cuda::compile(llvm::StringRef source, llvm::StringRef archs) {
  llvm::Expected<Binaries> binaries = makeBinaries(source, archs, /*onlyPtx=*/false);
  if (!binaries)
    return binaries.takeError();
  std::string code;
  auto append = [&](const auto &value) { code.append(reinterpret_cast<const char *>(&value), sizeof value); };
  append(cuda_images{KILN_CUDA_MAGIC, uint32_t(binaries->toolkit), uint32_t(binaries->images.size())});
  uint64_t offset = sizeof(cuda_images) + binaries->images.size() * sizeof(cuda_image);
  for (const Image &image : binaries->images) {
    append(cuda_image{uint32_t(image.kind), image.arch, offset, image.bytes.size()});
    offset += image.bytes.size();
  }
  for (const Image &image : binaries->images)
    code += image.bytes;
  return code;
}

llvm::Expected<std::string> cuda::assemble(llvm::StringRef source, llvm::StringRef archs) {
  llvm::Expected<Binaries> binaries = makeBinaries(source, archs, /*onlyPtx=*/true);
  if (!binaries)
    return binaries.takeError();
  std::string &ptx = binaries->images.back().bytes;
  ptx.pop_back();
  return ptx;
}

llvm::Expected<std::string> cuda::listing(llvm::StringRef source, llvm::StringRef archs) {
  std::optional<std::string> disassembler = findDisassembler();
  if (!disassembler) {
    llvm::Expected<std::string> ptx = assemble(source, archs);
    if (!ptx)
      return ptx.takeError();
    return "// PTX in place of machine code, which nvdisasm or cuobjdump would show: pip install nvidia-cuda-nvdisasm, "
           "and let KILN_NVDISASM name its nvdisasm\n" +
           *ptx;
  }
  llvm::Expected<Binaries> binaries = makeBinaries(source, archs, /*onlyPtx=*/false);
  if (!binaries)
    return binaries.takeError();
  std::string text;
  for (const Image &image : llvm::ArrayRef(binaries->images).drop_back()) {
    llvm::Expected<std::string> instructions = disassemble(*disassembler, image.bytes);
    if (!instructions)
      return instructions.takeError();
    text += "// machine code for " + image.name() + "\n" + *instructions;
  }
  return text;
}
