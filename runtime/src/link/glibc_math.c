/*===- glibc_math.c - Functions of libm for older glibcs ------------------===
 *
 * Like glibc.c, but separate, so that a program that calls none of these needs no libm.
 *
 *===----------------------------------------------------------------------===*/
#include "glibc.h"

#ifndef KILN_GLIBC
typedef int kiln_no_old_math; /* nothing is wrapped */
#else

#define FUNCTION(NAME)                                                                                                 \
  KILN_OLD(double, NAME, (double x)) { return kiln_old_##NAME(x); }
#define FUNCTION_OF_TWO(NAME)                                                                                          \
  KILN_OLD(double, NAME, (double x, double y)) { return kiln_old_##NAME(x, y); }

/* glibc 2.29 */
FUNCTION(exp)
FUNCTION(exp2)
FUNCTION(log)
FUNCTION(log2)
FUNCTION_OF_TWO(pow)
#endif
