/*===- cpu_features.h - What this machine's CPU can do -------------------===*/
#ifndef KILN_DEVICE_CPU_CPU_FEATURES_H
#define KILN_DEVICE_CPU_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

/* Writes those of `wanted` (comma separated, as LLVM names them, with or without a '+') that the CPU or the system
 * under it lacks to `missing` ("avx2, fma"), and returns whether there is any. A name that stands for no instructions
 * (LLVM's tuning flags) is never missing. */
bool kiln_cpu_lacks(const char *wanted, char *missing, size_t bytes);

#endif
