/*===- batch.h - Launches, for each sample of a batch or for one ---------===
 *
 * Launches are noted until all samples have theirs: one launch if there is no batch. Then no more samples than there
 * are threads are computed together, one launch after the other, each dealt out to all threads. If there are as many
 * samples as threads, a thread's share is a sample, which it finds in its own cache, and chunks that another has no
 * time for. No chunk of a launch knows the difference, so results do not depend on the number of threads.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_DEVICE_CPU_BATCH_H
#define KILN_DEVICE_CPU_BATCH_H

#include "kiln/program.h"
#include "pool.h"

#include <stdbool.h>

typedef struct kiln_batch {
  bool is_open;             /* launches are noted */
  char *records;            /* the launches, those of a sample together */
  int64_t count, room;      /* of them */
  int32_t buffers, numbers; /* of one launch, at most */
  int64_t samples, together;
  int64_t launches;     /* of each sample */
  int64_t launch, from; /* the launch being dealt out, and its first sample */
  int64_t scratch;      /* bytes that a worker needs */
  int64_t most;         /* chunks that a launch has, of all samples */
  const kiln_model *model;
  const kiln_allocator *memory;
} kiln_batch;

/* A worker's state: memory of its own, the batch that it helps with, and room for a launch's buffers. */
enum { KILN_ROW_BATCH, KILN_ROW_SCRATCH, KILN_ROW_BUFFERS };

/* Runs entry(a worker's row, chunk) for each chunk, as kiln_pool_run does; they take `nanoseconds` or more. */
typedef void kiln_batch_runner(void *user, const void *site, kiln_chunk_entry entry, int64_t chunks,
                               double nanoseconds);

void kiln_batch_init(kiln_batch *batch, const kiln_model *model, int32_t place, const kiln_allocator *memory);
void kiln_batch_release(kiln_batch *batch);

/* How many samples of a batch so many threads compute together. */
int64_t kiln_batch_together(int64_t samples, int64_t threads);
void kiln_batch_begin(kiln_batch *batch, int64_t samples, int64_t together);
/* Notes a launch of the next sample, copying its arguments. */
kiln_status kiln_batch_add(kiln_batch *batch, const kiln_launch_info *info, const kiln_slice *buffers,
                           const int64_t *sizes, int64_t chunks, double nanoseconds);
/* Runs the noted launches, the same for each sample. */
void kiln_batch_compute(kiln_batch *batch, kiln_batch_runner *run, void *user);

#endif
