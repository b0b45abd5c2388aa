/*===- context.h - The state of runs -------------------------------------===*/
#ifndef KILN_SRC_CONTEXT_H
#define KILN_SRC_CONTEXT_H

#include "heap.h"
#include "kiln/program.h"
#include "safetensors.h"

#include <stdbool.h>

/* Memory of the device that is kept from run to run and replaced when it is too small. */
typedef struct kiln_block {
  void *memory;
  int64_t bytes;
} kiln_block;

typedef struct kiln_input_state {
  kiln_slice slice;
  bool ready;       /* `slice` holds this run's input */
  bool in_place;    /* it is the caller's memory */
  kiln_block copy;  /* where the device cannot use the caller's memory */
  kiln_block bools; /* host memory: the caller's, each byte 0 or 1 */
} kiln_input_state;

typedef struct kiln_output_state {
  bool ready;
  kiln_slice slice;
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
  int64_t bytes;
  void *host;        /* where the caller finds the result: its own memory or `own`; NULL: chosen when the run ends */
  bool in_place;     /* the device writes `host` itself */
  kiln_block own[2]; /* host memory of the context: two, for runs that read what the last one gave */
  int32_t turn;      /* of `own`: the one that holds the last result */
  kiln_block copy;   /* memory of the device */
} kiln_output_state;

/* Memory of kiln_rt_alloc. It serves later calls once it is free, and is kept for the next run if this one used it. */
typedef struct kiln_temporary {
  kiln_block block;
  int32_t device;
  bool used;    /* now */
  bool touched; /* in this run */
} kiln_temporary;

/* Memory of kiln_rt_zeros, for tensors that lie among zeros. */
typedef struct kiln_zeros {
  kiln_block block;
  int64_t bytes;  /* so many are written, for these sizes: */
  int64_t *sizes; /* with others zeros lie elsewhere; NULL: nothing has been written */
} kiln_zeros;

/* One of the model's devices, and what the context has of its memory. */
typedef struct kiln_opened {
  const kiln_device *device;
  void *state; /* NULL: it is not open */
  kiln_block arena;
  kiln_zeros *zeros; /* by number */
  int32_t zeros_count;
  int64_t *planned; /* of kiln_rt_plan: the sizes, then the offsets */
  int32_t planned_count;
  int64_t planned_bytes;
} kiln_opened;

struct kiln_context {
  const kiln_model *model;
  kiln_opened *devices; /* as many as the model has */
  kiln_options options;
  char error[512];

  const kiln_tensor *inputs; /* of the run; NULL between runs or where none is given */
  kiln_tensor *outputs;
  int64_t *sizes;
  kiln_input_state *input_states;
  kiln_output_state *output_states;
  kiln_block scratch; /* of the host: working memory of a call of the library */
  kiln_block transit; /* of the host: bytes on their way from one device to another */
  /* Strings of this run and of the last one, whose outputs may be inputs of this. */
  kiln_heap heaps[2];
  int32_t heap_turn; /* the one of this run */
  kiln_temporary *temporaries;
  int32_t temporary_count, temporary_room;

  kiln_safetensors file; /* mapped while the context lives */
  kiln_slice *weights;
  kiln_block *weight_copies;

  int64_t device_bytes; /* of all devices, allocated now */
  int32_t launches;
  double seconds; /* spent in launches while they are logged */
};

/* Sets the context's error and returns `status`. */
kiln_status kiln_fail(kiln_context *context, kiln_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with the device's message. `what` names the operation and its object. */
kiln_status kiln_fail_device(kiln_context *context, const kiln_opened *opened, kiln_status status, const char *what);
/* Waits for all work that the device was given. */
kiln_status kiln_synchronize(kiln_context *context, const kiln_opened *opened, const char *what);
void kiln_log(kiln_context *context, const char *line);
/* Tells options.span, if there is one. */
void kiln_tell_span(const kiln_context *context, const kiln_span *span);

/* Makes `block`, memory of one device, always the same, at least `bytes` long; its contents are lost when it grows. */
kiln_status kiln_block_reserve(kiln_context *context, const kiln_opened *opened, kiln_block *block, int64_t bytes,
                               const char *what);
void kiln_block_release(kiln_context *context, const kiln_opened *opened, kiln_block *block);

/* Finds every weight, in the model or in options.weights_path, and puts it where the device can read it. */
kiln_status kiln_weights_open(kiln_context *context);
void kiln_weights_close(kiln_context *context);

/* kiln_rt_output's results to the caller. */
kiln_status kiln_outputs_finish(kiln_context *context);
/* At a run's end: all are free, and those that it did not use go back to the device. */
void kiln_temporaries_recycle(kiln_context *context);
void kiln_temporaries_release(kiln_context *context);
/* Gives back what kiln_rt_zeros got on a device. */
void kiln_zeros_release(kiln_context *context, kiln_opened *opened);

/* Makes `block`, of host memory, at least `bytes` long; its contents are lost when it grows. False: no memory. A block
 * that a device's results are read into names the `reader`, always: it may have faster memory for that. Others have
 * NULL. */
bool kiln_host_reserve(const kiln_context *context, kiln_block *block, int64_t bytes, const kiln_opened *reader);
void kiln_host_release(const kiln_context *context, kiln_block *block, const kiln_opened *reader);

#endif
