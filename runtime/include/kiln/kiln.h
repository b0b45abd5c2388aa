/*===- kiln.h - Run a compiled model -----------------------------------===
 *
 * A compiled model is a constant `kiln_model`. A `kiln_context` holds what a run needs: a device, memory, threads. Two
 * threads may run the same model with two contexts; one context belongs to one thread at a time. Every function that
 * can fail returns a status; kiln_context_error() then has the cause in one line. The library prints nothing.
 *
 *===--------------------------------------------------------------------===*/
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_MAX_RANK 8

typedef enum kiln_status {
  KILN_OK = 0,
  KILN_INVALID_ARGUMENT = 1, /* an input's dtype, rank or size does not fit */
  KILN_OUT_OF_MEMORY = 2,
  KILN_DEVICE_ERROR = 3,
  KILN_INDEX_ERROR = 4, /* a data-dependent index was out of range */
  KILN_IO_ERROR = 5,
  KILN_UNAVAILABLE = 6 /* the machine lacks the device or a CPU feature */
} kiln_status;

typedef enum kiln_dtype {
  KILN_BOOL = 0, /* one byte, 0 or 1 */
  KILN_INT8,
  KILN_UINT8,
  KILN_INT16,
  KILN_UINT16,
  KILN_INT32,
  KILN_UINT32,
  KILN_INT64,
  KILN_UINT64,
  KILN_FLOAT16,
  KILN_BFLOAT16,
  KILN_FLOAT32,
  KILN_FLOAT64
} kiln_dtype;

/* A dense row-major tensor in host memory. */
typedef struct kiln_tensor {
  void *data;
  kiln_dtype dtype;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
} kiln_tensor;

typedef struct kiln_model kiln_model;
typedef struct kiln_context kiln_context;

typedef struct kiln_options {
  int32_t threads;          /* CPU threads, the caller's included; 0: one a core */
  const char *weights_path; /* a safetensors file for a model compiled without its weights; NULL: none */
  int32_t debug;            /* 2 and more: a line a launch to `log` */
  void (*log)(void *user, const char *line);
  void *log_user;
  const char *device; /* which machine of the model's device, by a part of its name; NULL: the first */
} kiln_options;

/* `options` may be NULL. On failure *context is NULL and, where `error` is not NULL, up to error_bytes of the cause are
 * written there. */
kiln_status kiln_context_create(const kiln_model *model, const kiln_options *options, kiln_context **context,
                                char *error, size_t error_bytes);
void kiln_context_destroy(kiln_context *context);

/* Runs the model. `inputs` are in declared order; an entry whose data is NULL takes the input's stored default.
 * `outputs` are written in declared order: where an entry's data is NULL it is set to memory of the context, valid
 * until the next run or the context's end; else the result is copied to it, and its dims must hold the room that there
 * is (their product, in elements) on entry. dims and dtype are set in either case. */
kiln_status kiln_run(kiln_context *context, const kiln_tensor *inputs, kiln_tensor *outputs);

/* The cause of the last failure in one line, or "". */
const char *kiln_context_error(const kiln_context *context);

/* What the model takes and gives. */
int32_t kiln_input_count(const kiln_model *model);
int32_t kiln_output_count(const kiln_model *model);

size_t kiln_dtype_size(kiln_dtype dtype);
const char *kiln_dtype_name(kiln_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
