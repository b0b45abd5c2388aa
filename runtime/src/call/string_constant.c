/*===- string_constant.c - Strings in a program's constants -------------===*/
#include "string_element.h"

const char *kiln_call_string_constant(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_string *result = buffers[0];
  const char *text = buffers[1];
  for (int64_t i = 0; i < sizes[0]; i++) {
    size_t bytes = strlen(text);
    /* The bytes may be a copy that is freed after the call. */
    result[i] = kiln_keep_text(scratch, text, bytes);
    if (!result[i])
      return "no memory for its strings";
    text += bytes + 1;
  }
  return NULL;
}
