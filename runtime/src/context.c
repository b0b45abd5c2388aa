/*===- context.c - Make, use up and end what a run needs -----------------===*/
/*
 * A model is constant and shared; all that a run changes is in its context, so that two threads may run one model
 * with a context each. A context keeps the memory of copies, outputs and temporaries from run to run. What was opened
 * before an error is closed by the same function that ends a whole context, so that every step may simply return its
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

kiln_status kiln_fail_device(kiln_context *context, kiln_status status, const char *what) {
  const char *cause = context->device->error ? context->device->error(context->state) : "";
  if (!cause || !cause[0])
    cause = status == KILN_OUT_OF_MEMORY ? "out of memory" : "the device failed";
  return kiln_fail(context, status, "%s: %s", what, cause);
}

void kiln_log(kiln_context *context, const char *line) {
  if (context->options.log)
    context->options.log(context->options.log_user, line);
}

void kiln_tell_span(const kiln_context *context, const char *name, const char *origin, double begin, double end,
                    const int64_t estimates[2]) {
  if (!context->options.span)
    return;
  kiln_span span = {name, origin ? origin : "", -1, begin, end, 0, 0};
  if (estimates) {
    span.operations = estimates[0];
    span.bytes = estimates[1];
  }
  context->options.span(context->options.span_user, &span);
}

static void *take_host(const kiln_context *context, int64_t bytes, bool for_reads) {
  if (for_reads && context->device->host_alloc)
    return context->device->host_alloc(context->state, bytes);
  return kiln_allocate(&context->options.memory, bytes, KILN_ALIGNMENT);
}

void kiln_host_release(const kiln_context *context, kiln_block *block, bool for_reads) {
  if (for_reads && block->memory && context->device->host_free)
    context->device->host_free(context->state, block->memory);
  else
    kiln_release(&context->options.memory, block->memory);
  *block = (kiln_block){NULL, 0};
}

bool kiln_host_reserve(const kiln_context *context, kiln_block *block, int64_t bytes, bool for_reads) {
  if (block->memory && block->bytes >= bytes)
    return true;
  /* What grows once grows again: a cache by a step in every run. */
  int64_t larger = block->bytes <= INT64_MAX / 2 ? block->bytes + block->bytes / 2 : 0;
  int64_t wanted = larger > bytes ? larger : bytes;
  kiln_host_release(context, block, for_reads);
  *block = (kiln_block){take_host(context, wanted, for_reads), wanted};
  if (!block->memory && larger > bytes)
    *block = (kiln_block){take_host(context, bytes, for_reads), bytes};
  if (!block->memory)
    block->bytes = 0;
  return block->memory;
}

kiln_status kiln_block_reserve(kiln_context *context, kiln_block *block, int64_t bytes, const char *what) {
  if (block->memory && bytes >= 0 && block->bytes >= bytes)
    return KILN_OK;
  kiln_block_release(context, block);
  if (bytes >= 0)
    block->memory = context->device->alloc(context->state, bytes ? bytes : 1);
  if (!block->memory)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "%s: no memory for %" PRId64 " bytes on device '%s'", what, bytes,
                     context->device->name);
  block->bytes = bytes;
  context->device_bytes += bytes;
  return KILN_OK;
}

void kiln_block_release(kiln_context *context, kiln_block *block) {
  if (block->memory) {
    context->device->free(context->state, block->memory);
    context->device_bytes -= block->bytes;
  }
  *block = (kiln_block){NULL, 0};
}

/* Whether no tensor has more axes than the runtime's arrays. kiln makes no such model; one by hand may be. */
static bool fits_tables(kiln_context *context) {
  const kiln_model *model = context->model;
  const char *name = NULL;
  for (int32_t i = 0; i < model->input_count; i++)
    if (model->inputs[i].rank < 0 || model->inputs[i].rank > KILN_MAX_RANK)
      name = model->inputs[i].name;
  for (int32_t i = 0; i < model->output_count; i++)
    if (model->outputs[i].rank < 0 || model->outputs[i].rank > KILN_MAX_RANK)
      name = model->outputs[i].name;
  for (int32_t i = 0; i < model->weight_count; i++)
    if (model->weights[i].rank < 0 || model->weights[i].rank > KILN_MAX_RANK)
      name = model->weights[i].name;
  if (name)
    kiln_fail(context, KILN_UNAVAILABLE, "%s: '%s' has more than %d axes; compile the model again", model->name, name,
              KILN_MAX_RANK);
  return !name;
}

