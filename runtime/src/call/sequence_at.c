/*===- sequence_at.c - A tensor of a sequence ---------------------------===*/
#include "sequence_element.h"

static const kiln_tensor *find(kiln_sequence sequence, int64_t at) {
  return kiln_find_place(&at, sequence->count) ? &sequence->tensors[at] : NULL;
}

const char *kiln_call_sequence_shape(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  const kiln_tensor *found = find(*(const kiln_sequence *)buffers[1], *(const int64_t *)buffers[2]);
  if (!found)
    return KILN_OUTSIDE_LIST;
  if (found->rank != sizes[0])
    return "the tensor has not as many axes as the model says";
  memcpy(buffers[0], found->dims, (size_t)found->rank * sizeof *found->dims);
  return NULL;
}

const char *kiln_call_sequence_at(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  const kiln_tensor *found = find(*(const kiln_sequence *)buffers[1], *(const int64_t *)buffers[2]);
  if (!found)
    return KILN_OUTSIDE_LIST;
  if (!kiln_is_like(found, sizes))
    return "the tensor has not the dtype and the shape that the model says";
  kiln_copy_elements(buffers[0], found->data, kiln_tensor_bytes(found), found->dtype);
  return NULL;
}
