/*===- program.h - The tables of a compiled model and what its host program calls ------===
 *
 * This is the interface between code that kiln generates and the runtime, not one that users call. The compiler emits
 * one `kiln_model` and the functions that it points to; the host program walks no bytecode: it is compiled code that
 * calls the kiln_rt_* functions below with slices and sizes.
 *
 *===-------------------------------------------------------------------------------------===*/
#ifndef KILN_PROGRAM_H
#define KILN_PROGRAM_H

#include "kiln/call.h"
#include "kiln/kiln.h"
#include "kiln/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_ABI_VERSION 15
#define KILN_MAX_GRID 3
/* Of a launch: arithmetic operations, bytes moved, and picoseconds by the rates of the device; 0: not known. */
#define KILN_ESTIMATES 3
/* In bytes: of all memory that the runtime allocates. */
#define KILN_ALIGNMENT 128
/* In bytes: of inputs, outputs and weights that are used in the caller's or a file's memory; others are copied. A part
 * of such memory, as a row of a loop's output, begins at a multiple of its element's size. */
#define KILN_HOST_ALIGNMENT 64

typedef struct kiln_device kiln_device;

/* A cache: how many bytes it holds, and how many of them it gives in a nanosecond. `bytes` is 0 if that is not known.
 */
typedef struct kiln_cache {
  int64_t bytes;
  double bytes_per_ns;
} kiln_cache;

/* One of the devices that a model runs on. Each is known by its place in the model's list: below, `device` is that
 * number. Each has memory of its own and a queue: it does its work in the order in which it is given. */
typedef struct kiln_place {
  const kiln_device *device;
  const void *code; /* the source or binary of its kernels for devices that load one, else NULL */
  int64_t code_bytes;
  /* What the compiler counted with: the most of each at a time, products of sums for operations. 0: not known. */
  double operations_per_ns, bytes_per_ns;
  kiln_cache caches[2]; /* a core's own ones together, then the one that cores share */
} kiln_place;

/* Memory of one device. The program knows of each slice whose it is, and says so where it matters. Only that device
 * knows what `memory` is: on the CPU, a pointer to the first byte. */
typedef struct kiln_slice {
  void *memory;
  int64_t offset; /* bytes */
} kiln_slice;

/* One dimension of an input or output. An input's size that is neither fixed nor a symbol is checked against its text:
 * numbers and symbols with + - * // % min() max() and parentheses, where // and % round down. A symbol whose name is
 * not a word of letters, digits, _ and . is in double quotes, with those of its name doubled. */
typedef struct kiln_dim {
  const char *text; /* as declared: "3", "batch", "past + seq" */
  int64_t size;     /* the fixed size, or -1 */
  int32_t symbol;   /* the symbol that this dimension is, or -1 */
} kiln_dim;

typedef struct kiln_port {
  const char *name;
  kiln_dtype dtype;
  int32_t rank;
  const kiln_dim *dims;
  const void *value; /* an input's stored default, of fixed size; NULL: none */
  /* For a sequence or an optional, what it holds; it has no name; a tensor's rank is -1 if it is not fixed. */
  const struct kiln_port *element;
  int32_t device;        /* in whose memory the program wants it; 0 in an `element` */
  int32_t optional_axes; /* of an output: how many of the last dims a run may leave out */
} kiln_port;

typedef struct kiln_symbol {
  const char *name;
  int64_t min, max, value; /* inclusive bounds; the size that --random and --bench take */
} kiln_symbol;

typedef struct kiln_weight {
  const char *name; /* the key in a safetensors file */
  kiln_dtype dtype;
  int32_t rank;
  const int64_t *dims;
  int64_t offset, bytes; /* its place in the model's weight data */
  int32_t device;        /* whose memory it is put in; a weight that two devices read has two rows, with one name */
} kiln_weight;

/* A kernel runs once for each item of its grid. On the CPU an item is a chunk and `entry` runs it; the items of one
 * launch may run in any order and at the same time. */
