/*===- run.c - Runs without an operating system --------------------------===
 *
 * The runtime of a model that is compiled with --freestanding, in place of all the others but src/ports.c: for
 * microcontrollers, kernels and boot loaders. Where every size is fixed a model asks for the same memory in each run,
 * so it comes from the caller's allocator, in the first run, and stays. There are no threads, files, devices or logs,
 * and of a C library nothing is called but memcpy (compilers call memset and memmove by themselves) and what the
 * kernels need of libm.
 *
 * What the other runtime copies is refused here, in one line: outputs without memory of the caller's or in memory of an
 * input, bools that are neither 0 nor 1, data that is not aligned to its elements.
 *
 *===---------------------------------------------------------------------===*/
#include "kiln/program.h"

extern void *memcpy(void *restrict to, const void *restrict from, size_t bytes);

enum { ERROR_BYTES = 128 };

struct kiln_context {
  const kiln_model *model;
  kiln_allocator memory;
  const kiln_tensor *inputs; /* of the run; NULL between runs or where none is given */
  const kiln_tensor *outputs;
  void **buffers; /* room for what a launch passes */
  void *arena, *zeros, *scratch;
  int64_t arena_bytes, zeros_bytes, scratch_bytes;
  char error[ERROR_BYTES];
};

const kiln_device kiln_device_c = {.name = "c", .is_host = 1};

static void write_text(char *to, size_t room, const char *const *parts, int count) {
  size_t length = 0;
  for (int part = 0; part < count; part++)
    for (const char *at = parts[part]; *at && length + 1 < room; at++)
      to[length++] = *at;
  if (room)
    to[length] = 0;
}

static kiln_status fail(kiln_context *context, kiln_status status, const char *kind, const char *name,
                        const char *cause) {
  write_text(context->error, ERROR_BYTES, (const char *const[]){kind, name, cause}, 3);
  return status;
}

size_t kiln_dtype_size(kiln_dtype dtype) {
  static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return (unsigned)dtype < sizeof sizes ? sizes[dtype] : 0;
}

const char *kiln_context_error(const kiln_context *context) { return context->error; }

/*===- Contexts ----------------------------------------------------------===*/

static void *allocate(const kiln_allocator *memory, int64_t bytes) {
  return (uint64_t)bytes > PTRDIFF_MAX ? NULL
                                       : memory->allocate(memory->user, bytes ? (size_t)bytes : 1, KILN_ALIGNMENT);
}

static void release(const kiln_allocator *memory, void *block) {
  if (block && memory->release)
    memory->release(memory->user, block);
}

kiln_status kiln_context_create(const kiln_model *model, const kiln_options *options, kiln_context **context,
                                char *error, size_t error_bytes) {
  const char *cause = NULL;
  kiln_status status = KILN_INVALID_ARGUMENT;
  *context = NULL;
  if (model->abi != KILN_ABI_VERSION)
    cause = "the model is of another version than the runtime";
  else if (model->device_count != 1)
    cause = "the model is for several devices; without an operating system there is one";
  else if (!options || options->size < offsetof(kiln_options, span) || !options->memory.allocate)
    cause = "kiln_options.memory has no allocate; all memory of this runtime is the caller's";
  int32_t most = 1;
  for (int32_t i = 0; !cause && i < model->kernel_count; i++)
    most = model->kernels[i].buffers > most ? model->kernels[i].buffers : most;
  int64_t bytes = (int64_t)(sizeof(kiln_context) + (size_t)most * sizeof(void *));
  kiln_context *made = cause ? NULL : allocate(&options->memory, bytes);
  if (!cause && !made) {
    cause = "no memory for the context";
    status = KILN_OUT_OF_MEMORY;
  }
  if (cause) {
    write_text(error, error ? error_bytes : 0, &cause, 1);
    return status;
  }
  *made = (kiln_context){.model = model, .memory = options->memory, .buffers = (void **)(made + 1)};
  *context = made;
  return KILN_OK;
}

void kiln_context_destroy(kiln_context *context) {
  if (!context)
    return;
  const kiln_allocator memory = context->memory;
  release(&memory, context->arena);
  release(&memory, context->zeros);
  release(&memory, context->scratch);
  release(&memory, context);
}

/*===- Runs --------------------------------------------------------------===*/

static const kiln_alias *alias_of(const kiln_model *model, int32_t input, int32_t output) {
  for (int32_t i = 0; i < model->alias_count; i++)
    if (model->aliases[i].input == input || model->aliases[i].output == output)
      return &model->aliases[i];
  return NULL;
}

static int64_t bytes_of(const kiln_port *port, const kiln_alias *alias) {
  int64_t bytes = (int64_t)kiln_dtype_size(port->dtype);
  for (int32_t axis = 0; axis < port->rank; axis++)
    bytes *= alias && axis == alias->axis ? alias->capacity : port->dims[axis].size;
  return bytes;
}

