/*===- dlpack.h - Tensors of other frameworks, and kiln's for them -------===
 *
 * DLPack's DLTensor is how NumPy, PyTorch, JAX and others describe a tensor and its memory. Nothing is copied: kiln
 * reads and writes their memory, and they kiln's. The results here are for a model's NAME_run_tensors. DLPack's own
 * header is taken from <dlpack/dlpack.h>; a framework's copy of it, such as <ATen/dlpack.h>, is included before
 * this.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_DLPACK_H
#define KILN_DLPACK_H

#ifndef DLPACK_DLPACK_H_ /* DLPack's */
#include <dlpack/dlpack.h>
#endif
#include "types.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* DLPack's codes: its header has names for all of them only since version 0.8. */
enum { KILN_DL_INT = 0, KILN_DL_UINT = 1, KILN_DL_FLOAT = 2, KILN_DL_BFLOAT = 4, KILN_DL_BOOL = 6 };

/* The code and bits of each dtype; the narrow floats are not among them. */
#define KILN_DLPACK_DTYPES(F)                                                                                          \
  F(KILN_BOOL, KILN_DL_BOOL, 8)                                                                                        \
  F(KILN_INT8, KILN_DL_INT, 8)                                                                                         \
  F(KILN_UINT8, KILN_DL_UINT, 8)                                                                                       \
  F(KILN_INT16, KILN_DL_INT, 16)                                                                                       \
  F(KILN_UINT16, KILN_DL_UINT, 16)                                                                                     \
  F(KILN_INT32, KILN_DL_INT, 32)                                                                                       \
  F(KILN_UINT32, KILN_DL_UINT, 32)                                                                                     \
  F(KILN_INT64, KILN_DL_INT, 64)                                                                                       \
  F(KILN_UINT64, KILN_DL_UINT, 64)                                                                                     \
  F(KILN_FLOAT16, KILN_DL_FLOAT, 16)                                                                                   \
  F(KILN_BFLOAT16, KILN_DL_BFLOAT, 16)                                                                                 \
  F(KILN_FLOAT32, KILN_DL_FLOAT, 32)                                                                                   \
  F(KILN_FLOAT64, KILN_DL_FLOAT, 64)

/* An input, or an output whose memory is written: `to` is `from`, while that lives. KILN_INVALID_ARGUMENT if `from` is
 * not in memory of the host, not row-major without gaps, of more than KILN_MAX_RANK axes, or of another dtype than
 * those above. */
static inline kiln_status kiln_tensor_from_dlpack(const DLTensor *from, kiln_tensor *to) {
  kiln_tensor made;
  int64_t elements = 1;
  int known = 0;
  memset(&made, 0, sizeof made);
  if (from->device.device_type != kDLCPU || from->ndim < 0 || from->ndim > KILN_MAX_RANK || from->dtype.lanes != 1)
    return KILN_INVALID_ARGUMENT;
#define KILN_DLPACK_DTYPE(OURS, CODE, BITS)                                                                            \
  if (from->dtype.code == CODE && from->dtype.bits == BITS) {                                                          \
    made.dtype = OURS;                                                                                                 \
    known = 1;                                                                                                         \
  }
  KILN_DLPACK_DTYPES(KILN_DLPACK_DTYPE)
#undef KILN_DLPACK_DTYPE
  for (int32_t axis = from->ndim; axis-- > 0;) {
    /* Along an axis of one element the stride says nothing. */
    if (from->strides && from->shape[axis] != 1 && from->strides[axis] != elements)
      known = 0;
    made.dims[axis] = from->shape[axis];
    elements *= from->shape[axis];
  }
  if (!known)
    return KILN_INVALID_ARGUMENT;
  made.data = (char *)from->data + from->byte_offset;
  made.rank = from->ndim;
  made.capacity = elements * (from->dtype.bits / 8);
  *to = made;
  return KILN_OK;
}

/* A tensor of the host for others: `to` points into `from`, whose dims and data it shows while these live.
 * KILN_INVALID_ARGUMENT if the dtype is not one of those above. */
static inline kiln_status kiln_tensor_to_dlpack(kiln_tensor *from, DLTensor *to) {
  DLTensor made;
  memset(&made, 0, sizeof made);
#define KILN_DLPACK_DTYPE(OURS, CODE, BITS)                                                                            \
  if (from->dtype == OURS) {                                                                                           \
    made.dtype.code = CODE;                                                                                            \
    made.dtype.bits = BITS;                                                                                            \
  }
  KILN_DLPACK_DTYPES(KILN_DLPACK_DTYPE)
#undef KILN_DLPACK_DTYPE
  if (made.dtype.bits == 0)
    return KILN_INVALID_ARGUMENT;
  made.dtype.lanes = 1;
  made.data = from->data;
  made.device.device_type = kDLCPU;
  made.ndim = from->rank;
  made.shape = from->dims;
  *to = made;
  return KILN_OK;
}

#ifdef __cplusplus
}
#endif
#endif
