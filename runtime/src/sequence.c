/*===- sequence.c - Sequences and optionals as inputs and outputs --------===*/
#include "sequence.h"

#include "dtype.h"

#include <inttypes.h>
#include <string.h>

static bool fits(const kiln_port *wanted, const kiln_tensor *tensor) {
  if (tensor->dtype != wanted->dtype || (wanted->rank >= 0 && tensor->rank != wanted->rank))
    return false;
  for (int32_t axis = 0; axis < wanted->rank; axis++)
    if (wanted->dims[axis].size >= 0 && wanted->dims[axis].size != tensor->dims[axis])
      return false;
  return true;
}

/* The tensor at `index` does not fit the port. */
static void tell_tensor(const kiln_port *port, const kiln_port *wanted, int64_t index, const kiln_tensor *tensor,
                        bool sized, kiln_text *cause) {
  kiln_text_add(cause, "input '%s': tensor %" PRId64 ": wanted ", port->name, index);
  kiln_text_add_port(cause, wanted);
  if (!sized) {
    kiln_text_add(cause, ", given sizes that are negative or too large");
    return;
  }
  kiln_text_add(cause, ", given ");
  kiln_text_add_tensor(cause, tensor);
  if (!tensor->data)
    kiln_text_add(cause, " without data");
}

kiln_status kiln_check_sequence(const kiln_port *port, kiln_sequence given, kiln_text *cause) {
  const kiln_port *wanted = kiln_tensor_port(port);
  if (!given && port->dtype == KILN_OPTIONAL)
    return KILN_OK;
  if (!given || given->count < 0 || (given->count > 0 && !given->tensors)) {
    kiln_text_add_wanted(cause, port);
    kiln_text_add(cause, ", given no list");
    return KILN_INVALID_ARGUMENT;
  }
  if (!kiln_is_sequence(port) && given->count != 1) {
    kiln_text_add(cause, "input '%s': wanted one tensor, given %" PRId64, port->name, given->count);
    return KILN_INVALID_ARGUMENT;
  }
  for (int64_t i = 0; i < given->count; i++) {
    const kiln_tensor *tensor = &given->tensors[i];
    bool sized = tensor->rank >= 0 && tensor->rank <= KILN_MAX_RANK;
    int64_t count = sized ? kiln_element_count(tensor->dtype, tensor->rank, tensor->dims) : -1;
    if (count >= 0 && fits(wanted, tensor) && (tensor->data || count == 0))
      continue;
    tell_tensor(port, wanted, i, tensor, count >= 0, cause);
    return KILN_INVALID_ARGUMENT;
  }
  return KILN_OK;
}

static void *keep(kiln_context *context, int64_t bytes) {
  return kiln_heap_alloc(&context->heaps[context->heap_turn], &context->options.memory, bytes > 0 ? bytes : 1);
}

kiln_status kiln_keep_strings(kiln_context *context, const char *name, kiln_string *strings, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const char *text = strings[i] ? strings[i] : "";
    int64_t bytes = (int64_t)strlen(text) + 1;
    char *kept = keep(context, bytes);
    if (!kept)
      return kiln_fail(context, KILN_OUT_OF_MEMORY, "output '%s': no memory for its strings", name);
    memcpy(kept, text, (size_t)bytes);
    strings[i] = kept;
  }
  return KILN_OK;
}

/* Tensors that this run made stay where they are. */
static kiln_status keep_tensor(kiln_context *context, const char *name, kiln_tensor *tensor) {
  int64_t count = kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  int64_t bytes = count * (int64_t)kiln_dtype_size(tensor->dtype);
  tensor->capacity = KILN_CONTEXT_MEMORY;
  bool is_own = kiln_heap_has(&context->heaps[context->heap_turn], tensor->data);
  if (is_own && tensor->dtype != KILN_STRING)
    return KILN_OK;
  uint8_t *kept = keep(context, bytes);
  if (!kept)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "output '%s': no memory for %" PRId64 " bytes", name, bytes);
  if (bytes > 0)
    memcpy(kept, tensor->data, (size_t)bytes);
  for (int64_t i = 0; tensor->dtype == KILN_BOOL && i < bytes; i++)
    kept[i] = kept[i] != 0;
  tensor->data = kept;
  return tensor->dtype == KILN_STRING ? kiln_keep_strings(context, name, tensor->data, count) : KILN_OK;
}

kiln_status kiln_keep_sequence(kiln_context *context, const char *name, kiln_sequence *sequence) {
  kiln_sequence from = *sequence;
  if (!from)
    return KILN_OK;
  kiln_list *list = keep(context, (int64_t)sizeof *list);
  kiln_tensor *tensors = list ? keep(context, from->count * (int64_t)sizeof *tensors) : NULL;
  if (!tensors)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "output '%s': no memory for its list", name);
  /* Nobody may add to the list of an output: it may be in use in another context. */
  *list = (kiln_list){tensors, from->count, 0};
  for (int64_t i = 0; i < from->count; i++) {
    tensors[i] = from->tensors[i];
    kiln_status status = keep_tensor(context, name, &tensors[i]);
    if (status)
      return status;
  }
  *sequence = list;
  return KILN_OK;
}
