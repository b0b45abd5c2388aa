/*===- program.c - What a host program calls: inputs and outputs ---------===*/
#include "bind.h"
#include "context.h"
#include "dtype.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The device's view of host memory that it can use where it lies, or NULL. */
static void *map_host(kiln_context *context, const void *data) {
  if (!context->device->map_host || (uintptr_t)data % KILN_HOST_ALIGNMENT != 0)
    return NULL;
  return context->device->map_host(context->state, (void *)data);
}

kiln_status kiln_rt_input(kiln_context *context, int32_t index, kiln_slice *slice) {
  kiln_input_state *state = &context->input_states[index];
  *slice = state->slice;
  if (state->ready)
    return KILN_OK;
  const kiln_port *port = &context->model->inputs[index];
  const void *data = port->value;
  int64_t dims[KILN_MAX_RANK];
  for (int32_t axis = 0; axis < port->rank; axis++)
    dims[axis] = port->dims[axis].size;
  if (context->inputs && kiln_input_given(port, &context->inputs[index])) {
    data = context->inputs[index].data;
    memcpy(dims, context->inputs[index].dims, sizeof dims);
  }
  int64_t bytes = kiln_element_count(port->dtype, port->rank, dims) * (int64_t)kiln_dtype_size(port->dtype);
  void *mapped = data ? map_host(context, data) : NULL;
  state->slice = (kiln_slice){mapped, 0};
  if (!mapped) {
    kiln_status status = kiln_block_reserve(context, &state->copy, bytes, port->name);
    if (status)
      return status;
    state->slice.memory = state->copy.memory;
    if (bytes > 0 && (status = context->device->write(context->state, state->slice, data, bytes)))
      return kiln_fail_device(context, status, port->name);
  }
  state->ready = true;
  *slice = state->slice;
  return KILN_OK;
}

kiln_status kiln_rt_weight(kiln_context *context, int32_t index, kiln_slice *slice) {
  *slice = context->weights[index];
  return KILN_OK;
}

/* Whether the caller's memory for output `index` shares a byte with a given input: then a kernel that writes the one
 * while another still reads the other would be wrong, and the result must go through memory of the context. */
static bool overlaps_input(const kiln_context *context, int32_t index, int64_t bytes) {
  uintptr_t begin = (uintptr_t)context->outputs[index].data, end = begin + (uintptr_t)bytes;
  for (int32_t i = 0; context->inputs && i < context->model->input_count; i++) {
    const kiln_tensor *input = &context->inputs[i];
    if (!input->data)
      continue;
    uintptr_t first = (uintptr_t)input->data;
    uintptr_t last = first + (uintptr_t)(kiln_element_count(input->dtype, input->rank, input->dims) *
                                         (int64_t)kiln_dtype_size(input->dtype));
    if (begin < last && first < end)
      return true;
  }
  return false;
}

/* Whether the caller's memory for output `index` has room for `count` elements. */
static kiln_status check_room(kiln_context *context, int32_t index, int64_t count) {
  const kiln_port *port = &context->model->outputs[index];
  const kiln_tensor *tensor = &context->outputs[index];
  if (tensor->rank < 0 || tensor->rank > KILN_MAX_RANK)
    return kiln_fail(context, KILN_INVALID_ARGUMENT, "output '%s': given a tensor of rank %" PRId32, port->name,
                     tensor->rank);
  int64_t room = kiln_element_count(port->dtype, tensor->rank, tensor->dims);
  if (room >= count)
    return KILN_OK;
  return kiln_fail(context, KILN_INVALID_ARGUMENT,
                   "output '%s': wanted room for %" PRId64 " elements, given room for %" PRId64, port->name, count,
                   room);
}

static kiln_status grow_host(kiln_context *context, kiln_block *block, int64_t bytes, const char *name) {
  if (block->memory && block->bytes >= bytes)
    return KILN_OK;
  free(block->memory);
  *block = (kiln_block){kiln_host_alloc(bytes), bytes};
  if (block->memory)
    return KILN_OK;
  block->bytes = 0;
  return kiln_fail(context, KILN_OUT_OF_MEMORY, "output '%s': no memory for %" PRId64 " bytes", name, bytes);
}

kiln_status kiln_rt_output(kiln_context *context, int32_t index, const int64_t *dims, kiln_slice *slice) {
  const kiln_port *port = &context->model->outputs[index];
  kiln_output_state *state = &context->output_states[index];
  int64_t count = kiln_element_count(port->dtype, port->rank, dims);
  if (count < 0)
    return kiln_fail(context, KILN_INVALID_ARGUMENT, "output '%s': its sizes are negative or too large", port->name);
  for (int32_t axis = 0; axis < port->rank; axis++)
    state->dims[axis] = dims[axis];
  state->bytes = count * (int64_t)kiln_dtype_size(port->dtype);
  state->host = context->outputs[index].data;
  kiln_status status =
      state->host ? check_room(context, index, count) : grow_host(context, &state->own, state->bytes, port->name);
  if (status)
    return status;
  if (!state->host)
    state->host = state->own.memory;
  void *mapped = NULL;
  if (state->host == state->own.memory || !overlaps_input(context, index, state->bytes))
    mapped = map_host(context, state->host);
  state->in_place = mapped != NULL;
  if (!mapped && (status = kiln_block_reserve(context, &state->copy, state->bytes, port->name)))
    return status;
  state->slice = (kiln_slice){mapped ? mapped : state->copy.memory, 0};
  state->ready = true;
  *slice = state->slice;
  return KILN_OK;
}

kiln_status kiln_outputs_finish(kiln_context *context) {
  for (int32_t i = 0; i < context->model->output_count; i++) {
    const kiln_port *port = &context->model->outputs[i];
    kiln_output_state *state = &context->output_states[i];
    if (!state->ready)
      return kiln_fail(context, KILN_DEVICE_ERROR, "output '%s': the program made none", port->name);
    if (!state->in_place && state->bytes > 0) {
      kiln_status status = context->device->read(context->state, state->host, state->slice, state->bytes);
      if (status)
        return kiln_fail_device(context, status, port->name);
    }
  }
  if (context->device->synchronize) {
    kiln_status status = context->device->synchronize(context->state);
    if (status)
      return kiln_fail_device(context, status, context->model->name);
  }
  for (int32_t i = 0; i < context->model->output_count; i++) {
    const kiln_output_state *state = &context->output_states[i];
    kiln_tensor *tensor = &context->outputs[i];
    tensor->data = state->host;
    tensor->dtype = context->model->outputs[i].dtype;
    tensor->rank = context->model->outputs[i].rank;
    memcpy(tensor->dims, state->dims, sizeof tensor->dims);
  }
  return KILN_OK;
}

kiln_status kiln_rt_fail(kiln_context *context, const char *message) {
  return kiln_fail(context, KILN_INVALID_ARGUMENT, "%s", message);
}
