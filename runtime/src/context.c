/*===- context.c - Make, use and end the state of runs -------------------===*/
/*
 * A model is constant and shared. Everything that a run changes is in its context, so that two threads may run
 * one model with a context each. A context keeps the memory of copies, outputs and temporaries from run to run.
 * One function closes a context, whole or half open after an error, so that every step may simply return its
 * status.
 */
#include "context.h"

#include "alias.h"
#include "alloc.h"
#include "bind.h"
#include "clock.h"

#include <inttypes.h>
#include <string.h>

const char *kiln_context_error(const kiln_context *context) { return context->error; }

const char *kiln_status_name(kiln_status status) {
  static const char *const names[] = {"ok",          "invalid argument", "out of memory", "device error",
                                      "index error", "I/O error",        "unavailable"};
  return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

kiln_status kiln_fail(kiln_context *context, kiln_status status, const char *format, ...) {
  kiln_text text = kiln_text_in(context->error, sizeof context->error);
  va_list arguments;
  va_start(arguments, format);
  kiln_text_add_list(&text, format, arguments);
  va_end(arguments);
  return status;
}

kiln_status kiln_fail_device(kiln_context *context, const kiln_opened *opened, kiln_status status, const char *what) {
  const char *cause = opened->device->error ? opened->device->error(opened->state) : "";
  if (!cause || !cause[0])
    cause = status == KILN_OUT_OF_MEMORY ? "out of memory" : "the device failed";
  return kiln_fail(context, status, "%s: %s", what, cause);
}

kiln_status kiln_synchronize(kiln_context *context, const kiln_opened *opened, const char *what) {
  kiln_status status = opened->device->synchronize ? opened->device->synchronize(opened->state) : KILN_OK;
  return status ? kiln_fail_device(context, opened, status, what) : KILN_OK;
}

void kiln_log(kiln_context *context, const char *line) {
  if (context->options.log)
    context->options.log(context->options.log_user, line);
}

void kiln_tell_span(const kiln_context *context, const kiln_span *span) {
  if (context->options.span)
    context->options.span(context->options.span_user, span);
}

static void *take_host(const kiln_context *context, int64_t bytes, const kiln_opened *reader) {
  if (reader && reader->device->host_alloc)
    return reader->device->host_alloc(reader->state, bytes);
  return kiln_allocate(&context->options.memory, bytes, KILN_ALIGNMENT);
}

void kiln_host_release(const kiln_context *context, kiln_block *block, const kiln_opened *reader) {
  if (reader && block->memory && reader->device->host_free)
    reader->device->host_free(reader->state, block->memory);
  else
    kiln_release(&context->options.memory, block->memory);
  *block = (kiln_block){NULL, 0};
}

bool kiln_host_reserve(const kiln_context *context, kiln_block *block, int64_t bytes, const kiln_opened *reader) {
  if (block->memory && block->bytes >= bytes)
    return true;
  /* A block that grew once grows again: a cache by a step in every run. */
  int64_t larger = block->bytes <= INT64_MAX / 2 ? block->bytes + block->bytes / 2 : 0;
  int64_t wanted = larger > bytes ? larger : bytes;
  kiln_host_release(context, block, reader);
  *block = (kiln_block){take_host(context, wanted, reader), wanted};
  if (!block->memory && larger > bytes)
    *block = (kiln_block){take_host(context, bytes, reader), bytes};
  if (!block->memory)
    block->bytes = 0;
  return block->memory;
}

kiln_status kiln_block_reserve(kiln_context *context, const kiln_opened *opened, kiln_block *block, int64_t bytes,
                               const char *what) {
  if (block->memory && bytes >= 0 && block->bytes >= bytes)
    return KILN_OK;
  kiln_block_release(context, opened, block);
  if (bytes >= 0)
    block->memory = opened->device->alloc(opened->state, bytes ? bytes : 1);
  if (!block->memory)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "%s: no memory for %" PRId64 " bytes on device '%s'", what, bytes,
                     opened->device->name);
  block->bytes = bytes;
  context->device_bytes += bytes;
  return KILN_OK;
}

void kiln_block_release(kiln_context *context, const kiln_opened *opened, kiln_block *block) {
  if (block->memory) {
    opened->device->free(opened->state, block->memory);
    context->device_bytes -= block->bytes;
  }
  *block = (kiln_block){NULL, 0};
}

#define TEXT_OF(NUMBER) #NUMBER
#define DECIMAL(NUMBER) TEXT_OF(NUMBER)

/* The fault of an entry of a table, else NULL. */
static const char *fault_of(const kiln_model *model, int32_t rank, int32_t device) {
  if (rank < 0 || rank > KILN_MAX_RANK)
    return "has more than " DECIMAL(KILN_MAX_RANK) " axes";
  return device < 0 || device >= model->device_count ? "is on a device that is not listed" : NULL;
}

/* Whether no tensor has more axes than the runtime's arrays, and every device number in the tables is valid. kiln makes
 * no other model; one written by hand may be wrong. */
