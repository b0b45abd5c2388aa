/*===- median.c - The median of times ------------------------------------===*/
#include "median.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

double kiln_median(double *times, int32_t count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  return (times[(count - 1) / 2] + times[count / 2]) / 2;
}