typedef struct kiln_kernel {
  const char *name;
  int32_t buffers, sizes; /* how many slices and how many scalars a launch passes */
  void (*entry)(void *const *buffers, const int64_t *sizes, int64_t chunk); /* cpu and c, else NULL */
  int64_t local[KILN_MAX_GRID];                                             /* work items of a group; 1 on the CPU */
  /* How many of the last buffers are scratch, for one chunk at a time. In their slices `memory` is NULL and `offset` is
   * a number of bytes; the device gives each worker that runs chunks so many of its own, at KILN_ALIGNMENT. 0 if there
   * are groups. */
  int32_t scratch;
  int32_t device; /* which runs it, and in whose memory all buffers of a launch are */
  /* A letter for each number in the name, what becomes of that axis: g is spread over groups or chunks, i over the
   * items of a group, l is a loop, u is unrolled or in lanes, r is reduced, m is reduced and unrolled. NULL: not known.
   */
  const char *axes;
} kiln_kernel;

/* What a program is, for --version and for whoever finds it later. Texts; "": not known. Lists have commas. */
typedef struct kiln_origin {
  const char *kiln; /* the version of the compiler: "0.1.0" */
  /* The BLAKE3, in 64 hexadecimal digits, of the model's file and then of its other files in the order of their names,
   * as one text. */
  const char *digest;
  const char *cpus;      /* that code is for, as LLVM names them */
  const char *target;    /* the system that code is for: "x86_64-linux-gnu" */
  const char *libraries; /* that are part of it because operators need them: "PCRE2" */
} kiln_origin;

struct kiln_model {
  uint32_t abi;              /* KILN_ABI_VERSION */
  const char *name;          /* of the model file */
  const kiln_place *devices; /* one or more */
  const char *features; /* what the code needs of the CPU, as LLVM names it, comma separated: "avx2,fma"; "" for any */
  const kiln_port *inputs;
  const kiln_port *outputs;
  const kiln_symbol *symbols;
  const kiln_weight *weights;
  const kiln_kernel *kernels;
  int32_t device_count, input_count, output_count, symbol_count, weight_count, kernel_count;
  const void *weight_data; /* NULL: the weights are in a file of their own */
  int64_t weight_bytes;
  /* The host program: reads its inputs with kiln_rt_input and the symbols from `sizes`, fills every output. */
  kiln_status (*run)(kiln_context *context, const int64_t *sizes);
  const char *weights_digest; /* the digest in its weights' file (KILN_DIGEST_KEY); NULL: any file will do */
  const kiln_alias *aliases;
  int32_t alias_count;
  /* The same model for CPUs that lack `features`: its ports, symbols, aliases, weight_data, digest and origin are
   * this one's, and its devices are of the same kinds in the same order. NULL: none. */
  const struct kiln_model *otherwise;
  const kiln_origin *origin; /* NULL: not known */
};

/* In the metadata of a safetensors file that kiln wrote: the BLAKE3, in 64 hexadecimal digits, of the whole file with
 * these digits as zeros. A program compares them with its own, so it need not read the weights to know its file. */
#define KILN_DIGEST_KEY "kiln.digest"

/* One launch: constant data next to the call. The estimates are of the whole launch, for logs. */
typedef struct kiln_launch_info {
  int32_t kernel;
  const char *origin; /* the source nodes: "['dot']" */
} kiln_launch_info;

/* A call of the runtime's library (kiln/call.h), apart from its buffers: results first. */
typedef struct kiln_call_info {
  kiln_call *function;
  const char *origin; /* the source node */
  int32_t results, inputs;
  int32_t device; /* in whose memory all its buffers are */
} kiln_call_info;

/* Sizes are multiplied and added with these if their bounds let them pass 64 bits: then *wraps becomes 1. */
static inline int64_t kiln_size_mul(int64_t a, int64_t b, int *wraps) {
  int64_t product = (int64_t)((uint64_t)a * (uint64_t)b);
  *wraps |= a == -1 ? b == INT64_MIN : a != 0 && product / a != b;
  return product;
}
static inline int64_t kiln_size_add(int64_t a, int64_t b, int *wraps) {
  int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);
  *wraps |= ((a ^ sum) & (b ^ sum)) < 0;
  return sum;
}
/* `bytes` rounded up to KILN_ALIGNMENT. */
static inline int64_t kiln_size_padded(int64_t bytes, int *wraps) {
  return kiln_size_add(bytes, KILN_ALIGNMENT - 1, wraps) / KILN_ALIGNMENT * KILN_ALIGNMENT;
}

