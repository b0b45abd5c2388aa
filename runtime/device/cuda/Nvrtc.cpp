#include "runtime/device/cuda/Nvrtc.h"

#include "support/Error.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

using namespace kiln;
using namespace kiln::cuda;

// The part of NVRTC's interface that kiln uses. It is a stable C interface; its header is not needed to build kiln.
using Program = struct OpaqueProgram *;
struct Nvrtc::Functions {
  int (*Version)(int *major, int *minor);
  int (*CreateProgram)(Program *, const char *source, const char *name, int headers, const char *const *texts,
                       const char *const *names);
  int (*CompileProgram)(Program, int options, const char *const *texts);
  int (*DestroyProgram)(Program *);
  int (*GetProgramLogSize)(Program, size_t *);
  int (*GetProgramLog)(Program, char *);
  int (*GetPTXSize)(Program, size_t *);
  int (*GetPTX)(Program, char *);
  int (*GetCUBINSize)(Program, size_t *);
  int (*GetCUBIN)(Program, char *);
  const char *(*GetErrorString)(int);
};

static llvm::SmallVector<std::string> candidates() {
  llvm::SmallVector<std::string> files;
  if (const char *named = getenv("KILN_NVRTC"); named && *named)
    return {named};
  if (llvm::StringRef built = KILN_NVRTC_LIBRARY; !built.empty())
    files.push_back(built.str());
  files.append({"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"});
  return files;
}

llvm::Expected<const Nvrtc *> Nvrtc::load() {
  static std::mutex mutex;
  static Nvrtc nvrtc;
  static Functions functions;
  std::lock_guard<std::mutex> lock(mutex);
  if (nvrtc.functions_)
    return &nvrtc;
  void *library = nullptr;
  llvm::SmallVector<std::string> files = candidates();
  for (const std::string &file : files)
    if ((library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
  if (!library)
    return failure(files.back() + ": cannot be loaded: NVRTC compiles the kernels of device cuda",
                   "install it (pip install nvidia-cuda-nvrtc-cu12) and let KILN_NVRTC name its libnvrtc.so");
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      missing = name;
  };
  find(functions.Version, "nvrtcVersion");
  find(functions.CreateProgram, "nvrtcCreateProgram");
  find(functions.CompileProgram, "nvrtcCompileProgram");
  find(functions.DestroyProgram, "nvrtcDestroyProgram");
  find(functions.GetProgramLogSize, "nvrtcGetProgramLogSize");
  find(functions.GetProgramLog, "nvrtcGetProgramLog");
  find(functions.GetPTXSize, "nvrtcGetPTXSize");
  find(functions.GetPTX, "nvrtcGetPTX");
  find(functions.GetCUBINSize, "nvrtcGetCUBINSize");
  find(functions.GetCUBIN, "nvrtcGetCUBIN");
  find(functions.GetErrorString, "nvrtcGetErrorString");
  int major = 0, minor = 0;
  if (missing || functions.Version(&major, &minor) != 0 || major < 12)
    return failure(files.back() + ": is not an NVRTC of CUDA 12 or newer", "let KILN_NVRTC name one");
  nvrtc.version_ = major * 1000 + minor * 10;
  nvrtc.functions_ = &functions;
  return &nvrtc;
}

/// The first line of a log that reports an error, else the first line.
static llvm::StringRef firstError(llvm::StringRef log) {
  llvm::SmallVector<llvm::StringRef> lines;
  log.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (line.contains("error"))
      return line;
  return lines.empty() ? log : lines.front();
}

llvm::Expected<Nvrtc::Result> Nvrtc::compile(llvm::StringRef source, llvm::StringRef arch) const {
  const std::string text = source.str(), option = ("--gpu-architecture=" + arch).str();
  // Functions without a word about it run on the device; contraction exists only where kiln says fma.
  const char *options[] = {option.c_str(), "--std=c++17", "--fmad=false", "-default-device"};
  Program program;
  if (int code = functions_->CreateProgram(&program, text.c_str(), "kernels.cu", 0, nullptr, nullptr))
    return failure(llvm::Twine("NVRTC: ") + functions_->GetErrorString(code));
  int code = functions_->CompileProgram(program, std::size(options), options);
  auto fetch = [&](int (*size)(Program, size_t *), int (*get)(Program, char *)) {
    size_t bytes = 0;
    std::string result;
    if (size(program, &bytes) == 0 && bytes > 0) {
      result.resize(bytes);
      get(program, result.data());
    }
    return result;
  };
  Result result;
  std::string log;
  if (code) {
    log = fetch(functions_->GetProgramLogSize, functions_->GetProgramLog);
  } else {
    result.ptx = llvm::StringRef(fetch(functions_->GetPTXSize, functions_->GetPTX)).rtrim('\0').str();
    if (arch.starts_with("sm_"))
      result.cubin = fetch(functions_->GetCUBINSize, functions_->GetCUBIN);
  }
  functions_->DestroyProgram(&program);
  if (!code)
    return result;
  llvm::StringRef cause = firstError(llvm::StringRef(log).rtrim('\0'));
  return failure("NVRTC refused the kernels for " + arch + ": " +
                 (cause.empty() ? functions_->GetErrorString(code) : cause));
}
