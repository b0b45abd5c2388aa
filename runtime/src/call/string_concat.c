/*===- string_concat.c - Strings joined ---------------------------------===*/
#include "string_element.h"

const char *kiln_call_string_concat(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_string *result = buffers[0];
  const kiln_string *a = buffers[1], *b = buffers[2];
  for (int64_t i = 0; i < sizes[0]; i++) {
    const char *first = kiln_text_of(a[i]), *second = kiln_text_of(b[i]);
    size_t head = strlen(first), tail = strlen(second);
    char *joined = scratch->keep(scratch, (int64_t)(head + tail) + 1);
    if (!joined)
      return "no memory for its strings";
    memcpy(joined, first, head);
    memcpy(joined + head, second, tail + 1);
    result[i] = joined;
  }
  return NULL;
}
