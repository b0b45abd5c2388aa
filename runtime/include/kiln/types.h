/*===- types.h - Tensors and options of a model's functions ---------------===
 *
 * The header of a model that kiln compiles holds a copy of this, so that nothing else is needed to call the model. It
 * has no functions: only how tensors, strings and sequences lie in memory, whose that memory is and for how long, and
 * the options of a context. Programs with an older copy of it meet newer runtimes. So kiln_options begins with its
 * size: members past that are 0. The runtime reads a model's tables as they lie, so the values of the enums are part of
 * what an object file means.
 *
 *===----------------------------------------------------------------------===*/
#ifndef KILN_TYPES_H
#define KILN_TYPES_H

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
  KILN_BOOL = 0, /* one byte; any input but 0 is true; an output is 0 or 1 */
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
  KILN_FLOAT64,
  /* One byte each: the code in its low bits. The bits above do not count; a program writes them as 0. */
  KILN_FLOAT8_E4M3FN,
  KILN_FLOAT8_E4M3FNUZ,
  KILN_FLOAT8_E5M2,
  KILN_FLOAT8_E5M2FNUZ,
  KILN_FLOAT8_E8M0FNU,
  KILN_FLOAT6_E2M3FN,
  KILN_FLOAT6_E3M2FN,
  KILN_FLOAT4_E2M1FN,
  KILN_INT4,
  KILN_UINT4,
  KILN_INT2,
  KILN_UINT2,
  KILN_STRING,   /* kiln_string, of 64 bits */
  KILN_SEQUENCE, /* one kiln_sequence, of 64 bits, of rank 0 */
  KILN_OPTIONAL  /* the same; NULL if it is empty, and a sequence of one for a tensor */
} kiln_dtype;

/* UTF-8 that ends with a 0; NULL is the empty string. Strings of an input are the caller's. Strings of an output are
 * the context's until its next run has ended, so they may be inputs of that run. */
typedef const char *kiln_string;

/* A row-major tensor in host memory, without gaps: it has no strides, and a caller with others copies. (Only a tensor
 * in memory with room for more, as kiln_alias tells, has the strides of that room.) Memory at a multiple of 64 bytes is
 * used in place; an input or output elsewhere is copied in every run. For the device cuda it may be in the GPU's
 * memory, at such a multiple, with bools of 0 or 1. */
typedef struct kiln_tensor {
  void *data;
  kiln_dtype dtype;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
  int64_t capacity; /* of an output: how many bytes the caller has at `data`, or KILN_CONTEXT_MEMORY. Of an input with
                       room for more: how many bytes that is */
} kiln_tensor;

/* Tensors of one dtype. */
typedef struct kiln_list {
  const kiln_tensor *tensors; /* each with data, dtype, rank and dims */
  int64_t count;
  int64_t room; /* the runtime's; 0 in a list that a caller makes */
} kiln_list;

/* The one element of a tensor that is a sequence. Lists and their tensors' data belong to whoever owns the strings:
 * those of an input are the caller's, those of an output the context's until its next run has ended. */
typedef const kiln_list *kiln_sequence;

/* A tensor's capacity if its data are memory of a context. */
#define KILN_CONTEXT_MEMORY (-1)

typedef struct kiln_model kiln_model;
typedef struct kiln_context kiln_context;

/* Part `index` of some work. */
typedef void (*kiln_task)(void *argument, int64_t index);

/* Where memory comes from: `allocate` gives that many bytes at a multiple of `alignment`, a power of two, or NULL;
 * `release` takes them back. Both are called by the thread that calls kiln. */
typedef struct kiln_allocator {
  void *(*allocate)(void *user, size_t bytes, size_t alignment); /* NULL: the C library's memory */
  void (*release)(void *user, void *memory);
  void *user;
} kiln_allocator;

/* What was done from when to when, in seconds of a clock that never goes back: a launch of a kernel, a call of the
 * library, a copy, or the part of a launch that one thread did. */
typedef struct kiln_span {
  const char *name;   /* of the kernel; "call" or "copy" */
  const char *origin; /* the source nodes, or "" */
  int32_t thread;     /* whose part it is, 0 for the caller's; -1: the whole */
  double begin, end;
  int64_t operations, bytes; /* for the whole of a launch, arithmetic and bytes moved; else 0 */
  /* For the whole of a launch, in seconds by the rates that the compiler counted with: how long it should take, and how
   * long its arithmetic or its bytes alone take at the device's peak, whichever is longer; from a cache if one holds
   * all of the bytes. 0: not known. */
  double expected, least;
} kiln_span;

typedef struct kiln_options {
  size_t size;              /* sizeof(kiln_options): which members there are */
  int32_t threads;          /* CPU threads, the caller's included; 0: as many as the process may use */
  const char *weights_path; /* a safetensors file for a model compiled without its weights; NULL: none */
  int32_t debug;            /* 2 and more: a line per launch to `log` */
  void (*log)(void *user, const char *line);
  void *log_user;
  const char *device; /* which machine of the model's device, by a part of its name; NULL: the first */
  /* Runs task(argument, i) once for each 0 <= i < count, in any order, on whatever threads, and returns when all are
   * done: the caller's thread pool, for devices that run on the CPU, which then start no threads. NULL: none. */
  void (*run_tasks)(void *user, kiln_task task, void *argument, int64_t count);
  void *tasks_user;
  /* For all memory of a context on the host, except its threads' stacks and the memory of a GPU's driver. */
  kiln_allocator memory;
  /* Hears of every span, and of a thread's part from that thread itself and maybe a little after the run. A launch then
   * ends before the next one begins. */
  void (*span)(void *user, const kiln_span *span);
  void *span_user;
  /* For the device cuda: the CUstream of the GPU's primary context that runs are put on. If all outputs are in the
   * GPU's memory, kiln_run then returns when the run is on it, and a later run reports a failure. NULL: a stream of the
   * context's own, which kiln_run waits for. */
  void *stream;
} kiln_options;

/* Description of an input or output. */
typedef struct kiln_port_info {
  const char *name;
  kiln_dtype dtype;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];          /* -1: not fixed, see dim_texts */
  const char *dim_texts[KILN_MAX_RANK]; /* as declared: "3", "batch", "past + seq" */
  int32_t has_default;                  /* 1: an input that need not be given */
  int32_t optional_axes;                /* of an output, how many of the last axes a run may leave out */
} kiln_port_info;

/* An output that lies in the memory of an input, which a run writes. The two have one shape, or there is a capacity:
 * then the memory is that of a row-major tensor of the input's shape with `capacity` elements along `axis`, and the
 * input and the output are the first of them. */
typedef struct kiln_alias {
  int32_t input, output;
  int32_t axis; /* -1: the two have one shape, without room for more */
  int64_t capacity;
} kiln_alias;

#ifdef __cplusplus
}
#endif
#endif
