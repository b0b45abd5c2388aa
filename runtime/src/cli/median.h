/*===- median.h - The median of times ------------------------------------===*/
#ifndef KILN_CLI_MEDIAN_H
#define KILN_CLI_MEDIAN_H

#include <stdint.h>

/* Sorts the times, the least first, and returns their median. `count` is 1 or more. */
double kiln_median(double *times, int32_t count);

#endif
