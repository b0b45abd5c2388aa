/*===- unique.c - Which rows are different -------------------------------===*/
#include "../dtype.h"
#include "kiln/call.h"

#include <string.h>

typedef struct row_table {
  const char *data;
  int64_t width; /* elements */
  kiln_dtype dtype;
} row_table;

/* A NaN is like any other and comes last. */
static int compare_elements(const char *a, const char *b, kiln_dtype dtype) {
  if (kiln_dtype_is_float(dtype)) {
    double x = kiln_load_float(a, dtype), y = kiln_load_float(b, dtype);
    if (x != x || y != y)
      return (x != x) - (y != y);
    return (x > y) - (x < y);
  }
  int64_t x = kiln_load_int(a, dtype), y = kiln_load_int(b, dtype);
  if (dtype == KILN_UINT64)
    return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
  return (x > y) - (x < y);
}

static int compare_rows(const row_table *table, int64_t a, int64_t b) {
  size_t element = kiln_dtype_size(table->dtype), bytes = (size_t)table->width * element;
  const char *x = table->data + (size_t)a * bytes, *y = table->data + (size_t)b * bytes;
  for (size_t at = 0; at < bytes; at += element) {
    int order = compare_elements(x + at, y + at, table->dtype);
    if (order)
      return order;
  }
  return 0;
}

/* Merges from the bottom up; of equal rows the first stays the first. `order` and `spare` have room for n. */
static void sort_rows(const row_table *table, int64_t n, int64_t *order, int64_t *spare) {
  for (int64_t length = 1; length < n; length *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * length) {
      int64_t middle = begin + length < n ? begin + length : n, end = middle + length < n ? middle + length : n;
      int64_t left = begin, right = middle;
      for (int64_t i = begin; i < end; i++) {
        int takes_right = left == middle || (right < end && compare_rows(table, order[right], order[left]) < 0);
        spare[i] = takes_right ? order[right++] : order[left++];
      }
    }
    memcpy(order, spare, (size_t)n * sizeof *order);
  }
}

const char *kiln_call_unique(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t *first = buffers[0], *inverse = buffers[1], *counts = buffers[2], *count = buffers[3];
  int64_t n = sizes[0], is_sorted = sizes[3], found = 0;
  row_table table = {buffers[4], sizes[1], (kiln_dtype)sizes[2]};
  int64_t *order = scratch->reserve(scratch, 2 * n * (int64_t)sizeof *order), *group = order + n;
  if (!order)
    return "no memory to sort the rows";
  for (int64_t i = 0; i < n; i++)
    order[i] = i;
  sort_rows(&table, n, order, group);
  /* For each row the first that is equal; `group` then gets that one's group number. */
  for (int64_t i = 0; i < n; i++)
    inverse[order[i]] = i && !compare_rows(&table, order[i - 1], order[i]) ? inverse[order[i - 1]] : order[i];
  for (int64_t i = 0; i < n; i++) {
    int64_t row = is_sorted ? order[i] : i;
    if (inverse[row] != row)
      continue;
    first[found] = row;
    counts[found] = 0;
    group[row] = found++;
  }
  for (int64_t i = 0; i < n; i++) {
    inverse[i] = group[inverse[i]];
    counts[inverse[i]]++;
  }
  *count = found;
  return NULL;
}
