/*===- cpu.c - Kernels that are functions of this process -----------------===
 *
 * A kernel of this device is a function of the process, which computes one chunk of a launch's grid from pointers and
 * sizes; a launch calls it for each chunk. Two decisions remain. Who runs the chunks: threads of a pool, the caller's
 * own tasks, or the calling thread if there is only one chunk and no pool. And which code: a program may hold several
 * versions of a model, each for a CPU, and the first that this machine can run is chosen; without any, opening fails
 * and names what is missing.
 *
 *===----------------------------------------------------------------------===*/
#include "cpu.h"

#include "../../src/alloc.h"
#include "batch.h"
#include "cpu_count.h"
#include "cpu_features.h"
#include "pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Chunks are made if a kernel's work is expected to be worth threads; with sizes of the run's, it may have less. These
 * are the most that a core computes and moves in a nanosecond, and the time that other threads must save to be worth
 * waking. */
#define MOST_OPERATIONS 64
#define MOST_BYTES 64
#define FEWEST_NANOSECONDS 1500

typedef struct cpu_state {
  const kiln_model *model;
  kiln_pool *pool; /* NULL: the caller runs the chunks */
  const kiln_options *options;
  void **rows; /* a row for each worker, whose last part takes a launch's buffers */
  int32_t stride, workers;
  kiln_batch batch;
  void *scratch; /* of all workers */
  int64_t scratch_bytes;
  _Atomic bool *busy; /* workers, where the caller runs the chunks */
  const kiln_allocator *memory;
} cpu_state;

static void cpu_close(void *opaque) {
  cpu_state *state = opaque;
  if (state->pool)
    kiln_pool_destroy(state->pool);
  kiln_release(state->memory, state->scratch);
  kiln_release(state->memory, (void *)state->busy);
  kiln_release(state->memory, state->rows);
  kiln_batch_release(&state->batch);
  kiln_release(state->memory, state);
}

static void **row_of(const cpu_state *state, int64_t worker) { return state->rows + worker * state->stride; }

static const kiln_model *cpu_choose(const kiln_model *model) {
  char missing[256];
  while (model->otherwise && kiln_cpu_lacks(model->features, missing, sizeof missing))
    model = model->otherwise;
  return model;
}

static kiln_status cpu_open(const kiln_model *model, int32_t place, const kiln_options *options, void **opaque,
                            char *error, size_t error_bytes) {
  char missing[256];
  if (model->features && kiln_cpu_lacks(model->features, missing, sizeof missing)) {
    snprintf(error, error_bytes, "this CPU lacks %s; compile for it with --mcpu", missing);
    return KILN_UNAVAILABLE;
  }
  cpu_state *state = kiln_allocate_zeros(&options->memory, 1, sizeof *state);
  if (state) {
    state->memory = &options->memory;
    state->model = model;
    state->options = options;
    kiln_batch_init(&state->batch, model, place, state->memory);
    state->stride = KILN_ROW_BUFFERS + state->batch.buffers;
    if (!options->run_tasks)
      state->pool = kiln_pool_create(options->threads, state->memory);
    if (state->pool)
      state->workers = kiln_pool_workers(state->pool);
    else
      state->workers = options->threads > 0 ? options->threads : kiln_cpu_count();
    state->rows = kiln_allocate_zeros(state->memory, (int64_t)state->stride * state->workers, sizeof *state->rows);
    for (int32_t worker = 0; state->rows && worker < state->workers; worker++)
      row_of(state, worker)[KILN_ROW_BATCH] = &state->batch;
    state->busy = kiln_allocate_zeros(state->memory, state->workers, sizeof *state->busy);
  }
  if (!state || !state->rows || !state->busy || (!state->pool && !options->run_tasks)) {
    if (state)
      cpu_close(state);
    snprintf(error, error_bytes, "no memory for the device");
    return KILN_OUT_OF_MEMORY;
  }
  *opaque = state;
  return KILN_OK;
}

static void *cpu_alloc(void *opaque, int64_t bytes) {
  const cpu_state *state = opaque;
  return kiln_allocate(state->memory, bytes, KILN_ALIGNMENT);
}

static void cpu_free(void *opaque, void *memory) {
  const cpu_state *state = opaque;
  kiln_release(state->memory, memory);
}

static char *bytes_of(kiln_slice slice) { return (char *)slice.memory + slice.offset; }

static kiln_status cpu_write(void *opaque, kiln_slice to, const void *from, int64_t bytes) {
  (void)opaque;
  memcpy(bytes_of(to), from, (size_t)bytes);
  return KILN_OK;
}

static kiln_status cpu_read(void *opaque, void *to, kiln_slice from, int64_t bytes) {
  (void)opaque;
  memcpy(to, bytes_of(from), (size_t)bytes);
  return KILN_OK;
}

static kiln_status cpu_copy(void *opaque, kiln_slice to, kiln_slice from, int64_t bytes) {
  (void)opaque;
  memmove(bytes_of(to), bytes_of(from), (size_t)bytes);
  return KILN_OK;
}

typedef struct cpu_chunks {
  const cpu_state *state;
  kiln_chunk_entry entry;
} cpu_chunks;

static void run_chunk(void *argument, int64_t chunk) {
  const cpu_chunks *chunks = argument;
  chunks->entry(chunks->state->rows, chunk);
}

