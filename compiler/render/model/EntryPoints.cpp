#include "render/model/EntryPoints.h"

using namespace kiln;

static constexpr render::EntryPoint kEntryPoints[] = {
    {"create", "kiln_context_create", true, "kiln_status ",
     "const kiln_options *options, kiln_context **context, char *error, size_t error_bytes",
     "options, context, error, error_bytes", "ipppz",
     "Makes what runs need: memory, threads, a device. One context belongs to one thread at a time. `options` may be\n"
     " * NULL. On failure *context is NULL and, where `error` is not NULL, up to error_bytes of the cause are there."},
    {"destroy", "kiln_context_destroy", false, "void ", "kiln_context *context", "context", "vp", ""},
    {"error", "kiln_context_error", false, "const char *", "const kiln_context *context", "context", "pp",
     "The cause of the last failure in one line, or \"\"."},
    {"run_tensors", "kiln_run", false, "kiln_status ",
     "kiln_context *context, const kiln_tensor *inputs, int32_t input_count, kiln_tensor *outputs, "
     "int32_t output_count",
     "context, inputs, input_count, outputs, output_count", "ippipi",
     "Runs the model on tensors in declared order. An input whose data is NULL takes its stored default. An output "
     "whose\n"
     " * data is NULL, or whose capacity is KILN_CONTEXT_MEMORY, is in memory of the context until the next run. Any "
     "other\n"
     " * goes to `data`, which has room for `capacity` bytes."},
    {"input", "kiln_input_info", true, "kiln_status ", "int32_t index, kiln_port_info *info", "index, info", "iip",
     "The name, dtype and shape of input or output `index`; KILN_INVALID_ARGUMENT if there is none."},
    {"output", "kiln_output_info", true, "kiln_status ", "int32_t index, kiln_port_info *info", "index, info", "iip",
     ""},
    {"alias", "kiln_alias_info", true, "kiln_status ", "int32_t index, kiln_alias *info", "index, info", "iip",
     "The `index`-th output that lies in an input's memory."},
};

llvm::ArrayRef<render::EntryPoint> render::entryPoints() { return kEntryPoints; }

std::vector<std::string> render::entryPointNames(llvm::StringRef prefix) {
  std::vector<std::string> names;
  for (const EntryPoint &entry : kEntryPoints)
    names.push_back(prefix.str() + "_" + entry.suffix.str());
  return names;
}