static int overlap(const void *left, int64_t left_bytes, const void *right, int64_t right_bytes) {
  uintptr_t a = (uintptr_t)left, b = (uintptr_t)right;
  return a < b + (uintptr_t)right_bytes && b < a + (uintptr_t)left_bytes;
}

static kiln_status check_input(kiln_context *context, int32_t index) {
  const kiln_port *port = &context->model->inputs[index];
  const kiln_tensor *given = context->inputs ? &context->inputs[index] : NULL;
  const kiln_alias *alias = alias_of(context->model, index, -1);
  int64_t bytes = bytes_of(port, alias);
  if (!given || !given->data)
    return port->value || bytes == 0 ? KILN_OK
                                     : fail(context, KILN_INVALID_ARGUMENT, "input '", port->name, "': given none");
  int fits = given->dtype == port->dtype && given->rank == port->rank;
  for (int32_t axis = 0; fits && axis < port->rank; axis++)
    fits = given->dims[axis] == port->dims[axis].size;
  if (!fits)
    return fail(context, KILN_INVALID_ARGUMENT, "input '", port->name, "': another dtype or shape than declared");
  if ((uintptr_t)given->data % kiln_dtype_size(port->dtype))
    return fail(context, KILN_INVALID_ARGUMENT, "input '", port->name, "': not aligned to its elements");
  if (alias && alias->axis >= 0 && given->capacity < bytes)
    return fail(context, KILN_INVALID_ARGUMENT, "input '", port->name, "': no room for more in the caller's memory");
  for (int32_t i = 0; i < context->model->input_count; i++)
    if (alias && i != index && context->inputs[i].data &&
        overlap(given->data, bytes, context->inputs[i].data,
                bytes_of(&context->model->inputs[i], alias_of(context->model, i, -1))))
      return fail(context, KILN_INVALID_ARGUMENT, "input '", port->name,
                  "': is written, and shares memory with another");
  for (int64_t i = 0; port->dtype == KILN_BOOL && i < bytes; i++)
    if (((const uint8_t *)given->data)[i] > 1)
      return fail(context, KILN_INVALID_ARGUMENT, "input '", port->name, "': a bool is neither 0 nor 1");
  return KILN_OK;
}

static kiln_status check_output(kiln_context *context, int32_t index) {
  const kiln_model *model = context->model;
  const kiln_port *port = &model->outputs[index];
  const kiln_tensor *given = &context->outputs[index];
  int64_t bytes = bytes_of(port, NULL);
  if (alias_of(model, -1, index))
    return KILN_OK; /* in its input's memory, whatever its entry says */
  if (!given->data || given->capacity < bytes)
    return fail(context, KILN_INVALID_ARGUMENT, "output '", port->name, "': no room for it in the caller's memory");
  if ((uintptr_t)given->data % kiln_dtype_size(port->dtype))
    return fail(context, KILN_INVALID_ARGUMENT, "output '", port->name, "': not aligned to its elements");
  for (int32_t i = 0; context->inputs && i < model->input_count; i++)
    if (context->inputs[i].data &&
        overlap(given->data, bytes, context->inputs[i].data, bytes_of(&model->inputs[i], alias_of(model, i, -1))))
      return fail(context, KILN_INVALID_ARGUMENT, "output '", port->name, "': shares memory with an input");
  for (int32_t i = 0; i < index; i++)
    if (!alias_of(model, -1, i) &&
        overlap(given->data, bytes, context->outputs[i].data, bytes_of(&model->outputs[i], NULL)))
      return fail(context, KILN_INVALID_ARGUMENT, "output '", port->name, "': shares memory with another output");
  return KILN_OK;
}

kiln_status kiln_run(kiln_context *context, const kiln_tensor *inputs, int32_t input_count, kiln_tensor *outputs,
                     int32_t output_count) {
  const kiln_model *model = context->model;
  context->error[0] = 0;
  if (output_count != model->output_count || (input_count != 0 && input_count != model->input_count))
    return fail(context, KILN_INVALID_ARGUMENT, model->name, ": ", "not as many inputs or outputs as declared");
  context->inputs = input_count ? inputs : NULL;
  context->outputs = outputs;
  kiln_status status = KILN_OK;
  for (int32_t i = 0; !status && i < model->input_count; i++)
    status = check_input(context, i);
  for (int32_t i = 0; !status && i < model->output_count; i++)
    status = check_output(context, i);
  if (!status)
    status = model->run(context, NULL);
  for (int32_t i = 0; !status && i < model->alias_count; i++)
    outputs[model->aliases[i].output].data = inputs[model->aliases[i].input].data;
  for (int32_t i = 0; !status && i < model->output_count; i++) {
    outputs[i].dtype = model->outputs[i].dtype;
    outputs[i].rank = model->outputs[i].rank;
    for (int32_t axis = 0; axis < outputs[i].rank; axis++)
      outputs[i].dims[axis] = model->outputs[i].dims[axis].size;
  }
  context->inputs = context->outputs = NULL;
  return status;
}