/* A task of the caller's has no number, so it looks for a worker whose memory is free. If more tasks run at once than
 * there are workers it waits: a task with memory ends its chunk and waits for nobody. */
static void run_chunk_as_worker(void *argument, int64_t chunk) {
  const cpu_chunks *chunks = argument;
  const cpu_state *state = chunks->state;
  int32_t worker = 0;
  while (atomic_exchange(&state->busy[worker], true)) {
    worker = worker + 1 < state->workers ? worker + 1 : 0;
    if (worker == 0)
      sched_yield();
  }
  chunks->entry(row_of(state, worker), chunk);
  atomic_store(&state->busy[worker], false);
}

/* Gives so many workers so much memory of their own. */
static kiln_status give_scratch(cpu_state *state, int64_t each, int64_t workers) {
  int wraps = 0;
  int64_t bytes = kiln_size_mul(each, workers, &wraps);
  if (wraps)
    return KILN_OUT_OF_MEMORY;
  if (!state->scratch || bytes > state->scratch_bytes) {
    kiln_release(state->memory, state->scratch);
    state->scratch = cpu_alloc(state, bytes);
    state->scratch_bytes = state->scratch ? bytes : 0;
    if (!state->scratch)
      return KILN_OUT_OF_MEMORY;
  }
  for (int64_t worker = 0; worker < workers; worker++)
    row_of(state, worker)[KILN_ROW_SCRATCH] = (char *)state->scratch + worker * each;
  return KILN_OK;
}

static void run_chunks_of(void *opaque, const void *site, kiln_chunk_entry entry, int64_t chunks, double nanoseconds) {
  cpu_state *state = opaque;
  if (state->pool && nanoseconds < FEWEST_NANOSECONDS)
    kiln_pool_run_alone(state->pool, site, entry, state->rows, chunks);
  else if (state->pool)
    kiln_pool_run(state->pool, site, entry, state->rows, state->stride, chunks);
  else if (chunks == 1)
    entry(state->rows, 0);
  else
    state->options->run_tasks(state->options->tasks_user, state->batch.scratch ? run_chunk_as_worker : run_chunk,
                              &(cpu_chunks){state, entry}, chunks);
}

/* All workers have scratch, however few chunks there are, as any of them may run one; a single chunk is run by the
 * caller. */
static kiln_status run_noted(cpu_state *state) {
  kiln_batch *batch = &state->batch;
  batch->is_open = false;
  kiln_status status =
      batch->scratch ? give_scratch(state, batch->scratch, batch->most > 1 ? state->workers : 1) : KILN_OK;
  if (!status)
    kiln_batch_compute(batch, run_chunks_of, state);
  return status;
}

static double least_nanoseconds(const int64_t estimates[KILN_ESTIMATES]) {
  double computed = (double)estimates[0] / MOST_OPERATIONS, moved = (double)estimates[1] / MOST_BYTES;
  return computed > moved ? computed : moved;
}

static kiln_status cpu_launch(void *opaque, const kiln_launch_info *info, const kiln_slice *buffers,
                              const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                              const int64_t estimates[KILN_ESTIMATES], double *seconds) {
  (void)seconds;
  cpu_state *state = opaque;
  bool is_alone = !state->batch.is_open;
  if (is_alone)
    kiln_batch_begin(&state->batch, 1, 1);
  kiln_status status =
      kiln_batch_add(&state->batch, info, buffers, sizes, grid[0] * grid[1] * grid[2], least_nanoseconds(estimates));
  if (!is_alone || status)
    return status;
  if (state->pool && state->options->span)
    kiln_pool_watch(state->pool, state->options, state->model->kernels[info->kernel].name);
  return run_noted(state);
}

/* If samples are computed one at a time, they are launched at once. */
static kiln_status cpu_batch_sample(void *opaque, int64_t sample, int64_t samples, int64_t *slot) {
  cpu_state *state = opaque;
  int64_t together = kiln_batch_together(samples, state->workers);
  if (sample == 0 && together > 1)
    kiln_batch_begin(&state->batch, samples, together);
  *slot = sample % together;
  return KILN_OK;
}

static kiln_status cpu_batch_end(void *opaque) {
  cpu_state *state = opaque;
  return state->batch.is_open ? run_noted(state) : KILN_OK;
}

static void *cpu_map_host(void *opaque, void *data) {
  (void)opaque;
  return data;
}

#define CPU_DEVICE(NAME)                                                                                               \
  {                                                                                                                    \
      .name = NAME,                                                                                                    \
      .open = cpu_open,                                                                                                \
      .close = cpu_close,                                                                                              \
      .alloc = cpu_alloc,                                                                                              \
      .free = cpu_free,                                                                                                \
      .write = cpu_write,                                                                                              \
      .read = cpu_read,                                                                                                \
      .copy = cpu_copy,                                                                                                \
      .launch = cpu_launch,                                                                                            \
      .map_host = cpu_map_host,                                                                                        \
      .choose = cpu_choose,                                                                                            \
      .is_host = 1,                                                                                                    \
      .batch_sample = cpu_batch_sample,                                                                                \
      .batch_end = cpu_batch_end,                                                                                      \
  }

const kiln_device kiln_device_cpu = CPU_DEVICE("cpu");
const kiln_device kiln_device_c = CPU_DEVICE("c");
