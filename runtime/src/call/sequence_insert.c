/*===- sequence_insert.c - One tensor more ------------------------------===*/
#include "sequence_element.h"

/* A list of the same tensors and one more at the end. A loop that collects tensors makes one in each step, so lists
 * share their memory: the first to append takes the free place after a list, and nobody else sees it. */
static kiln_list *append(kiln_scratch *scratch, kiln_sequence from, kiln_tensor added) {
  kiln_tensor *shared = (kiln_tensor *)from->tensors;
  if (from->count < from->room && shared[from->count].rank < 0) {
    kiln_list *list = scratch->keep(scratch, (int64_t)sizeof *list);
    if (!list)
      return NULL;
    *list = (kiln_list){shared, from->count + 1, from->room};
    shared[from->count] = added;
    return list;
  }
  kiln_list *list = kiln_make_list(scratch, from->count + 1, from->count < 4 ? 4 : 2 * from->count);
  if (!list)
    return NULL;
  kiln_tensor *tensors = (kiln_tensor *)list->tensors;
  if (from->count > 0)
    memcpy(tensors, shared, (size_t)from->count * sizeof *tensors);
  tensors[from->count] = added;
  return list;
}

const char *kiln_call_sequence_insert(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_sequence *result = buffers[0], from = *(const kiln_sequence *)buffers[1];
  int64_t at = sizes[0] ? *(const int64_t *)buffers[3] : from->count;
  kiln_tensor added = kiln_tensor_of(sizes + 1, NULL);
  /* There is also a place after the last tensor; counted from the end it has no number. */
  if (at < 0)
    at += from->count;
  if (at < 0 || at > from->count)
    return KILN_OUTSIDE_LIST;
  int64_t bytes = kiln_tensor_bytes(&added);
  added.data = kiln_keep_elements(scratch, bytes);
  if (!added.data)
    return KILN_NO_MEMORY_FOR_LIST;
  kiln_copy_elements(added.data, buffers[2], bytes, added.dtype);
  if (at == from->count) {
    *result = append(scratch, from, added);
    return *result ? NULL : KILN_NO_MEMORY_FOR_LIST;
  }
  kiln_list *list = kiln_make_list(scratch, from->count + 1, from->count + 1);
  if (!list)
    return KILN_NO_MEMORY_FOR_LIST;
  kiln_tensor *tensors = (kiln_tensor *)list->tensors;
  memcpy(tensors, from->tensors, (size_t)at * sizeof *tensors);
  tensors[at] = added;
  memcpy(tensors + at + 1, from->tensors + at, (size_t)(from->count - at) * sizeof *tensors);
  *result = list;
  return NULL;
}