/*===- What the host program calls ---------------------------------------===*/

kiln_status kiln_rt_input(kiln_context *context, int32_t index, kiln_slice *slice) {
  const void *data = context->inputs ? context->inputs[index].data : NULL;
  *slice = (kiln_slice){(void *)(data ? data : context->model->inputs[index].value), 0};
  return KILN_OK;
}

kiln_status kiln_rt_weight(kiln_context *context, int32_t index, kiln_slice *slice) {
  *slice = (kiln_slice){(char *)context->model->weight_data + context->model->weights[index].offset, 0};
  return KILN_OK;
}

kiln_status kiln_rt_output(kiln_context *context, int32_t index, const int64_t *dims, kiln_slice *slice) {
  (void)dims; /* as declared, for sizes are fixed */
  const kiln_alias *alias = alias_of(context->model, -1, index);
  *slice = (kiln_slice){alias ? context->inputs[alias->input].data : context->outputs[index].data, 0};
  return KILN_OK;
}

static kiln_status reserve(kiln_context *context, void **block, int64_t *room, int64_t bytes) {
  if (*block && *room >= bytes)
    return KILN_OK;
  release(&context->memory, *block);
  *room = bytes;
  *block = allocate(&context->memory, bytes);
  return *block ? KILN_OK : fail(context, KILN_OUT_OF_MEMORY, context->model->name, ": ", "no memory for a run");
}

/* There is one device, and all memory is its. */

kiln_status kiln_rt_arena(kiln_context *context, int32_t device, int64_t bytes, const char *busiest,
                          kiln_slice *slice) {
  (void)device;
  (void)busiest;
  kiln_status status = reserve(context, &context->arena, &context->arena_bytes, bytes);
  *slice = (kiln_slice){context->arena, 0};
  return status;
}

/* A program without open sizes has one such block. */
kiln_status kiln_rt_zeros(kiln_context *context, int32_t device, int32_t block, int64_t bytes, int32_t count,
                          const int64_t *sizes, kiln_slice *slice) {
  (void)device;
  (void)block;
  (void)count;
  (void)sizes;
  int known = context->zeros && context->zeros_bytes >= bytes;
  kiln_status status = reserve(context, &context->zeros, &context->zeros_bytes, bytes);
  for (int64_t i = 0; !status && !known && i < bytes; i++)
    ((char *)context->zeros)[i] = 0;
  *slice = (kiln_slice){context->zeros, 0};
  return status;
}

kiln_status kiln_rt_copy(kiln_context *context, kiln_slice to, kiln_slice from, int64_t bytes, int32_t to_device,
                         int32_t from_device) {
  (void)context;
  (void)to_device;
  (void)from_device;
  memcpy((char *)to.memory + to.offset, (const char *)from.memory + from.offset, (size_t)bytes);
  return KILN_OK;
}

kiln_status kiln_rt_fail(kiln_context *context, kiln_status status, const char *message) {
  return fail(context, status, context->model->name, ": ", message);
}

kiln_status kiln_rt_launch(kiln_context *context, const kiln_launch_info *info, const kiln_slice *buffers,
                           const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                           const int64_t estimates[KILN_ESTIMATES]) {
  (void)estimates;
  const kiln_kernel *kernel = &context->model->kernels[info->kernel];
  int32_t shared = kernel->buffers - kernel->scratch;
  for (int32_t i = 0; i < shared; i++)
    context->buffers[i] = (char *)buffers[i].memory + buffers[i].offset;
  int64_t each = 0;
  int wraps = 0; /* never: sizes are fixed, and the compiler has counted them */
  for (int32_t i = shared; i < kernel->buffers; i++)
    each += kiln_size_padded(buffers[i].offset, &wraps);
  kiln_status status = each ? reserve(context, &context->scratch, &context->scratch_bytes, each) : KILN_OK;
  if (status)
    return status;
  char *next = context->scratch;
  for (int32_t i = shared; i < kernel->buffers; i++) {
    context->buffers[i] = next;
    next += kiln_size_padded(buffers[i].offset, &wraps);
  }
  int64_t chunks = grid[0] > 0 && grid[1] > 0 && grid[2] > 0 ? grid[0] * grid[1] * grid[2] : 0;
  for (int64_t chunk = 0; chunk < chunks; chunk++)
    kernel->entry(context->buffers, sizes, chunk);
  return KILN_OK;
}

kiln_status kiln_rt_batch_sample(kiln_context *context, int32_t device, int64_t sample, int64_t samples,
                                 int64_t *slot) {
  (void)context;
  (void)device;
  (void)sample;
  (void)samples;
  *slot = 0;
  return KILN_OK;
}

kiln_status kiln_rt_batch_end(kiln_context *context, int32_t device) {
  (void)context;
  (void)device;
  return KILN_OK;
}
