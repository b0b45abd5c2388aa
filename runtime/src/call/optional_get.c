/*===- optional_get.c - The tensor of an optional -----------------------===*/
#include "sequence_element.h"

const char *kiln_call_optional_get(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)sizes;
  (void)scratch;
  kiln_sequence *result = buffers[0];
  *result = *(const kiln_sequence *)buffers[1];
  return *result ? NULL : "the optional has no element";
}
