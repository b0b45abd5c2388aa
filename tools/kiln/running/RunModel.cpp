#include "RunModel.h"

#include "support/DebugStream.h"
#include "support/Error.h"
#include "support/Quote.h"

#include "kiln/cli.h"
#include "kiln/program.h"

#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

static kiln_tensor viewOf(HostTensor &tensor) {
  kiln_tensor view = {};
  view.data = tensor.bytes.data();
  view.dtype = tensor.isList ? KILN_SEQUENCE : tensor.objects ? KILN_STRING : static_cast<kiln_dtype>(tensor.dtype);
  view.rank = static_cast<int32_t>(tensor.dims.size());
  llvm::copy(tensor.dims, view.dims);
  return view;
}

namespace {
/// The target of a tensor that is a sequence.
struct OwnedList {
  std::vector<HostTensor> tensors;
  std::vector<kiln_tensor> views;
  kiln_list list = {};
};
} // namespace

HostTensor driver::listOf(std::vector<HostTensor> tensors) {
  auto owned = std::make_shared<OwnedList>();
  owned->tensors = std::move(tensors);
  for (HostTensor &tensor : owned->tensors)
    owned->views.push_back(viewOf(tensor));
  owned->list = {owned->views.data(), int64_t(owned->views.size()), 0};
  HostTensor list = HostTensor::of(DType::I64, {}, llvm::ArrayRef<kiln_sequence>(&owned->list));
  list.objects = std::move(owned);
  list.isList = true;
  return list;
}

/// A tensor of a run; `owner` keeps the targets of its references.
static HostTensor copyOf(const kiln_tensor &tensor, const std::shared_ptr<const void> &owner) {
  HostTensor result = HostTensor::zeros(storedDType(tensor.dtype), llvm::ArrayRef(tensor.dims, tensor.rank));
  result.isList = tensor.dtype == KILN_SEQUENCE || tensor.dtype == KILN_OPTIONAL;
  if (tensor.dtype == KILN_STRING || result.isList)
    result.objects = owner;
  if (!result.bytes.empty())
    memcpy(result.bytes.data(), tensor.data, result.bytes.size());
  return result;
}

std::vector<HostTensor> driver::tensorsOf(const HostTensor &list) {
  std::vector<HostTensor> tensors;
  if (kiln_sequence sequence = list.elements<kiln_sequence>().front())
    for (const kiln_tensor &tensor : llvm::ArrayRef(sequence->tensors, size_t(sequence->count)))
      tensors.push_back(copyOf(tensor, list.objects));
  return tensors;
}

DType driver::storedDType(kiln_dtype dtype) {
  if (dtype == KILN_STRING || dtype == KILN_SEQUENCE || dtype == KILN_OPTIONAL)
    return DType::I64;
  return dtype < static_cast<int>(kDTypes) ? static_cast<DType>(dtype) : DType::U8;
}

static void printLine(void *, const char *line) { debugStream() << plainText(line) << "\n"; }

llvm::Expected<std::vector<HostTensor>> driver::runModel(const kiln_model &model, std::vector<HostTensor> &inputs,
                                                         int debug) {
  std::vector<kiln_tensor> given(model.input_count), outputs(model.output_count);
  for (auto [index, tensor, input] : llvm::enumerate(given, inputs)) {
    if (input.dims.size() > KILN_MAX_RANK)
      return failure("an input has rank " + llvm::Twine(input.dims.size()) + ", more than the runtime has axes");
    if (!input.isAbsent())
      tensor = viewOf(input);
    if (input.isList && model.inputs[index].element)
      tensor.dtype = model.inputs[index].dtype;
    if (tensor.dtype == KILN_UINT8 && model.inputs[index].dtype >= static_cast<int>(kDTypes) &&
        model.inputs[index].dtype != KILN_STRING)
      tensor.dtype = model.inputs[index].dtype;
  }
  // Memory that is written, or has room for more, is its own.
  std::vector<std::unique_ptr<void, decltype(&free)>> written;
  for (const kiln_alias &alias : llvm::ArrayRef(model.aliases, size_t(model.alias_count))) {
    kiln_tensor &tensor = given[alias.input];
    size_t bytes = inputs[alias.input].bytes.size();
    void *copy = malloc(std::max<size_t>(bytes, 1));
    if (copy && bytes)
      memcpy(copy, tensor.data, bytes);
    tensor.data = copy;
    bool isThere = copy && kiln_room_give(&alias, &tensor);
    written.emplace_back(tensor.data, free);
    if (!isThere)
      return failure("no memory for an input with its capacity");
  }
  kiln_options options = {};
  options.size = sizeof options;
  options.debug = debug;
  options.log = printLine;
  options.device = kiln_device_in_environment(&model);
  char error[512];
  kiln_context *context;
  if (kiln_context_create(&model, &options, &context, error, sizeof error))
    return failure(llvm::Twine(error));
  std::shared_ptr<kiln_context> owner(context, kiln_context_destroy);
  if (kiln_run(context, given.data(), model.input_count, outputs.data(), model.output_count))
    return failure(llvm::Twine(kiln_context_error(context)));
  for (const kiln_alias &alias : llvm::ArrayRef(model.aliases, size_t(model.alias_count))) {
    if (!kiln_room_take(&alias, &outputs[alias.output]))
      return failure("no memory for an output");
    if (alias.axis >= 0)
      written.emplace_back(outputs[alias.output].data, free);
  }
  std::vector<HostTensor> results;
  for (const kiln_tensor &output : outputs)
    results.push_back(copyOf(output, owner));
  return results;
}
