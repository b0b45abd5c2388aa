/*===- bind.c - Inputs against what a model declares ---------------------===*/
#include "bind.h"

#include "dtype.h"
#include "sequence.h"
#include "size.h"

#include <inttypes.h>

bool kiln_input_given(const kiln_port *port, const kiln_tensor *tensor) {
  if (!tensor)
    return false;
  if (tensor->data)
    return true;
  return !port->value && tensor->rank > 0 && tensor->rank == port->rank && tensor->dtype == port->dtype &&
         kiln_element_count(tensor->dtype, tensor->rank, tensor->dims) == 0;
}

/* Input `index` is unlike its port in dtype, rank or a fixed size. */
static kiln_status mismatch(const kiln_port *port, const kiln_tensor *tensor, kiln_text *cause) {
  kiln_text_add_wanted(cause, port);
  kiln_text_add(cause, ", given ");
  if (tensor->rank < 0 || tensor->rank > KILN_MAX_RANK)
    kiln_text_add(cause, "a tensor of rank %" PRId32, tensor->rank);
  else
    kiln_text_add_tensor(cause, tensor);
  return KILN_INVALID_ARGUMENT;
}

/* The first given input before `index` that has `symbol` as a size; there is one once the symbol is bound. */
static const char *binder_of(const kiln_model *model, const kiln_tensor *inputs, int32_t symbol, int32_t index) {
  for (int32_t i = 0; i < index; i++)
    for (int32_t axis = 0; axis < model->inputs[i].rank; axis++)
      if (model->inputs[i].dims[axis].symbol == symbol && kiln_input_given(&model->inputs[i], &inputs[i]))
        return model->inputs[i].name;
  return model->inputs[index].name;
}

static kiln_status bind_symbol(const kiln_model *model, const kiln_tensor *inputs, int32_t index, int32_t axis,
                               int64_t *sizes, kiln_text *cause) {
  const kiln_port *port = &model->inputs[index];
  int32_t number = port->dims[axis].symbol;
  const kiln_symbol *symbol = &model->symbols[number];
  int64_t size = inputs[index].dims[axis];
  if (size < symbol->min || size > symbol->max) {
    kiln_text_add(cause,
                  "input '%s': axis %" PRId32 " (%s): wanted a size from %" PRId64 " to %" PRId64 ", given %" PRId64,
                  port->name, axis, symbol->name, symbol->min, symbol->max, size);
    return KILN_INVALID_ARGUMENT;
  }
  if (sizes[number] >= 0 && sizes[number] != size) {
    kiln_text_add(cause,
                  "input '%s': axis %" PRId32 " (%s): wanted the size %" PRId64 " that it has in '%s', given %" PRId64
                  "; give equal sizes, or compile an ONNX model with --dim %s.%" PRId32 "=LO..HI",
                  port->name, axis, symbol->name, sizes[number], binder_of(model, inputs, number, index), size,
                  port->name, axis);
    return KILN_INVALID_ARGUMENT;
  }
  sizes[number] = size;
  return KILN_OK;
}

static kiln_status bind_input(const kiln_model *model, const kiln_tensor *inputs, int32_t index, int64_t *sizes,
                              kiln_text *cause) {
  const kiln_port *port = &model->inputs[index];
  const kiln_tensor *tensor = &inputs[index];
  if (tensor->dtype != port->dtype || tensor->rank != port->rank)
    return mismatch(port, tensor, cause);
  if (port->element)
    return kiln_check_sequence(port, *(const kiln_sequence *)tensor->data, cause);
  for (int32_t axis = 0; axis < port->rank; axis++)
    if (port->dims[axis].size >= 0 && port->dims[axis].size != tensor->dims[axis])
      return mismatch(port, tensor, cause);
  if (kiln_element_count(tensor->dtype, tensor->rank, tensor->dims) < 0) {
    kiln_text_add(cause, "input '%s': the sizes of ", port->name);
    kiln_text_add_tensor(cause, tensor);
    kiln_text_add(cause, " are negative or too large");
    return KILN_INVALID_ARGUMENT;
  }
  for (int32_t axis = 0; axis < port->rank; axis++)
    if (port->dims[axis].symbol >= 0) {
      kiln_status status = bind_symbol(model, inputs, index, axis, sizes, cause);
      if (status)
        return status;
    }
  return KILN_OK;
}

/* Sizes like "past + seq", once every symbol is bound. */
static kiln_status check_computed(const kiln_model *model, const kiln_tensor *tensor, const kiln_port *port,
                                  const int64_t *sizes, kiln_text *cause) {
  for (int32_t axis = 0; axis < port->rank; axis++) {
    const kiln_dim *dim = &port->dims[axis];
    int64_t size;
    if (dim->size >= 0 || dim->symbol >= 0)
      continue;
    bool known = kiln_evaluate_size(model, dim->text, sizes, &size);
    if (known && size == tensor->dims[axis])
      continue;
    kiln_text_add(cause, "input '%s': axis %" PRId32 " (%s): ", port->name, axis, dim->text);
    if (known)
      kiln_text_add(cause, "wanted the size %" PRId64 ", given %" PRId64, size, tensor->dims[axis]);
    else
      kiln_text_add(cause, "its size cannot be computed");
    return KILN_INVALID_ARGUMENT;
  }
  return KILN_OK;
}

kiln_status kiln_bind(const kiln_model *model, const kiln_tensor *inputs, int64_t *sizes, int32_t *bad,
                      kiln_text *cause) {
  kiln_status status = KILN_OK;
  for (int32_t i = 0; i < model->symbol_count; i++)
    sizes[i] = -1;
  for (int32_t i = 0; inputs && i < model->input_count && !status; i++)
    if (kiln_input_given(&model->inputs[i], &inputs[i]))
      status = bind_input(model, inputs, *bad = i, sizes, cause);
  for (int32_t i = 0; i < model->symbol_count; i++)
    if (sizes[i] < 0)
      sizes[i] = model->symbols[i].value;
  for (int32_t i = 0; inputs && i < model->input_count && !status; i++)
    if (kiln_input_given(&model->inputs[i], &inputs[i]))
      status = check_computed(model, &inputs[ *bad = i], &model->inputs[i], sizes, cause);
  return status;
}
