/*===- string_equal.c - Which strings are the same ----------------------===*/
#include "string_element.h"

const char *kiln_call_string_equal(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  uint8_t *result = buffers[0];
  const kiln_string *a = buffers[1], *b = buffers[2];
  for (int64_t i = 0; i < sizes[0]; i++)
    result[i] = strcmp(kiln_text_of(a[i]), kiln_text_of(b[i])) == 0;
  return NULL;
}