static bool fits_tables(kiln_context *context) {
  const kiln_model *model = context->model;
  const char *name = model->name, *fault = model->device_count < 1 ? "lists no device" : NULL;
  for (int32_t i = 0; !fault && i < model->input_count; i++)
    fault = fault_of(model, model->inputs[i].rank, model->inputs[i].device), name = model->inputs[i].name;
  for (int32_t i = 0; !fault && i < model->output_count; i++)
    fault = fault_of(model, model->outputs[i].rank, model->outputs[i].device), name = model->outputs[i].name;
  for (int32_t i = 0; !fault && i < model->weight_count; i++)
    fault = fault_of(model, model->weights[i].rank, model->weights[i].device), name = model->weights[i].name;
  for (int32_t i = 0; !fault && i < model->kernel_count; i++)
    fault = fault_of(model, 0, model->kernels[i].device), name = model->kernels[i].name;
  if (fault)
    kiln_fail(context, KILN_UNAVAILABLE, "%s: '%s' %s; compile the model again", model->name, name, fault);
  return !fault;
}

/* The version of the model that this machine runs, and its number from 1 on: the first device that can tell decides. */
static const kiln_model *choose_version(const kiln_model *model, int *version) {
  const kiln_model *chosen = NULL;
  *version = 1;
  for (int32_t i = 0; i < model->device_count && !chosen; i++)
    if (model->devices[i].device->choose)
      chosen = model->devices[i].device->choose(model);
  if (!chosen)
    return model;
  for (const kiln_model *other = model; other != chosen; other = other->otherwise)
    ++*version;
  return chosen;
}

static kiln_status open_device(kiln_context *context, int32_t place, int version) {
  kiln_opened *opened = &context->devices[place];
  opened->device = context->model->devices[place].device;
  kiln_status status = opened->device->open(context->model, place, &context->options, &opened->state, context->error,
                                            sizeof context->error);
  if (status) {
    opened->state = NULL;
    return status;
  }
  if (context->options.debug >= 1) {
    char line[128];
    kiln_text text = kiln_text_in(line, sizeof line);
    kiln_text_add(&text, "opened device %s", opened->device->name);
    if (version)
      kiln_text_add(&text, ", version %d of the model", version);
    kiln_log(context, line);
  }
  return KILN_OK;
}

static kiln_status open_context(kiln_context *context) {
  const kiln_model *model = context->model;
  const kiln_allocator *memory = &context->options.memory;
  if (model->abi != KILN_ABI_VERSION)
    return kiln_fail(context, KILN_UNAVAILABLE,
                     "%s: made for runtime interface %" PRIu32 ", this is %d; compile it again", model->name,
                     model->abi, KILN_ABI_VERSION);
  int version;
  bool is_choice = model->otherwise;
  model = context->model = choose_version(model, &version);
  if (!fits_tables(context))
    return KILN_UNAVAILABLE;
  context->devices = kiln_allocate_zeros(memory, model->device_count, sizeof *context->devices);
  context->sizes = kiln_allocate_zeros(memory, model->symbol_count, sizeof *context->sizes);
  context->input_states = kiln_allocate_zeros(memory, model->input_count, sizeof *context->input_states);
  context->output_states = kiln_allocate_zeros(memory, model->output_count, sizeof *context->output_states);
  context->weights = kiln_allocate_zeros(memory, model->weight_count, sizeof *context->weights);
  context->weight_copies = kiln_allocate_zeros(memory, model->weight_count, sizeof *context->weight_copies);
  if (!context->devices || !context->sizes || !context->input_states || !context->output_states || !context->weights ||
      !context->weight_copies)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for the context");
  for (int32_t i = 0; i < model->device_count; i++) {
    kiln_status status = open_device(context, i, is_choice && i == 0 ? version : 0);
    if (status)
      return status;
  }
  return kiln_weights_open(context);
}

kiln_status kiln_context_create(const kiln_model *model, const kiln_options *options, kiln_context **context,
                                char *error, size_t error_bytes) {
  *context = NULL;
  kiln_text cause = kiln_text_in(error, error ? error_bytes : 0);
  kiln_options known = {0};
  bool sized = !options || options->size >= offsetof(kiln_options, threads) + sizeof options->threads;
  if (options && sized) /* of an older program, the members that it knows; of a newer one, those that are known here */
    memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
  if (!sized) {
    kiln_text_add(&cause, "kiln_options.size is %zu; set it to sizeof(kiln_options)", options->size);
    return KILN_INVALID_ARGUMENT;
  }
  if (known.memory.allocate && !known.memory.release) {
    kiln_text_add(&cause, "kiln_options.memory has no release; set both functions");
    return KILN_INVALID_ARGUMENT;
  }
  kiln_context *made = kiln_allocate_zeros(&known.memory, 1, sizeof *made);
  if (!made) {
    kiln_text_add(&cause, "no memory for the context");
    return KILN_OUT_OF_MEMORY;
  }
  made->model = model;
  made->options = known;
  kiln_status status = open_context(made);
  if (status) {
    kiln_text_add(&cause, "%s", made->error);
    kiln_context_destroy(made);
    return status;
  }
  /* The strings of `options` are the caller's, and were needed only here. */
  made->options.weights_path = made->options.device = NULL;
  *context = made;
  return KILN_OK;
}

