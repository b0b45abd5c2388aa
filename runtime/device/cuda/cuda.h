/*===- cuda.h - Kernels on NVIDIA's GPUs ---------------------------------===*/
#ifndef KILN_DEVICE_CUDA_H
#define KILN_DEVICE_CUDA_H

#include "kiln/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs kernels that were compiled with the program (image.h) through the driver, which is loaded when a device is
 * opened. */
extern const kiln_device kiln_device_cuda;

/* Calls `visit` with "NAME (sm_90)" for every GPU. */
kiln_status kiln_cuda_list(void (*visit)(void *user, const char *name), void *user, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
