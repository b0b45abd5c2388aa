/*===- opencl.h - Kernels in OpenCL C ------------------------------------===*/
#ifndef KILN_DEVICE_OPENCL_H
#define KILN_DEVICE_OPENCL_H

#include "kiln/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads libOpenCL.so.1 when it is opened and builds its code, whose kernels take their buffers as pointers to global
 * memory, then their sizes as `long`. A launch's grid counts work groups; kernel->local is a group's size. */
extern const kiln_device kiln_device_opencl;

/* The same, named "opencl-buffers", without shared virtual memory, which some devices lack. */
extern const kiln_device kiln_device_opencl_buffers;

/* Calls `visit` with "PLATFORM: DEVICE" for every device, in the order in which kiln_options.device picks the first
 * that fits. KILN_UNAVAILABLE if there is no OpenCL. */
kiln_status kiln_opencl_list(void (*visit)(void *user, const char *name), void *user, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
