/*===- npy.h - Tensors in NumPy's file format ----------------------------===*/
#ifndef KILN_NPY_H
#define KILN_NPY_H

#include "kiln/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads versions 1 to 3, of either byte order and of C or Fortran order; bfloat16 is the raw '<V2' that NumPy makes of
 * it. Dtypes of 8 bits and less NumPy saves as '<V1', which does not name them: they are read as KILN_UINT8, the codes.
 * Arrays of str ('<U5') and of bytes ('|S5') are KILN_STRING; the strings follow the pointers in tensor->data, which is
 * memory at KILN_ALIGNMENT for free(). On failure tensor->data is NULL and up to error_bytes of the cause are written
 * to `error`: one line without the path. A file never makes it allocate more than twice what the file holds, or ten
 * times, if it holds strings. */
kiln_status kiln_npy_read(const char *path, kiln_tensor *tensor, char *error, size_t error_bytes);

/* The same from memory. */
kiln_status kiln_npy_parse(const void *bytes, size_t count, kiln_tensor *tensor, char *error, size_t error_bytes);

/* Reads a sequence: a folder of 0.npy, 1.npy and so on. tensor->data is one kiln_sequence, for kiln_sequence_free. */
kiln_status kiln_sequence_read(const char *folder, kiln_tensor *tensor, char *error, size_t error_bytes);

/* Makes `tensor` a sequence of `count` tensors and takes over their data; kiln_sequence_free frees them too. On failure
 * they are freed, and tensor->data is NULL: no memory is left. */
kiln_status kiln_sequence_make(kiln_tensor *tensors, int64_t count, kiln_tensor *tensor);
void kiln_sequence_free(kiln_tensor *tensor);

/* Writes version 1. The file appears under `path` whole or not at all. */
kiln_status kiln_npy_write(const char *path, const kiln_tensor *tensor, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
