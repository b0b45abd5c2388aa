/*===- pool.h - The chunks of a launch over a few threads ----------------===*/
#ifndef KILN_DEVICE_CPU_POOL_H
#define KILN_DEVICE_CPU_POOL_H

#include "kiln/types.h"

typedef struct kiln_pool kiln_pool;

typedef void (*kiln_chunk_entry)(void *const *buffers, int64_t chunk);

/* A pool of `threads` threads, the caller's included; 0: as many as the process may run on. The others start with the
 * first launch of more than one chunk; if the system refuses one, fewer do the work. NULL: out of memory. */
kiln_pool *kiln_pool_create(int32_t threads, const kiln_allocator *memory);
void kiln_pool_destroy(kiln_pool *pool);

/* Reports the parts of threads to `options->span` from now on, under this name. NULL: to nobody. */
void kiln_pool_watch(kiln_pool *pool, const kiln_options *options, const char *name);

/* Runs entry(buffers + worker * stride, chunk) for 0 <= chunk < chunks, in any order and at the same time, and returns
 * when all are done. A worker, one of kiln_pool_workers, runs one chunk at a time. One caller at a time. `site` is the
 * launch's place in the program, for the order of chunks; NULL: none. */
void kiln_pool_run(kiln_pool *pool, const void *site, kiln_chunk_entry entry, void *const *buffers, int64_t stride,
                   int64_t chunks);

/* The same by the caller alone. */
void kiln_pool_run_alone(kiln_pool *pool, const void *site, kiln_chunk_entry entry, void *const *buffers,
                         int64_t chunks);

/* How many threads may ever run chunks, the caller's included, which is worker 0. */
int32_t kiln_pool_workers(const kiln_pool *pool);

/* The threads of the pool now, the caller's included. */
int32_t kiln_pool_threads(const kiln_pool *pool);

#endif
