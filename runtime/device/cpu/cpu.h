/*===- cpu.h - Kernels that are functions of this process ----------------===*/
#ifndef KILN_DEVICE_CPU_H
#define KILN_DEVICE_CPU_H

#include "kiln/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One device under two names: the code of the LLVM renderer and of the C renderer is called alike. */
extern const kiln_device kiln_device_cpu;
extern const kiln_device kiln_device_c;

#ifdef __cplusplus
}
#endif
#endif
