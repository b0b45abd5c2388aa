/*===- scatter.c - Stores into rows that are data ------------------------===*/
#include "../dtype.h"
#include "kiln/call.h"

#include <math.h>
#include <string.h>

/* Rounded to the dtype once: a sum or product of two floats of at most 32 bits is exact enough in a double. */
static double combine_floats(double a, double b, int64_t how) {
  if (how == KILN_SCATTER_ADD)
    return a + b;
  if (how == KILN_SCATTER_MUL)
    return a * b;
  if (isnan(a) || isnan(b))
    return NAN;
  return (how == KILN_SCATTER_MAX) == (a < b) ? b : a;
}

static int64_t combine_integers(int64_t a, int64_t b, kiln_dtype dtype, int64_t how) {
  if (how == KILN_SCATTER_ADD)
    return (int64_t)((uint64_t)a + (uint64_t)b);
  if (how == KILN_SCATTER_MUL)
    return (int64_t)((uint64_t)a * (uint64_t)b);
  bool less = dtype == KILN_UINT64 ? (uint64_t)a < (uint64_t)b : a < b;
  return (how == KILN_SCATTER_MAX) == less ? b : a;
}

static void combine(char *to, const char *update, kiln_dtype dtype, int64_t how) {
  if (kiln_dtype_is_float(dtype))
    kiln_store_float(to, dtype, combine_floats(kiln_load_float(to, dtype), kiln_load_float(update, dtype), how));
  else
    kiln_store_int(to, dtype, combine_integers(kiln_load_int(to, dtype), kiln_load_int(update, dtype), dtype, how));
}

const char *kiln_call_scatter(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  char *result = buffers[0];
  const int64_t *places = buffers[2];
  const char *update = buffers[3];
  int64_t rows = sizes[0], updates = sizes[1], row = sizes[2], how = sizes[4];
  kiln_dtype dtype = (kiln_dtype)sizes[3];
  size_t element = kiln_dtype_size(dtype), bytes = (size_t)row * element;
  memcpy(result, buffers[1], (size_t)rows * bytes);
  for (int64_t i = 0; i < updates; i++, update += bytes) {
    if (places[i] < 0 || places[i] >= rows)
      return "an index is out of range; kiln's --check tells which";
    char *to = result + (size_t)places[i] * bytes;
    if (how == KILN_SCATTER_SET)
      memcpy(to, update, bytes);
    else
      for (size_t at = 0; at < bytes; at += element)
        combine(to + at, update + at, dtype, how);
  }
  return NULL;
}
