/*===- alias.c - Outputs that lie in an input's memory -------------------===*/
#include "alias.h"

#include "dtype.h"

#include <inttypes.h>
#include <string.h>

const kiln_alias *kiln_alias_of_input(const kiln_model *model, int32_t index) {
  for (int32_t i = 0; i < model->alias_count; i++)
    if (model->aliases[i].input == index)
      return &model->aliases[i];
  return NULL;
}

const kiln_alias *kiln_alias_of_output(const kiln_model *model, int32_t index) {
  for (int32_t i = 0; i < model->alias_count; i++)
    if (model->aliases[i].output == index)
      return &model->aliases[i];
  return NULL;
}

int64_t kiln_memory_bytes(const kiln_port *port, const kiln_alias *alias, const int64_t *dims) {
  int64_t room[KILN_MAX_RANK];
  for (int32_t axis = 0; axis < port->rank; axis++)
    room[axis] = alias && axis == alias->axis ? alias->capacity : dims[axis];
  int64_t count = kiln_element_count(port->dtype, port->rank, room);
  return count < 0 ? -1 : count * (int64_t)kiln_dtype_size(port->dtype);
}

int64_t kiln_given_bytes(const kiln_context *context, int32_t input) {
  return kiln_memory_bytes(&context->model->inputs[input], kiln_alias_of_input(context->model, input),
                           context->inputs[input].dims);
}

bool kiln_overlap(const void *left, int64_t left_bytes, const void *right, int64_t right_bytes) {
  uintptr_t a = (uintptr_t)left, b = (uintptr_t)right;
  return a < b + (uintptr_t)right_bytes && b < a + (uintptr_t)left_bytes;
}

static kiln_status check_room(kiln_context *context, const kiln_alias *alias) {
  const kiln_port *port = &context->model->inputs[alias->input];
  const kiln_tensor *given = &context->inputs[alias->input];
  if (alias->axis < 0)
    return KILN_OK;
  if (given->dims[alias->axis] > alias->capacity)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "input '%s': axis %" PRId32 ": wanted at most the capacity of %" PRId64 ", given %" PRId64,
                     port->name, alias->axis, alias->capacity, given->dims[alias->axis]);
  int64_t bytes = kiln_memory_bytes(port, alias, given->dims);
  if (bytes < 0 || given->capacity < bytes)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "input '%s': wanted room for %" PRId64 " bytes, given a capacity of %" PRId64, port->name, bytes,
                     given->capacity);
  return KILN_OK;
}

static kiln_status check_alias(kiln_context *context, const kiln_alias *alias) {
  const kiln_model *model = context->model;
  const char *input = model->inputs[alias->input].name, *output = model->outputs[alias->output].name;
  const kiln_tensor *given = context->inputs ? &context->inputs[alias->input] : NULL;
  const kiln_tensor *wanted = &context->outputs[alias->output];
  if (!given || !given->data)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "input '%s': wanted memory of the caller's, in which '%s' comes to lie; given none", input,
                     output);
  if (wanted->data && wanted->capacity != KILN_CONTEXT_MEMORY && wanted->data != given->data)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "output '%s': comes to lie in the memory of input '%s'; give it none of its own", output, input);
  kiln_status status = check_room(context, alias);
  int64_t bytes = kiln_given_bytes(context, alias->input);
  for (int32_t i = 0; !status && i < model->input_count; i++)
    if (i != alias->input && context->inputs[i].data &&
        kiln_overlap(given->data, bytes, context->inputs[i].data, kiln_given_bytes(context, i)))
      status =
          kiln_fail(context, KILN_INVALID_ARGUMENT,
                    "inputs '%s' and '%s': given memory that overlaps, and the first is written; give each its own",
                    input, model->inputs[i].name);
  return status;
}

kiln_status kiln_check_aliases(kiln_context *context) {
  kiln_status status = KILN_OK;
  for (int32_t i = 0; !status && i < context->model->alias_count; i++)
    status = check_alias(context, &context->model->aliases[i]);
  return status;
}
