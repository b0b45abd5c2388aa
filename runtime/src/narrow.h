/*===- narrow.h - Floats of 8 bits and less ------------------------------===*/
#ifndef KILN_SRC_NARROW_H
#define KILN_SRC_NARROW_H

#include "kiln/kiln.h"

/* The value of a code; bits above it do not count. */
double kiln_narrow_to_double(uint8_t code, kiln_dtype dtype);
/* The nearest number's code, of two the one that ends in 0; a number that is too large becomes the largest. */
uint8_t kiln_double_to_narrow(double value, kiln_dtype dtype);

#endif
