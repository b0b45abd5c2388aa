/*===- sequence_empty.c - No tensors ------------------------------------===*/
#include "sequence_element.h"

const char *kiln_call_sequence_empty(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)sizes;
  kiln_sequence *result = buffers[0];
  *result = kiln_make_list(scratch, 0, 0);
  return *result ? NULL : KILN_NO_MEMORY_FOR_LIST;
}
