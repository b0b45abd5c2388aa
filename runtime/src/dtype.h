/*===- dtype.h - Elements as numbers -------------------------------------===*/
#ifndef KILN_SRC_DTYPE_H
#define KILN_SRC_DTYPE_H

#include "kiln/kiln.h"

#include <stdbool.h>

#define KILN_DTYPE_COUNT 28

bool kiln_dtype_valid(kiln_dtype dtype);
bool kiln_dtype_is_float(kiln_dtype dtype);
/* Codes of at most 8 bits, a byte each. */
bool kiln_dtype_is_narrow(kiln_dtype dtype);

float kiln_half_to_float(uint16_t bits);
/* Rounds to nearest, ties to even. */
uint16_t kiln_float_to_half(float value);
uint16_t kiln_float_to_bfloat16(float value);

/* One element at `data`, which need not be aligned. Floats are truncated and saturate; a NaN is 0; a bool is 0 or 1. */
int64_t kiln_load_int(const void *data, kiln_dtype dtype);
/* One element of a float dtype. */
double kiln_load_float(const void *data, kiln_dtype dtype);
void kiln_store_int(void *data, kiln_dtype dtype, int64_t value);
void kiln_store_float(void *data, kiln_dtype dtype, double value);

/* Whether each byte is 0 or 1. */
bool kiln_are_bools(const void *data, int64_t bytes);

/* The number of elements, or -1 if a size is negative or dims and dtype name more than 2^63-1 bytes. */
int64_t kiln_element_count(kiln_dtype dtype, int32_t rank, const int64_t *dims);

#endif
