/*===- string_normalize.c - Words without stop words, in one case -------===*/
#include "string_element.h"

#include <stdbool.h>
#include <string.h>

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }
static char upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c; }

static bool are_equal(const char *a, const char *b, bool heeds_case) {
  if (heeds_case)
    return strcmp(a, b) == 0;
  while (*a && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return lower(*a) == lower(*b);
}

const char *kiln_call_string_normalize(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_string *result = buffers[0];
  const kiln_string *x = buffers[2], *stops = buffers[3];
  int64_t *count = buffers[1], found = 0;
  for (int64_t i = 0; i < sizes[0]; i++) {
    const char *word = kiln_text_of(x[i]);
    bool is_stop = false;
    for (int64_t k = 0; !is_stop && k < sizes[1]; k++)
      is_stop = are_equal(word, kiln_text_of(stops[k]), sizes[3] != 0);
    if (is_stop)
      continue;
    char *made = kiln_keep_text(scratch, word, strlen(word));
    if (!made)
      return "no memory for its strings";
    for (char *c = made; *c && sizes[2] != KILN_CASE_KEEP; c++)
      *c = sizes[2] == KILN_CASE_LOWER ? lower(*c) : upper(*c);
    result[found++] = made;
  }
  if (found == 0)
    result[found++] = "";
  *count = found;
  return NULL;
}
