/*===- program.c - What a host program calls: inputs and outputs ---------===*/
/*
 * A caller's tensor is used in place if the device can reach it there; otherwise a copy replaces it. An output needs
 * more care: the memory given for it may be too small, overlap another output's, or be an input that a kernel still
 * reads. Then the result goes to memory of the context, or is copied once the run is over. The context has two memories
 * for each output, so that the last result can be the next run's input.
 */
#include "alias.h"
#include "bind.h"
#include "context.h"
#include "dtype.h"
#include "sequence.h"

#include <inttypes.h>
#include <string.h>

/* The device's view of host memory that it can use in place, or NULL. */
static void *map_host(const kiln_opened *opened, const void *data) {
  if (!opened->device->map_host || (uintptr_t)data % KILN_HOST_ALIGNMENT != 0)
    return NULL;
  return opened->device->map_host(opened->state, (void *)data);
}

/* Whether a caller's tensor is in memory of the device. */
static bool is_owned(const kiln_opened *opened, const void *data) {
  return data && opened->device->owns && opened->device->owns(opened->state, data);
}

/* A caller's tensor may be in the host's memory, or in that of the device that the program wants it in. */
static kiln_status check_place(kiln_context *context, const kiln_opened *wanted, const char *kind, const char *name,
                               const void *data) {
  for (int32_t i = 0; i < context->model->device_count; i++) {
    const kiln_opened *other = &context->devices[i];
    if (other != wanted && is_owned(other, data))
      return kiln_fail(context, KILN_INVALID_ARGUMENT,
                       "%s '%s': given memory of device '%s', wanted the host's or that of '%s'; copy it there first",
                       kind, name, other->device->name, wanted->device->name);
  }
  return KILN_OK;
}

static kiln_status check_owned(kiln_context *context, const char *kind, const char *name, const void *data) {
  if ((uintptr_t)data % KILN_HOST_ALIGNMENT == 0)
    return KILN_OK;
  return kiln_fail(context, KILN_INVALID_ARGUMENT, "%s '%s': memory of the device wanted at a multiple of %d bytes",
                   kind, name, KILN_HOST_ALIGNMENT);
}

kiln_status kiln_rt_input(kiln_context *context, int32_t index, kiln_slice *slice) {
  kiln_input_state *state = &context->input_states[index];
  *slice = state->slice;
  if (state->ready)
    return KILN_OK;
  const kiln_port *port = &context->model->inputs[index];
  const kiln_opened *opened = &context->devices[port->device];
  const void *data = port->value, *given = NULL;
  int64_t dims[KILN_MAX_RANK];
  for (int32_t axis = 0; axis < port->rank; axis++)
    dims[axis] = port->dims[axis].size;
  if (context->inputs && kiln_input_given(port, &context->inputs[index])) {
    data = given = context->inputs[index].data;
    memcpy(dims, context->inputs[index].dims, sizeof dims);
  }
  int64_t bytes = kiln_memory_bytes(port, kiln_alias_of_input(context->model, index), dims);
  bool owned = is_owned(opened, data);
  kiln_status status =
      owned ? check_owned(context, "input", port->name, data) : check_place(context, opened, "input", port->name, data);
  if (status)
    return status;
  if (port->dtype == KILN_BOOL && !owned && !kiln_are_bools(data, bytes)) {
    if (!kiln_host_reserve(context, &state->bools, bytes, NULL))
      return kiln_fail(context, KILN_OUT_OF_MEMORY, "input '%s': no memory for %" PRId64 " bytes", port->name, bytes);
    for (int64_t i = 0; i < bytes; i++)
      ((uint8_t *)state->bools.memory)[i] = ((const uint8_t *)data)[i] != 0;
    data = state->bools.memory;
  }
  void *mapped = owned ? (void *)data : data ? map_host(opened, data) : NULL;
  state->slice = (kiln_slice){mapped, 0};
  if (!mapped) {
    if ((status = kiln_block_reserve(context, opened, &state->copy, bytes, port->name)))
      return status;
    state->slice.memory = state->copy.memory;
    if (bytes > 0 && (status = opened->device->write(opened->state, state->slice, data, bytes)))
      return kiln_fail_device(context, opened, status, port->name);
  }
  state->ready = true;
  state->in_place = mapped && data == given;
  *slice = state->slice;
  return KILN_OK;
}

