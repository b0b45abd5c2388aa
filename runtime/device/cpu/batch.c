/*===- batch.c - Launches, for each sample of a batch or for one ---------===*/
#include "batch.h"

#include "../../src/alloc.h"

#include <string.h>

typedef struct record {
  const kiln_kernel *kernel;
  const kiln_launch_info *site;
  int64_t chunks;
  double nanoseconds;
  void *buffers[]; /* then numbers: its sizes, and the bytes of each scratch */
} record;

static int64_t record_bytes(const kiln_batch *batch) {
  return (int64_t)(sizeof(record) + (size_t)batch->buffers * sizeof(void *) + (size_t)batch->numbers * sizeof(int64_t));
}

static record *record_at(const kiln_batch *batch, int64_t index) {
  void *at = batch->records + index * record_bytes(batch);
  return at;
}

static int64_t *numbers_of(const kiln_batch *batch, record *one) { return (int64_t *)(one->buffers + batch->buffers); }

void kiln_batch_init(kiln_batch *batch, const kiln_model *model, int32_t place, const kiln_allocator *memory) {
  *batch = (kiln_batch){.model = model, .memory = memory};
  for (int32_t i = 0; i < model->kernel_count; i++) {
    const kiln_kernel *kernel = &model->kernels[i];
    int32_t numbers = kernel->sizes + kernel->scratch;
    if (kernel->device != place)
      continue;
    batch->buffers = kernel->buffers > batch->buffers ? kernel->buffers : batch->buffers;
    batch->numbers = numbers > batch->numbers ? numbers : batch->numbers;
  }
  batch->buffers += batch->buffers % 2; /* numbers follow them, and are larger if pointers have 32 bits */
}

void kiln_batch_release(kiln_batch *batch) { kiln_release(batch->memory, batch->records); }

/* In as few turns as threads allow, each with the same number of samples. */
int64_t kiln_batch_together(int64_t samples, int64_t threads) {
  int64_t turns = (samples + threads - 1) / threads;
  return (samples + turns - 1) / turns;
}

void kiln_batch_begin(kiln_batch *batch, int64_t samples, int64_t together) {
  batch->is_open = true;
  batch->count = batch->scratch = batch->most = 0;
  batch->samples = samples;
  batch->together = together;
}

static bool grow(kiln_batch *batch) {
  int64_t room = batch->room ? 2 * batch->room : 16;
  char *grown = kiln_allocate(batch->memory, room * record_bytes(batch), _Alignof(record));
  if (!grown)
    return false;
  if (batch->count)
    memcpy(grown, batch->records, (size_t)(batch->count * record_bytes(batch)));
  kiln_release(batch->memory, batch->records);
  batch->records = grown;
  batch->room = room;
  return true;
}

kiln_status kiln_batch_add(kiln_batch *batch, const kiln_launch_info *info, const kiln_slice *buffers,
                           const int64_t *sizes, int64_t chunks, double nanoseconds) {
  const kiln_kernel *kernel = &batch->model->kernels[info->kernel];
  if (batch->count == batch->room && !grow(batch)) {
    batch->is_open = false;
    return KILN_OUT_OF_MEMORY;
  }
  record *one = record_at(batch, batch->count++);
  one->kernel = kernel;
  one->site = info;
  one->chunks = chunks;
  one->nanoseconds = nanoseconds;
  int32_t shared = kernel->buffers - kernel->scratch;
  for (int32_t i = 0; i < shared; i++)
    one->buffers[i] = (char *)buffers[i].memory + buffers[i].offset;
  int64_t *numbers = numbers_of(batch, one), scratch = 0;
  for (int32_t i = 0; i < kernel->sizes; i++)
    numbers[i] = sizes[i];
  int wraps = 0;
  if (kernel->scratch) /* a worker's own, even of no bytes */
    scratch = KILN_ALIGNMENT;
  for (int32_t i = 0; i < kernel->scratch; i++) {
    numbers[kernel->sizes + i] = kiln_size_padded(buffers[shared + i].offset, &wraps);
    scratch = kiln_size_add(scratch, numbers[kernel->sizes + i], &wraps);
  }
  batch->scratch = scratch > batch->scratch ? scratch : batch->scratch;
  batch->most = chunks * batch->samples > batch->most ? chunks * batch->samples : batch->most;
  batch->is_open = !wraps;
  return wraps ? KILN_OUT_OF_MEMORY : KILN_OK;
}

/* Runs a chunk of a launch; the row is the worker's. */
static void run_chunk_of(record *one, const kiln_batch *batch, void *const *row, int64_t chunk) {
  const int64_t *numbers = numbers_of(batch, one);
  void **buffers = one->buffers;
  if (one->kernel->scratch) {
    int32_t shared = one->kernel->buffers - one->kernel->scratch;
    char *next = row[KILN_ROW_SCRATCH];
    buffers = (void **)row + KILN_ROW_BUFFERS;
    memcpy(buffers, one->buffers, (size_t)shared * sizeof *buffers);
    for (int32_t i = 0; i < one->kernel->scratch; i++) {
      buffers[shared + i] = next;
      next += numbers[one->kernel->sizes + i];
    }
  }
  one->kernel->entry(buffers, numbers, chunk);
}

static void run_dealt(void *const *row, int64_t chunk) {
  const kiln_batch *batch = row[KILN_ROW_BATCH];
  int64_t chunks = record_at(batch, batch->launch)->chunks;
  int64_t sample = batch->from + chunk / chunks;
  run_chunk_of(record_at(batch, sample * batch->launches + batch->launch), batch, row, chunk % chunks);
}

void kiln_batch_compute(kiln_batch *batch, kiln_batch_runner *run, void *user) {
  batch->launches = batch->count / batch->samples;
  for (batch->from = 0; batch->from < batch->samples; batch->from += batch->together) {
    int64_t left = batch->samples - batch->from, some = left < batch->together ? left : batch->together;
    for (batch->launch = 0; batch->launch < batch->launches; batch->launch++) {
      const record *first = record_at(batch, batch->launch);
      run(user, first->site, run_dealt, some * first->chunks, (double)some * first->nanoseconds);
    }
  }
}