static kiln_status open_context(kiln_context *context) {
  const kiln_model *model = context->model;
  const kiln_allocator *memory = &context->options.memory;
  if (model->abi != KILN_ABI_VERSION)
    return kiln_fail(context, KILN_UNAVAILABLE,
                     "%s: made for runtime interface %" PRIu32 ", this is %d; compile it again", model->name,
                     model->abi, KILN_ABI_VERSION);
  context->device = model->device;
  int version = 1;
  if (context->device->choose) {
    context->model = context->device->choose(model);
    for (const kiln_model *other = model; other != context->model; other = other->otherwise)
      version++;
  }
  bool is_choice = model->otherwise;
  model = context->model;
  if (!fits_tables(context))
    return KILN_UNAVAILABLE;
  context->sizes = kiln_allocate_zeros(memory, model->symbol_count, sizeof *context->sizes);
  context->input_states = kiln_allocate_zeros(memory, model->input_count, sizeof *context->input_states);
  context->output_states = kiln_allocate_zeros(memory, model->output_count, sizeof *context->output_states);
  context->weights = kiln_allocate_zeros(memory, model->weight_count, sizeof *context->weights);
  context->weight_copies = kiln_allocate_zeros(memory, model->weight_count, sizeof *context->weight_copies);
  if (!context->sizes || !context->input_states || !context->output_states || !context->weights ||
      !context->weight_copies)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for the context");
  kiln_status status =
      context->device->open(model, &context->options, &context->state, context->error, sizeof context->error);
  if (status) {
    context->state = NULL;
    return status;
  }
  if (context->options.debug >= 1) {
    char line[128];
    kiln_text text = kiln_text_in(line, sizeof line);
    kiln_text_add(&text, "opened device %s", context->device->name);
    if (is_choice)
      kiln_text_add(&text, ", version %d of the model", version);
    kiln_log(context, line);
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

void kiln_context_destroy(kiln_context *context) {
  if (!context)
    return;
  const kiln_model *model = context->model;
  const kiln_allocator memory = context->options.memory;
  if (context->state) {
    kiln_temporaries_release(context);
    kiln_block_release(context, &context->arena);
    kiln_block_release(context, &context->zeros);
    for (int32_t i = 0; i < model->input_count; i++) {
      kiln_block_release(context, &context->input_states[i].copy);
      kiln_release(&memory, context->input_states[i].bools.memory);
    }
    for (int32_t i = 0; i < model->output_count; i++) {
      kiln_block_release(context, &context->output_states[i].copy);
      kiln_host_release(context, &context->output_states[i].own[0], /*for_reads=*/true);
      kiln_host_release(context, &context->output_states[i].own[1], /*for_reads=*/true);
    }
    kiln_weights_close(context);
    context->device->close(context->state);
  }
  kiln_heap_free(&context->heaps[0], &memory);
  kiln_heap_free(&context->heaps[1], &memory);
  kiln_release(&memory, context->scratch.memory);
  kiln_release(&memory, context->planned);
  kiln_release(&memory, context->temporaries);
  kiln_release(&memory, context->weight_copies);
  kiln_release(&memory, context->weights);
  kiln_release(&memory, context->output_states);
  kiln_release(&memory, context->input_states);
  kiln_release(&memory, context->sizes);
  kiln_release(&memory, context);
}

/* Every input has its data, or a default. */
static kiln_status check_inputs(kiln_context *context) {
  for (int32_t i = 0; i < context->model->input_count; i++) {
    const kiln_port *port = &context->model->inputs[i];
    if (kiln_input_given(port, context->inputs ? &context->inputs[i] : NULL) || port->value)
      continue;
    kiln_text cause = kiln_text_in(context->error, sizeof context->error);
    kiln_text_add(&cause, "input '%s': wanted ", port->name);
    kiln_text_add_port(&cause, port);
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
  if (context->device->synchronize) /* the caller may free the inputs now */
    context->device->synchronize(context->state);
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