kiln_status kiln_rt_weight(kiln_context *context, int32_t index, kiln_slice *slice) {
  *slice = context->weights[index];
  return KILN_OK;
}

/* Whether memory shares a byte with a given input: a kernel that writes one while another still reads the other would
 * be wrong. */
static bool is_read(const kiln_context *context, const void *memory, int64_t bytes) {
  for (int32_t i = 0; context->inputs && i < context->model->input_count; i++) {
    const void *input = context->inputs[i].data;
    if (input && kiln_overlap(memory, bytes, input, kiln_given_bytes(context, i)))
      return true;
  }
  return false;
}

/* Whether the caller's memory for output `index` has room for its bytes and overlaps no other output. */
static kiln_status check_given(kiln_context *context, int32_t index) {
  const kiln_model *model = context->model;
  const kiln_output_state *state = &context->output_states[index];
  int64_t room = context->outputs[index].capacity;
  if (room < state->bytes)
    return kiln_fail(context, KILN_INVALID_ARGUMENT,
                     "output '%s': wanted room for %" PRId64 " bytes, given a capacity of %" PRId64,
                     model->outputs[index].name, state->bytes, room);
  for (int32_t i = 0; i < model->output_count; i++) {
    const kiln_output_state *other = &context->output_states[i];
    if (i != index && other->ready && other->host && kiln_overlap(state->host, state->bytes, other->host, other->bytes))
      return kiln_fail(context, KILN_INVALID_ARGUMENT,
                       "outputs '%s' and '%s': given memory that overlaps; give each its own", model->outputs[i].name,
                       model->outputs[index].name);
  }
  for (int32_t i = 0; i < model->alias_count; i++) {
    int32_t input = model->aliases[i].input;
    if (kiln_overlap(state->host, state->bytes, context->inputs[input].data, kiln_given_bytes(context, input)))
      return kiln_fail(context, KILN_INVALID_ARGUMENT,
                       "output '%s': given memory of input '%s', which is written; give it its own",
                       model->outputs[index].name, model->inputs[input].name);
  }
  return KILN_OK;
}

static kiln_status reserve_own(kiln_context *context, int32_t index) {
  kiln_output_state *state = &context->output_states[index];
  kiln_block *own = &state->own[state->turn];
  if (!kiln_host_reserve(context, own, state->bytes, &context->devices[context->model->outputs[index].device]))
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "output '%s': no memory for %" PRId64 " bytes",
                     context->model->outputs[index].name, state->bytes);
  state->host = own->memory;
  return KILN_OK;
}

/* The one of the context's two memories for the output that no input lies in. If inputs lie in both, none is touched
 * before the run is over. */
static kiln_status choose_own(kiln_context *context, int32_t index) {
  kiln_output_state *state = &context->output_states[index];
  for (int tried = 0; tried < 2; tried++, state->turn = !state->turn) {
    const kiln_block *own = &state->own[state->turn];
    if (!own->memory || !is_read(context, own->memory, own->bytes))
      return reserve_own(context, index);
  }
  return KILN_OK;
}

/* An output in the memory of an input. */
static kiln_status tell_alias(kiln_context *context, const kiln_alias *alias, const int64_t *dims, kiln_slice *slice) {
  kiln_output_state *state = &context->output_states[alias->output];
  const kiln_port *port = &context->model->outputs[alias->output];
  kiln_status status = kiln_rt_input(context, alias->input, slice);
  if (status)
    return status;
  state->rank = port->rank;
  for (int32_t axis = 0; axis < port->rank; axis++)
    state->dims[axis] = dims[axis];
  state->bytes = kiln_given_bytes(context, alias->input);
  state->host = context->inputs[alias->input].data;
  state->in_place = context->input_states[alias->input].in_place;
  state->slice = *slice;
  state->ready = true;
  return KILN_OK;
}

