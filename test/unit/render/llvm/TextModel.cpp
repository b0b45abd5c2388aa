#include "TextModel.h"

#include "ir/graph/Graph.h"
#include "runtime/device/cpu/cpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace kiln;
using namespace kiln::test;

TextModel::TextModel(const std::string &text, llvm::StringRef folder) : folder_(folder) {
  context_.loadDialect<uop::UOpDialect, host::HostDialect, KilnDialect, graph::GraphDialect, mlir::arith::ArithDialect,
                       mlir::scf::SCFDialect>();
  module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
  REQUIRE(module_);
}

TextModel::~TextModel() = default;

render::RuntimeSymbols test::runtimeSymbols() {
  render::RuntimeSymbols symbols;
#define KILN_SYMBOL(NAME) symbols[#NAME] = reinterpret_cast<void *>(NAME)
  KILN_SYMBOL(kiln_rt_input);
  KILN_SYMBOL(kiln_rt_weight);
  KILN_SYMBOL(kiln_rt_output);
  KILN_SYMBOL(kiln_rt_arena);
  KILN_SYMBOL(kiln_rt_zeros);
  KILN_SYMBOL(kiln_rt_plan);
  KILN_SYMBOL(kiln_rt_alloc);
  KILN_SYMBOL(kiln_rt_free);
  KILN_SYMBOL(kiln_rt_copy);
  KILN_SYMBOL(kiln_rt_read);
  KILN_SYMBOL(kiln_rt_write);
  KILN_SYMBOL(kiln_rt_fail);
  KILN_SYMBOL(kiln_rt_fail_at);
  KILN_SYMBOL(kiln_rt_launch);
  KILN_SYMBOL(kiln_rt_batch_sample);
  KILN_SYMBOL(kiln_rt_batch_end);
#undef KILN_SYMBOL
  symbols["kiln_device_cpu"] = const_cast<kiln_device *>(&kiln_device_cpu);
  return symbols;
}

const kiln_model &TextModel::model() {
  if (!loaded_) {
    std::unique_ptr<render::Jit> jit =
        llvm::cantFail(render::Jit::create(llvm::cantFail(target::describeCpu("")), 2, runtimeSymbols()));
    loaded_ = llvm::cantFail(jit->loadModel(tables(), "text", folder_));
  }
  return loaded_->model();
}

std::vector<float> TextModel::run(std::vector<std::vector<float>> inputs) {
  kiln_options options = {};
  options.size = sizeof options;
  options.threads = 1;
  kiln_context *context = nullptr;
  char error[256] = "";
  INFO(error);
  REQUIRE(kiln_context_create(&model(), &options, &context, error, sizeof(error)) == KILN_OK);
  std::vector<kiln_tensor> given(model().input_count), made(model().output_count);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].reserve(1); // an empty tensor still is given
    given[i] = {inputs[i].data(), KILN_FLOAT32, 1, {int64_t(inputs[i].size())}, 0};
  }
  kiln_status status = kiln_run(context, given.data(), model().input_count, made.data(), model().output_count);
  INFO(kiln_context_error(context));
  REQUIRE(status == KILN_OK);
  const float *data = static_cast<const float *>(made[0].data);
  std::vector<float> result(data, data + made[0].dims[0]);
  kiln_context_destroy(context);
  return result;
}
