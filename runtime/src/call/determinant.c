/*===- determinant.c - Determinants of square matrices -------------------===*/
#include "../dtype.h"
#include "kiln/call.h"

#include <math.h>

/* By elimination, each time with the row that has the largest element. */
static double determinant(double *a, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
        pivot = i;
    for (int64_t j = 0; pivot != k && j < n; j++) {
      double swapped = a[k * n + j];
      a[k * n + j] = a[pivot * n + j];
      a[pivot * n + j] = swapped;
    }
    product *= pivot != k ? -a[k * n + k] : a[k * n + k];
    if (a[k * n + k] == 0)
      return product;
    for (int64_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k + 1; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

const char *kiln_call_determinant(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t count = sizes[0], n = sizes[1];
  kiln_dtype dtype = (kiln_dtype)sizes[2];
  size_t element = kiln_dtype_size(dtype);
  char *result = buffers[0];
  const char *from = buffers[1];
  double *matrix = scratch->reserve(scratch, n * n * (int64_t)sizeof *matrix);
  if (!matrix)
    return "no memory for a matrix";
  for (int64_t m = 0; m < count; m++, result += element) {
    for (int64_t i = 0; i < n * n; i++, from += element)
      matrix[i] = kiln_load_float(from, dtype);
    kiln_store_float(result, dtype, determinant(matrix, n));
  }
  return NULL;
}
