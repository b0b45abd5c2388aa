/*===- kiln.h - Run a compiled model -----------------------------------===
 *
 * A compiled model is a constant `kiln_model`. A `kiln_context` holds what a run needs: a device, memory, threads. Two
 * threads may run the same model with two contexts; one context belongs to one thread at a time. Every function that
 * can fail returns a status; kiln_context_error() then has the cause in one line. The library prints nothing.
 *
 * Where every size of a model is fixed, only a context's first run allocates memory and starts threads; so does the
 * first that reads what another gave.
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
  KILN_INVALID_ARGUMENT = 1, /* an input's dtype, rank or size does not fit, or sizes are too large together */
  KILN_OUT_OF_MEMORY = 2,
  KILN_DEVICE_ERROR = 3,
  KILN_INDEX_ERROR = 4, /* a size that the data give is out of its bounds; an index of a gather is not checked */
  KILN_IO_ERROR = 5,
  KILN_UNAVAILABLE = 6 /* the machine lacks the device or a CPU feature */
} kiln_status;

typedef enum kiln_dtype {
  KILN_BOOL = 0, /* one byte; of an input, whatever is not 0 is true; an output is 0 or 1 */
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

/* A dense row-major tensor in host memory. Memory at a multiple of 64 bytes is used where it lies; an input or output
 * elsewhere is copied in every run. */
typedef struct kiln_tensor {
  void *data;
  kiln_dtype dtype;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
  int64_t capacity; /* of an output: how many bytes the caller has at `data`, or KILN_CONTEXT_MEMORY */
} kiln_tensor;

/* A tensor's capacity where its data are memory of a context. */
#define KILN_CONTEXT_MEMORY (-1)

typedef struct kiln_model kiln_model;
typedef struct kiln_context kiln_context;

/* Part `index` of some work. */
typedef void (*kiln_task)(void *argument, int64_t index);

typedef struct kiln_options {
  size_t size;              /* sizeof(kiln_options): which members there are */
  int32_t threads;          /* CPU threads, the caller's included; 0: as many as the process may use */
  const char *weights_path; /* a safetensors file for a model compiled without its weights; NULL: none */
  int32_t debug;            /* 2 and more: a line a launch to `log` */
  void (*log)(void *user, const char *line);
  void *log_user;
  const char *device; /* which machine of the model's device, by a part of its name; NULL: the first */
  /* Runs task(argument, i) once for each 0 <= i < count, in any order, on whatever threads, and returns when all are
   * done: the caller's thread pool, for devices that run on the CPU, which then start no threads. NULL: none. */
  void (*run_tasks)(void *user, kiln_task task, void *argument, int64_t count);
  void *tasks_user;
} kiln_options;

/* `options` may be NULL. On failure *context is NULL and, where `error` is not NULL, up to error_bytes of the cause are
 * written there. */
kiln_status kiln_context_create(const kiln_model *model, const kiln_options *options, kiln_context **context,
                                char *error, size_t error_bytes);
void kiln_context_destroy(kiln_context *context);

/* Runs the model. `inputs` are in declared order; an entry whose data is NULL takes the input's stored default, and so
 * do all where input_count is 0. `outputs` are written in declared order. Where an entry's data is NULL or its capacity
 * is KILN_CONTEXT_MEMORY, it is set to memory of the context, valid until the next run or the context's end; else the
 * result goes to `data`, which has room for `capacity` bytes and shares none with another output. dims and dtype are
 * set in either case, so that the same array serves the next run as it is.
 *
 * What a run gave in memory of the context may be an input of the next: nothing is copied for that, and it is valid
 * until that run ends. Outputs in the caller's memory may overlap inputs; they are copied then. */
kiln_status kiln_run(kiln_context *context, const kiln_tensor *inputs, int32_t input_count, kiln_tensor *outputs,
                     int32_t output_count);

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
