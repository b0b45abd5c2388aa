/*===- glibc.h - Call the oldest version of a function of glibc ------------===
 *
 * KILN_GLIBC is the first glibc of the architecture; not defined where there is none that kiln knows.
 *
 *===----------------------------------------------------------------------===*/
#ifndef KILN_LINK_GLIBC_H
#define KILN_LINK_GLIBC_H

#include <stdlib.h> /* defines __GLIBC__ */

#if defined __GLIBC__ && defined __x86_64__ && defined __LP64__
#define KILN_GLIBC "GLIBC_2.2.5"
#define KILN_STAT_VERSION 1
#elif defined __GLIBC__ && defined __aarch64__
#define KILN_GLIBC "GLIBC_2.17"
#define KILN_STAT_VERSION 0
#elif defined __GLIBC__ && defined __arm__
#define KILN_GLIBC "GLIBC_2.4"
#define KILN_STAT_VERSION 3
#elif defined __GLIBC__ && defined __riscv && __riscv_xlen == 64
#define KILN_GLIBC "GLIBC_2.27"
#define KILN_STAT_VERSION 0
#endif

/* Declares RESULT kiln_old_NAME(PARAMETERS), the oldest version of NAME. */
#define KILN_OLD(RESULT, NAME, PARAMETERS)                                                                             \
  __asm__(".symver kiln_old_" #NAME "," #NAME "@" KILN_GLIBC);                                                         \
  RESULT kiln_old_##NAME PARAMETERS;                                                                                   \
  RESULT __wrap_##NAME PARAMETERS;                                                                                     \
  RESULT __wrap_##NAME PARAMETERS

#endif
