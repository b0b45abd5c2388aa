/*===- pool.c - The chunks of a launch over a few threads ----------------===
 *
 * A model launches kernels back to back, microseconds apart, so a thread that has no work spins for a while before it
 * sleeps, and a launch costs no system call while the threads are awake.
 *
 * All that threads compete for is one word, `ticket`: the launch's number in its upper half, the chunks that nobody has
 * taken in its lower. Taking a chunk is to lower it by one with a compare-and-swap. A thread that wakes late finds
 * either no chunk left or one of a later launch; it reads the launch's fields only after it has taken a chunk, and
 * until it has finished that chunk the launch cannot end, so the fields hold still.
 *
 * Chunks come from shapes and each writes what no other does, so results do not depend on who runs which.
 *
 * The process is not ours. Its signals are for its own threads, so ours block them all. A fork copies the pool without
 * its threads and with its locks as they happen to be: a child begins anew when it first runs something.
 *
 *===---------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "pool.h"

#include "../../src/alloc.h"
#include "../../src/clock.h"
#include "cpu_count.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#define MOST_THREADS 1024
#define SPINS 4000 /* tens of microseconds */
#define STACK_BYTES                                                                                                    \
  ((size_t)8 << 20) /* kernels keep tiles there, and libraries' defaults can be as small as 128 KB                     \
                     */

struct kiln_pool {
  kiln_chunk_entry entry;
  void *const *buffers;
  const int64_t *sizes;
  int64_t first; /* of the chunks in `ticket` */
  uint32_t chunks;

  _Alignas(128) _Atomic uint64_t ticket;
  _Alignas(128) _Atomic uint32_t unfinished; /* chunks, taken or not */
  _Alignas(128) _Atomic int32_t sleepers;
  _Atomic bool caller_sleeps, stop;

  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  int32_t wanted, started; /* threads beside the caller's */
  pid_t owner;             /* the process that the threads are in */
  const kiln_options *watcher;
  const char *name;         /* of the launch, for the watcher */
  _Atomic int32_t numbered; /* threads that know their number */
  const kiln_allocator *memory;
  pthread_t threads[];
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static bool has_work(const kiln_pool *pool) { return (uint32_t)atomic_load(&pool->ticket) != 0; }

/* What one thread did of a launch, for the watcher; `options` is NULL where nothing is to be told. */
typedef struct share {
  const kiln_options *options;
  uint64_t launch;
  kiln_span span;
} share;

/* Only while a chunk is held: until it is finished the pool's fields hold still. */
static void begin_share(const kiln_pool *pool, share *mine, uint64_t launch, int32_t thread) {
  *mine = (share){pool->watcher, launch, {.name = pool->name, .origin = "", .thread = thread}};
  if (mine->options)
    mine->span.begin = kiln_seconds();
}

static void end_share(share *mine) {
  if (!mine->options)
    return;
  mine->span.end = kiln_seconds();
  mine->options->span(mine->options->span_user, &mine->span);
  mine->options = NULL;
}

/* Takes chunks and runs them until none is left. */
static void work(kiln_pool *pool, int32_t thread) {
  share mine = {0};
  uint64_t ticket = atomic_load(&pool->ticket);
  while ((uint32_t)ticket != 0) {
    if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket - 1))
      continue;
    if (mine.launch != ticket >> 32) {
      end_share(&mine);
      begin_share(pool, &mine, ticket >> 32, thread);
    }
    pool->entry(pool->buffers, pool->sizes, pool->first + (pool->chunks - (uint32_t)ticket));
    if (atomic_fetch_sub(&pool->unfinished, 1) == 1 && atomic_load(&pool->caller_sleeps)) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_signal(&pool->done);
      pthread_mutex_unlock(&pool->mutex);
    }
    ticket = atomic_load(&pool->ticket);
  }
  end_share(&mine);
}

static void *worker(void *argument) {
  kiln_pool *pool = argument;
  int32_t thread = atomic_fetch_add(&pool->numbered, 1) + 1;
  while (!atomic_load(&pool->stop)) {
    for (int spin = 0; spin < SPINS && !has_work(pool); spin++)
      pause_briefly();
    if (!has_work(pool)) {
      pthread_mutex_lock(&pool->mutex);
      atomic_fetch_add(&pool->sleepers, 1);
      while (!has_work(pool) && !atomic_load(&pool->stop))
        pthread_cond_wait(&pool->work, &pool->mutex);
      atomic_fetch_sub(&pool->sleepers, 1);
      pthread_mutex_unlock(&pool->mutex);
    }
    work(pool, thread);
  }
  return NULL;
}

