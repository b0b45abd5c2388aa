/*===- string_split.c - The parts of strings between delimiters ---------===*/
#include "string_element.h"

#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\n\v\f\r";

/* The rest of a string, and of the delimiters that count. */
typedef struct parts {
  const char *rest; /* NULL: there is no more part */
  const char *delimiter;
  int64_t left; /* -1: any number */
} parts;

static parts parts_of(const char *text, const char *delimiter, int64_t most) {
  return (parts){kiln_text_of(text), kiln_text_of(delimiter), most};
}

/* Takes the next part; false if there is none. */
static bool next_part(parts *p, const char **part, size_t *bytes) {
  if (p->rest && !p->delimiter[0]) {
    p->rest += strspn(p->rest, blanks);
    if (!*p->rest)
      p->rest = NULL;
  }
  if (!p->rest)
    return false;
  *part = p->rest;
  const char *end = NULL;
  size_t length = strlen(p->delimiter);
  if (p->left != 0)
    end = length ? strstr(p->rest, p->delimiter) : strpbrk(p->rest, blanks);
  *bytes = end ? (size_t)(end - p->rest) : strlen(p->rest);
  p->rest = end ? end + (length ? length : 1) : NULL;
  if (p->left > 0)
    p->left--;
  return true;
}

const char *kiln_call_string_parts(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  int64_t *counts = buffers[0], *most = buffers[1];
  const kiln_string *x = buffers[2], *delimiter = buffers[3];
  const char *part;
  size_t bytes;
  *most = 0;
  for (int64_t i = 0; i < sizes[0]; i++) {
    parts p = parts_of(x[i], delimiter[0], sizes[1]);
    for (counts[i] = 0; next_part(&p, &part, &bytes);)
      counts[i]++;
    if (counts[i] > *most)
      *most = counts[i];
  }
  return NULL;
}

const char *kiln_call_string_split(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_string *result = buffers[0];
  const kiln_string *x = buffers[1], *delimiter = buffers[2];
  const char *part;
  size_t bytes;
  for (int64_t i = 0; i < sizes[0]; i++) {
    parts p = parts_of(x[i], delimiter[0], sizes[1]);
    for (int64_t k = 0; k < sizes[2]; k++, result++) {
      *result = "";
      if (!next_part(&p, &part, &bytes))
        continue;
      *result = kiln_keep_text(scratch, part, bytes);
      if (!*result)
        return "no memory for its strings";
    }
  }
  return NULL;
}
