/*===- string_find.c - Which key a string is ----------------------------===*/
#include "string_element.h"

#include <stdlib.h>
#include <string.h>

typedef struct key {
  const char *text;
  int64_t place;
} key;

static int compare_texts(const void *left, const void *right) {
  const key *a = left, *b = right;
  return strcmp(a->text, b->text);
}

/* Of equal ones the first comes first. */
static int compare_keys(const void *left, const void *right) {
  const key *a = left, *b = right;
  int order = compare_texts(a, b);
  return order ? order : (a->place > b->place) - (a->place < b->place);
}

const char *kiln_call_string_find(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t *places = buffers[0], n = sizes[0], m = sizes[1], kept = 0;
  const kiln_string *x = buffers[1], *given = buffers[2];
  key *keys = scratch->reserve(scratch, m * (int64_t)sizeof *keys);
  if (!keys)
    return "no memory to sort the keys";
  for (int64_t i = 0; i < m; i++)
    keys[i] = (key){kiln_text_of(given[i]), i};
  qsort(keys, (size_t)m, sizeof *keys, compare_keys);
  for (int64_t i = 0; i < m; i++)
    if (kept == 0 || compare_texts(&keys[kept - 1], &keys[i]) != 0)
      keys[kept++] = keys[i];
  for (int64_t i = 0; i < n; i++) {
    key wanted = {kiln_text_of(x[i]), 0};
    const key *found = bsearch(&wanted, keys, (size_t)kept, sizeof *keys, compare_texts);
    places[i] = found ? found->place : -1;
  }
  return NULL;
}