/* ---- what the host program calls; a status other than KILN_OK ends the run ----
 *
 * Whatever device each call is for, the results are those of one call after the other: the runtime and the devices wait
 * between queues as needed. `device` says whose memory is asked for, or whose a slice is. */

/* Inputs, weights and outputs are in memory of the device that the model's tables name. */
kiln_status kiln_rt_input(kiln_context *context, int32_t index, kiln_slice *slice);
kiln_status kiln_rt_weight(kiln_context *context, int32_t index, kiln_slice *slice);
/* Room for output `index` with these dims, as many as the output's rank. -1: the axis is not there, nor are those after
 * it. */
kiln_status kiln_rt_output(kiln_context *context, int32_t index, const int64_t *dims, kiln_slice *slice);
/* The context's arena on a device, at least `bytes` long; it is kept from run to run. One call per run and device.
 * `busiest`: the kernel at which most of it is in use, which an error names; NULL: none. */
kiln_status kiln_rt_arena(kiln_context *context, int32_t device, int64_t bytes, const char *busiest, kiln_slice *slice);
/* At least this many bytes that the context keeps there as `block`, from 0 on: zero, but for what earlier runs wrote
 * there that wanted as many bytes of it for the same sizes. A block always has the same number of sizes. */
kiln_status kiln_rt_zeros(kiln_context *context, int32_t device, int32_t block, int64_t bytes, int32_t count,
                          const int64_t *sizes, kiln_slice *slice);
/* Memory in the arena for `count` temporaries of these sizes, in the order of `lifetimes`; the plan is kept while the
 * sizes stay. Used instead of kiln_rt_arena if sizes are symbols. */
kiln_status kiln_rt_plan(kiln_context *context, int32_t device, const kiln_lifetime *lifetimes, int32_t count,
                         const int64_t *bytes, const char *busiest, kiln_slice *slices);
/* Memory for a value whose lifetime control flow decides; freed by kiln_rt_free or at the end of the run. */
kiln_status kiln_rt_alloc(kiln_context *context, int32_t device, int64_t bytes, kiln_slice *slice);
kiln_status kiln_rt_free(kiln_context *context, int32_t device, kiln_slice slice);
/* Within a device or from one's memory to another's: the only way from device to device. The devices come last, so that
 * both slices are passed in registers. */
kiln_status kiln_rt_copy(kiln_context *context, kiln_slice to, kiln_slice from, int64_t bytes, int32_t to_device,
                         int32_t from_device);
/* Waits for the device and reads one element as an integer (floats are truncated). */
kiln_status kiln_rt_read(kiln_context *context, int32_t device, kiln_slice from, kiln_dtype dtype, int64_t *value);
/* Writes one element. */
kiln_status kiln_rt_write(kiln_context *context, int32_t device, kiln_slice to, kiln_dtype dtype, int64_t value);
/* Notes `message` as the cause and returns `status`. */
kiln_status kiln_rt_fail(kiln_context *context, kiln_status status, const char *message);
/* The same with numbers: in `message` each %d stands for the next of `sizes`, and %% for a percent sign. */
kiln_status kiln_rt_fail_at(kiln_context *context, kiln_status status, const char *message, const int64_t *sizes);
/* `grid`: items (CPU: chunks in grid[0]) or groups (GPU) an axis; an empty grid launches nothing. `estimates`:
 * see KILN_ESTIMATES. */
kiln_status kiln_rt_launch(kiln_context *context, const kiln_launch_info *info, const kiln_slice *buffers,
                           const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                           const int64_t estimates[KILN_ESTIMATES]);
/* Launches between this and the next, or kiln_rt_batch_end, compute `sample`, from 0 to less than `samples`: each
 * sample by the same launches. Different samples may go in any order and at the same time, except those of one `slot`,
 * which share memory and come one after the other. A slot is less than `samples`. */
