#include "RunModel.h"

#include "render/c/CHost.h"

#include <catch2/catch.hpp>

using namespace kiln;

test::RunModel::RunModel(const Setup &setup, llvm::StringRef text) {
  Module module(text);
  render::CHostOptions options;
  options.name = "model";
  options.places = {{setup.device.name, setup.device.source ? setup.device.source(module.kernels()) : ""}};
  source_ = llvm::cantFail(render::renderCHost(render::modelTables(*module), options));
  compiled_ = std::make_unique<CompiledC>(setup.compiler, source_,
                                          std::vector<std::string>{std::string("-I") + KILN_RUNTIME_INCLUDE});
  model_ = static_cast<const kiln_model *>(compiled_->address("kiln_the_model"));
  char error[512] = "";
  kiln_options given = {};
  given.size = sizeof given;
  given.threads = 1;
  kiln_status status = kiln_context_create(model_, &given, &context_, error, sizeof error);
  INFO(options.places.front().code);
  INFO(error);
  REQUIRE(status == KILN_OK);
}

test::RunModel::~RunModel() { kiln_context_destroy(context_); }

kiln_status test::RunModel::run(std::vector<Tensor> inputs) {
  std::vector<kiln_tensor> given(model_->input_count);
  outputs_.assign(model_->output_count, kiln_tensor{});
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].bytes.reserve(1); // an empty tensor is given too
    given[i] = {inputs[i].bytes.data(), inputs[i].dtype, 1, {inputs[i].count}, 0};
  }
  return kiln_run(context_, given.data(), model_->input_count, outputs_.data(), model_->output_count);
}