static void start_threads(kiln_pool *pool) {
  pthread_attr_t attributes;
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a new thread has its maker's */
    while (pool->started < pool->wanted &&
           pthread_create(&pool->threads[pool->started], &attributes, worker, pool) == 0)
      pool->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
  }
  pool->wanted = pool->started;
}

static void wake(kiln_pool *pool, uint32_t chunks) {
  int32_t sleepers = atomic_load(&pool->sleepers);
  if (sleepers == 0)
    return;
  pthread_mutex_lock(&pool->mutex);
  if (chunks > (uint32_t)sleepers)
    pthread_cond_broadcast(&pool->work);
  else
    for (uint32_t i = 1; i < chunks; i++) /* the caller takes one itself */
      pthread_cond_signal(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_all(kiln_pool *pool) {
  for (int spin = 0; spin < SPINS; spin++) {
    if (atomic_load(&pool->unfinished) == 0)
      return;
    pause_briefly();
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->caller_sleeps, true);
  while (atomic_load(&pool->unfinished) != 0)
    pthread_cond_wait(&pool->done, &pool->mutex);
  atomic_store(&pool->caller_sleeps, false);
  pthread_mutex_unlock(&pool->mutex);
}

static void run_some(kiln_pool *pool, int64_t first, uint32_t chunks) {
  pool->first = first;
  pool->chunks = chunks;
  atomic_store(&pool->unfinished, chunks);
  uint64_t launch = (atomic_load(&pool->ticket) >> 32) + 1;
  atomic_store(&pool->ticket, launch << 32 | chunks);
  wake(pool, chunks);
  work(pool, 0);
  wait_for_all(pool);
}

/* Everything but how many threads are wanted. */
static void reset(kiln_pool *pool, int32_t wanted, const kiln_allocator *memory) {
  *pool = (kiln_pool){.wanted = wanted, .owner = getpid(), .memory = memory};
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
}

void kiln_pool_watch(kiln_pool *pool, const kiln_options *options, const char *name) {
  pool->watcher = options && options->span ? options : NULL;
  pool->name = name;
}

void kiln_pool_run(kiln_pool *pool, kiln_chunk_entry entry, void *const *buffers, const int64_t *sizes,
                   int64_t chunks) {
  if (chunks > 1 && pool->wanted > 0 && pool->owner != getpid())
    reset(pool, pool->wanted, pool->memory);
  if (chunks > 1 && pool->started < pool->wanted)
    start_threads(pool);
  if (chunks <= 1 || pool->started == 0) {
    share mine;
    begin_share(pool, &mine, 0, 0);
    for (int64_t chunk = 0; chunk < chunks; chunk++)
      entry(buffers, sizes, chunk);
    end_share(&mine);
    return;
  }
  pool->entry = entry;
  pool->buffers = buffers;
  pool->sizes = sizes;
  for (int64_t first = 0; first < chunks;) {
    int64_t rest = chunks - first, some = rest < INT32_MAX ? rest : INT32_MAX;
    run_some(pool, first, (uint32_t)some);
    first += some;
  }
}

kiln_pool *kiln_pool_create(int32_t threads, const kiln_allocator *memory) {
  if (threads <= 0)
    threads = kiln_cpu_count();
  if (threads > MOST_THREADS)
    threads = MOST_THREADS;
  size_t bytes = sizeof(kiln_pool) + (size_t)threads * sizeof(pthread_t);
  kiln_pool *pool = kiln_allocate(memory, (int64_t)bytes, _Alignof(kiln_pool));
  if (pool)
    reset(pool, threads - 1, memory);
  return pool;
}

void kiln_pool_destroy(kiln_pool *pool) {
  if (pool->owner != getpid()) { /* the threads and whoever holds the locks are in another process */
    kiln_release(pool->memory, pool);
    return;
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->stop, true);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t i = 0; i < pool->started; i++)
    pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  kiln_release(pool->memory, pool);
}

int32_t kiln_pool_threads(const kiln_pool *pool) { return pool->started + 1; }