kiln_status kiln_rt_batch_sample(kiln_context *context, int32_t device, int64_t sample, int64_t samples, int64_t *slot);
kiln_status kiln_rt_batch_end(kiln_context *context, int32_t device);
/* Runs a function of the runtime's library on the host, when earlier launches are done. `bytes`: of each buffer. */
kiln_status kiln_rt_call(kiln_context *context, const kiln_call_info *info, const kiln_slice *buffers,
                         const int64_t *bytes, const int64_t *sizes);

/* ---- a device ---- */

/* The functions of a device, as a constant kiln_device_NAME that its models refer to, so that a program has the devices
 * that its models need and no other. Memory is an opaque pointer; optional members may be NULL. */
struct kiln_device {
  const char *name;
  /* Opens the model's device number `place`: model->devices[place] is this one, and its kernels are those that name
   * `place`. `state` is the device's own, made by open and ended by close; until then `options` is valid. `error` has
   * error_bytes of room for the cause. */
  kiln_status (*open)(const kiln_model *model, int32_t place, const kiln_options *options, void **state, char *error,
                      size_t error_bytes);
  void (*close)(void *state);
  void *(*alloc)(void *state, int64_t bytes); /* NULL: out of memory */
  void (*free)(void *state, void *memory);
  kiln_status (*write)(void *state, kiln_slice to, const void *from, int64_t bytes); /* has read all when it returns */
  kiln_status (*read)(void *state, void *to, kiln_slice from, int64_t bytes);        /* waits for the device */
  kiln_status (*copy)(void *state, kiln_slice to, kiln_slice from, int64_t bytes);   /* within its memory */
  /* `seconds` is NULL, or asks how long the launch takes:
   * a device with a clock of its own then waits for the launch and writes the measured time. Others leave it, and the
   * time from before the launch to after `synchronize` counts. */
  kiln_status (*launch)(void *state, const kiln_launch_info *info, const kiln_slice *buffers, const int64_t *sizes,
                        const int64_t grid[KILN_MAX_GRID], const int64_t estimates[KILN_ESTIMATES], double *seconds);
  kiln_status (*synchronize)(void *state);    /* optional: a device without it returns from launch when it is done */
  const char *(*error)(void *state);          /* optional: the cause of the last failure */
  void *(*map_host)(void *state, void *data); /* optional: host memory used in place, as the CPU does */
  /* Optional: not 0 if `data` is memory of the device, which is used in place, at KILN_HOST_ALIGNMENT, and which the
   * host may not read. `write` and `read` take it for host memory, too. */
  int32_t (*owns)(void *state, const void *data);
  /* Optional, both or neither: host memory that `read` fills faster than other, at KILN_ALIGNMENT. NULL: none. */
  void *(*host_alloc)(void *state, int64_t bytes);
  void (*host_free)(void *state, void *memory);
  /* Optional: which version of the model this machine runs, it or one in its chain of `otherwise`. */
  const kiln_model *(*choose)(const kiln_model *model);
  int32_t is_host; /* not 0: the host may read and write at slice.memory + slice.offset */
  /* Optional: a copy out of memory of `other`, an open device of the same model, which may be busy still. It comes
   * after everything that either was given before and before everything that either is given later. Which signals do
   * that, and whether the host waits, is up to the devices. KILN_UNAVAILABLE: only the host can copy between the two,
   * and the runtime has it do so. */
  kiln_status (*receive)(void *state, kiln_slice to, const kiln_device *other, void *other_state, kiln_slice from,
                         int64_t bytes);
  /* Optional, both or neither: kiln_rt_batch_sample and kiln_rt_batch_end; launches of the samples may wait until the
   * latter. Without them samples are launched one after the other, in slot 0. */
  kiln_status (*batch_sample)(void *state, int64_t sample, int64_t samples, int64_t *slot);
  kiln_status (*batch_end)(void *state);
  /* Optional: calls `visit` with each unit of the device that this machine has; needs no state. */
  kiln_status (*list)(void (*visit)(void *user, const char *name), void *user, char *error, size_t error_bytes);
};

#ifdef __cplusplus
}
#endif
#endif
