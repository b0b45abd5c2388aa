//===- RunModel.h - A model from text, as C, run by the real runtime -----------===//
#pragma once

#include "CompiledC.h"
#include "Kernels.h"

#include "target/Device.h"

#include "kiln/program.h"

namespace kiln::test {

/// A device, and the compiler of the host program. Each test program names those that it tests.
struct Setup {
  target::Device device;
  llvm::StringRef compiler;
};
const std::vector<Setup> &setups();

/// A dense tensor of one axis.
struct Tensor {
  kiln_dtype dtype = KILN_BOOL;
  int64_t count = 0;
  std::vector<char> bytes;
};
template <class T> Tensor tensor(kiln_dtype dtype, const std::vector<T> &values) {
  auto *data = reinterpret_cast<const char *>(values.data());
  return {dtype, int64_t(values.size()), std::vector<char>(data, data + values.size() * sizeof(T))};
}

class RunModel {
public:
  /// A module with a host.program and its kernels.
  RunModel(const Setup &setup, llvm::StringRef text);
  ~RunModel();
  RunModel(const RunModel &) = delete;

  const kiln_model &model() const { return *model_; }
  const std::string &source() const { return source_; }

  /// Inputs that are not given are taken by their defaults.
  kiln_status run(std::vector<Tensor> inputs);
  template <class T> std::vector<T> output(unsigned index) const {
    auto *data = static_cast<const T *>(outputs_[index].data);
    return {data, data + (outputs_[index].rank ? outputs_[index].dims[0] : 1)};
  }
  std::string error() const { return kiln_context_error(context_); }

private:
  std::string source_;
  std::unique_ptr<CompiledC> compiled_;
  const kiln_model *model_ = nullptr;
  kiln_context *context_ = nullptr;
  std::vector<kiln_tensor> outputs_;
};

} // namespace kiln::test
