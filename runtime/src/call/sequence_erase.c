/*===- sequence_erase.c - One tensor fewer ------------------------------===*/
#include "sequence_element.h"

const char *kiln_call_sequence_erase(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)sizes;
  kiln_sequence *result = buffers[0], from = *(const kiln_sequence *)buffers[1];
  int64_t at = *(const int64_t *)buffers[2];
  if (!kiln_find_place(&at, from->count))
    return KILN_OUTSIDE_LIST;
  kiln_list *list = kiln_make_list(scratch, from->count - 1, from->count - 1);
  if (!list)
    return KILN_NO_MEMORY_FOR_LIST;
  kiln_tensor *tensors = (kiln_tensor *)list->tensors;
  memcpy(tensors, from->tensors, (size_t)at * sizeof *tensors);
  memcpy(tensors + at, from->tensors + at + 1, (size_t)(from->count - at - 1) * sizeof *tensors);
  *result = list;
  return NULL;
}