/* The context's blocks of the devices' memory, and the devices themselves; some may not be open. */
static void close_devices(kiln_context *context) {
  const kiln_model *model = context->model;
  kiln_temporaries_release(context);
  for (int32_t i = 0; i < model->input_count; i++) {
    kiln_block_release(context, &context->devices[model->inputs[i].device], &context->input_states[i].copy);
    kiln_release(&context->options.memory, context->input_states[i].bools.memory);
  }
  for (int32_t i = 0; i < model->output_count; i++) {
    const kiln_opened *opened = &context->devices[model->outputs[i].device];
    kiln_block_release(context, opened, &context->output_states[i].copy);
    kiln_host_release(context, &context->output_states[i].own[0], opened);
    kiln_host_release(context, &context->output_states[i].own[1], opened);
  }
  kiln_weights_close(context);
  for (int32_t i = 0; i < model->device_count; i++) {
    kiln_opened *opened = &context->devices[i];
    kiln_block_release(context, opened, &opened->arena);
    kiln_zeros_release(context, opened);
    kiln_release(&context->options.memory, opened->planned);
    if (opened->state)
      opened->device->close(opened->state);
  }
}

void kiln_context_destroy(kiln_context *context) {
  if (!context)
    return;
  const kiln_allocator memory = context->options.memory;
  if (context->devices && context->devices[0].state)
    close_devices(context);
  kiln_heap_free(&context->heaps[0], &memory);
  kiln_heap_free(&context->heaps[1], &memory);
  kiln_release(&memory, context->scratch.memory);
  kiln_release(&memory, context->transit.memory);
  kiln_release(&memory, context->temporaries);
  kiln_release(&memory, context->weight_copies);
  kiln_release(&memory, context->weights);
  kiln_release(&memory, context->output_states);
  kiln_release(&memory, context->input_states);
  kiln_release(&memory, context->sizes);
  kiln_release(&memory, context->devices);
  kiln_release(&memory, context);
}

/* Every input has its data, or a default. */
static kiln_status check_inputs(kiln_context *context) {
  for (int32_t i = 0; i < context->model->input_count; i++) {
    const kiln_port *port = &context->model->inputs[i];
    if (kiln_input_given(port, context->inputs ? &context->inputs[i] : NULL) || port->value)
      continue;
    kiln_text cause = kiln_text_in(context->error, sizeof context->error);
    kiln_text_add_wanted(&cause, port);
    kiln_text_add(&cause, ", given none");
    return KILN_INVALID_ARGUMENT;
  }
  return KILN_OK;
}

static kiln_status run(kiln_context *context) {
  kiln_text cause = kiln_text_in(context->error, sizeof context->error);
  int32_t bad;
  kiln_status status = kiln_bind(context->model, context->inputs, context->sizes, &bad, &cause);
  if (!status)
    status = check_inputs(context);
  if (!status)
    status = kiln_check_aliases(context);
  if (!status)
    status = context->model->run(context, context->sizes);
  if (!status)
    return kiln_outputs_finish(context);
  if (!context->error[0])
    kiln_fail(context, status, "the program stopped");
  for (int32_t i = 0; i < context->model->device_count; i++) /* the caller may free the inputs now */
    if (context->devices[i].device->synchronize)
      context->devices[i].device->synchronize(context->devices[i].state);
  return status;
}

static kiln_status check_count(kiln_context *context, const char *what, int32_t wanted, const kiln_tensor *given,
                               int32_t count) {
  if (count == wanted && (given || count == 0))
    return KILN_OK;
  return kiln_fail(context, KILN_INVALID_ARGUMENT, "%s: wanted %" PRId32 " %s, given %" PRId32, context->model->name,
                   wanted, what, given ? count : 0);
}

kiln_status kiln_run(kiln_context *context, const kiln_tensor *inputs, int32_t input_count, kiln_tensor *outputs,
                     int32_t output_count) {
  context->error[0] = 0;
  kiln_status counted = check_count(context, "outputs", context->model->output_count, outputs, output_count);
  if (!counted && input_count != 0)
    counted = check_count(context, "inputs", context->model->input_count, inputs, input_count);
  if (counted)
    return counted;
  context->inputs = input_count ? inputs : NULL;
  context->outputs = outputs;
  context->heap_turn = !context->heap_turn;
  kiln_heap_free(&context->heaps[context->heap_turn], &context->options.memory);
  for (int32_t i = 0; i < context->model->input_count; i++)
    context->input_states[i].ready = false;
  for (int32_t i = 0; i < context->model->output_count; i++)
    context->output_states[i].ready = false;
  kiln_status status = run(context);
  kiln_temporaries_recycle(context);
  context->inputs = NULL;
  context->outputs = NULL;
  return status;
}
