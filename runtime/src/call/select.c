/*===- select.c - Which elements are true --------------------------------===*/
#include "kiln/call.h"

const char *kiln_call_select(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  int64_t *places = buffers[0], *count = buffers[1];
  const uint8_t *mask = buffers[2];
  int64_t found = 0;
  for (int64_t i = 0; i < sizes[0]; i++)
    if (mask[i])
      places[found++] = i;
  *count = found;
  return 0;
}