kiln_status kiln_rt_output(kiln_context *context, int32_t index, const int64_t *dims, kiln_slice *slice) {
  const kiln_port *port = &context->model->outputs[index];
  const kiln_tensor *given = &context->outputs[index];
  const kiln_opened *opened = &context->devices[port->device];
  kiln_output_state *state = &context->output_states[index];
  const kiln_alias *alias = kiln_alias_of_output(context->model, index);
  if (alias)
    return tell_alias(context, alias, dims, slice);
  state->rank = port->rank - port->optional_axes;
  while (state->rank < port->rank && dims[state->rank] >= 0)
    state->rank++;
  int64_t count = kiln_element_count(port->dtype, state->rank, dims);
  if (count < 0)
    return kiln_fail(context, KILN_INVALID_ARGUMENT, "output '%s': its sizes are negative or too large", port->name);
  for (int32_t axis = 0; axis < port->rank; axis++)
    state->dims[axis] = axis < state->rank ? dims[axis] : -1;
  state->bytes = count * (int64_t)kiln_dtype_size(port->dtype);
  bool callers = given->data && given->capacity != KILN_CONTEXT_MEMORY;
  state->host = callers ? given->data : NULL;
  kiln_status status = callers ? check_given(context, index) : choose_own(context, index);
  if (status)
    return status;
  bool owned = callers && is_owned(opened, state->host);
  if (owned)
    status = check_owned(context, "output", port->name, state->host);
  else if (callers)
    status = check_place(context, opened, "output", port->name, state->host);
  if (status)
    return status;
  void *mapped = NULL;
  if (state->host && !(callers && is_read(context, state->host, state->bytes)))
    mapped = owned ? state->host : map_host(opened, state->host);
  state->in_place = mapped != NULL;
  if (!mapped && (status = kiln_block_reserve(context, opened, &state->copy, state->bytes, port->name)))
    return status;
  state->slice = (kiln_slice){mapped ? mapped : state->copy.memory, 0};
  state->ready = true;
  *slice = state->slice;
  return KILN_OK;
}

static kiln_status synchronize_all(kiln_context *context) {
  kiln_status status = KILN_OK;
  for (int32_t i = 0; i < context->model->device_count && !status; i++)
    status = kiln_synchronize(context, &context->devices[i], context->model->name);
  return status;
}

/* The target of an output's reference belongs to its context, whoever made it. */
static kiln_status keep_objects(kiln_context *context, const kiln_port *port, const kiln_output_state *state) {
  if (port->dtype == KILN_STRING)
    return kiln_keep_strings(context, port->name, state->host, state->bytes / (int64_t)sizeof(kiln_string));
  return port->element ? kiln_keep_sequence(context, port->name, state->host) : KILN_OK;
}

kiln_status kiln_outputs_finish(kiln_context *context) {
  for (int32_t i = 0; i < context->model->output_count; i++) {
    const kiln_port *port = &context->model->outputs[i];
    kiln_output_state *state = &context->output_states[i];
    if (!state->ready)
      return kiln_fail(context, KILN_DEVICE_ERROR, "output '%s': the program made none", port->name);
    const kiln_opened *opened = &context->devices[port->device];
    kiln_status status = KILN_OK;
    if (!state->host && ((status = synchronize_all(context)) || (status = reserve_own(context, i))))
      return status;
    if (!state->in_place && state->bytes > 0) {
      status = opened->device->read(opened->state, state->host, state->slice, state->bytes);
      if (status)
        return kiln_fail_device(context, opened, status, port->name);
    }
  }
  kiln_status status = synchronize_all(context);
  if (status)
    return status;
  for (int32_t i = 0; i < context->model->output_count; i++) {
    const kiln_output_state *state = &context->output_states[i];
    const kiln_port *port = &context->model->outputs[i];
    kiln_tensor *tensor = &context->outputs[i];
    if ((status = keep_objects(context, port, state)))
      return status;
    if (tensor->data != state->host)
      tensor->capacity = KILN_CONTEXT_MEMORY;
    tensor->data = state->host;
    tensor->dtype = port->dtype;
    tensor->rank = state->rank;
    memcpy(tensor->dims, state->dims, sizeof tensor->dims);
  }
  return KILN_OK;
}

kiln_status kiln_rt_fail(kiln_context *context, kiln_status status, const char *message) {
  return kiln_fail(context, status, "%s", message);
}

kiln_status kiln_rt_fail_at(kiln_context *context, kiln_status status, const char *message, const int64_t *sizes) {
  kiln_text text = kiln_text_in(context->error, sizeof context->error);
  for (; *message; message++)
    if (message[0] == '%' && message[1] == 'd') {
      kiln_text_add(&text, "%" PRId64, *sizes++);
      message++;
    } else {
      message += message[0] == '%' && message[1] == '%';
      kiln_text_add(&text, "%c", *message);
    }
  return status;
}
