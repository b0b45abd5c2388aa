/*===- sequence_length.c - How many tensors -----------------------------===*/
#include "sequence_element.h"

const char *kiln_call_sequence_length(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)sizes;
  (void)scratch;
  int64_t *result = buffers[0];
  *result = (*(const kiln_sequence *)buffers[1])->count;
  return NULL;
}
