/*===- inverse.c - Inverses of square matrices ---------------------------===*/
#include "../dtype.h"
#include "kiln/call.h"

#include <math.h>

static void swap_rows(double *a, int64_t n, int64_t i, int64_t j) {
  for (int64_t k = 0; i != j && k < n; k++) {
    double swapped = a[i * n + k];
    a[i * n + k] = a[j * n + k];
    a[j * n + k] = swapped;
  }
}

/* By elimination of a in itself and in the identity, each time with the row that has the largest element. A matrix
 * without an inverse gives infinities and NaNs. */
static void invert(double *a, double *inverse, int64_t n) {
  for (int64_t i = 0; i < n * n; i++)
    inverse[i] = i / n == i % n;
  for (int64_t k = 0; k < n; k++) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
        pivot = i;
    swap_rows(a, n, k, pivot);
    swap_rows(inverse, n, k, pivot);
    double factor = 1 / a[k * n + k];
    for (int64_t j = 0; j < n; j++) {
      a[k * n + j] *= factor;
      inverse[k * n + j] *= factor;
    }
    for (int64_t i = 0; i < n; i++) {
      double share = a[i * n + k];
      for (int64_t j = 0; i != k && j < n; j++) {
        a[i * n + j] -= share * a[k * n + j];
        inverse[i * n + j] -= share * inverse[k * n + j];
      }
    }
  }
}

const char *kiln_call_inverse(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t count = sizes[0], n = sizes[1];
  kiln_dtype dtype = (kiln_dtype)sizes[2];
  size_t element = kiln_dtype_size(dtype);
  char *result = buffers[0];
  const char *from = buffers[1];
  double *matrix = scratch->reserve(scratch, 2 * n * n * (int64_t)sizeof *matrix);
  if (!matrix)
    return "no memory for a matrix";
  double *inverse = matrix + n * n;
  for (int64_t m = 0; m < count; m++) {
    for (int64_t i = 0; i < n * n; i++, from += element)
      matrix[i] = kiln_load_float(from, dtype);
    invert(matrix, inverse, n);
    for (int64_t i = 0; i < n * n; i++, result += element)
      kiln_store_float(result, dtype, inverse[i]);
  }
  return NULL;
}
