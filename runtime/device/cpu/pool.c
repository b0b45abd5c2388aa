/*===- pool.c - The chunks of a launch over a few threads ----------------===
 *
 * A model launches kernels back to back, microseconds apart, so a thread that has no work spins for a while before it
 * sleeps, and a launch costs no system call while the threads are awake.
 *
 * Each thread has a run of neighbouring chunks of its own, the same share of every launch, so that the data that it
 * wrote in one kernel is in its cache when the next reads it, and no two threads write neighbouring lines. A thread
 * that has done its own takes those that others would come to last.
 *
 * A launch that is repeated at the same place of the program, as in each step of a recurrent layer, goes backwards
 * every other time: if weights are more than a cache holds, it holds those read last, and these are then read first.
 *
 * The rest of a thread's chunks is one word, `range`: a number of the launch, the first chunk and the end. A thread
 * takes a chunk by changing the word with a compare-and-swap. One that wakes late finds either no chunk left or one of
 * a later launch. It reads the launch's fields only after it has taken a chunk, and until it has finished that chunk
 * the launch cannot end, so the fields hold still.
 *
 * Chunks come from shapes and each writes what no other does, so results do not depend on who runs which.
 *
 * The process is not ours. Its signals are for its own threads, so ours block them all. A fork copies the pool without
 * its threads and with its locks in any state: a child begins anew when it first runs something.
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

/* A range: 16 bits of the launch's number, which is not 0, above the first chunk and the end. */
#define CHUNK_BITS 24
#define CHUNK_MASK (((uint64_t)1 << CHUNK_BITS) - 1)
#define MOST_CHUNKS ((int64_t)CHUNK_MASK)

typedef struct hand {
  _Alignas(128) _Atomic uint64_t range;
  pthread_t thread; /* not the caller's */
} hand;

struct kiln_pool {
  kiln_chunk_entry entry;
  void *const *buffers;
  int64_t stride; /* from one worker's buffers to the next one's */
  int64_t first;  /* of the chunks in the ranges */
  uint64_t launch;
  const void *site; /* of the last launch of several chunks */

  _Alignas(128) _Atomic uint32_t untaken;    /* chunks */
  _Alignas(128) _Atomic uint32_t unfinished; /* chunks, taken or not */
  _Alignas(128) _Atomic int32_t sleepers;
  _Atomic bool caller_sleeps, stop;

  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  int32_t hands;           /* room for threads, the caller's included */
  int32_t wanted, started; /* threads besides the caller's */
  pid_t owner;             /* the process that the threads are in */
  const kiln_options *watcher;
  const char *name;         /* of the launch, for the watcher */
  _Atomic int32_t numbered; /* threads that know their number */
  const kiln_allocator *memory;
  hand hand[];
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static bool has_work(const kiln_pool *pool) { return atomic_load(&pool->untaken) != 0; }

static uint64_t range_of(uint64_t launch, uint64_t first, uint64_t end) {
  return launch << (2 * CHUNK_BITS) | first << CHUNK_BITS | end;
}

typedef struct taken {
  bool is_one;
  uint64_t launch;
  int64_t chunk;
} taken;

/* A launch's number is odd if it goes backwards. */
static bool goes_backwards(uint64_t launch) { return launch & 1; }

/* A chunk of a hand's: its owner takes the next one, others the one that the owner would come to last. */
static taken take_chunk(hand *from, bool is_owner) {
  uint64_t range = atomic_load(&from->range);
  for (;;) {
    uint64_t launch = range >> (2 * CHUNK_BITS), first = range >> CHUNK_BITS & CHUNK_MASK, end = range & CHUNK_MASK;
    if (first == end)
      return (taken){0};
    bool is_first = is_owner != goes_backwards(launch);
    uint64_t rest = is_first ? range_of(launch, first + 1, end) : range_of(launch, first, end - 1);
    if (atomic_compare_exchange_weak(&from->range, &range, rest))
      return (taken){true, launch, (int64_t)(is_first ? first : end - 1)};
  }
}

/* One of the thread's own, else one of the others'. */
static taken take_any_chunk(kiln_pool *pool, int32_t thread) {
  taken one = take_chunk(&pool->hand[thread], true);
  for (int32_t i = 1; i < pool->hands && !one.is_one && has_work(pool); i++)
    one = take_chunk(&pool->hand[(thread + i) % pool->hands], false);
  return one;
}

/* One thread's part of a launch, for the watcher; `options` is NULL if nobody watches. */
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
  while (has_work(pool)) {
    taken one = take_any_chunk(pool, thread);
    if (!one.is_one) { /* they are being dealt, or taken */
      pause_briefly();
      continue;
    }
    atomic_fetch_sub(&pool->untaken, 1);
    if (mine.launch != one.launch) {
      end_share(&mine);
      begin_share(pool, &mine, one.launch, thread);
    }
    pool->entry(pool->buffers + thread * pool->stride, pool->first + one.chunk);
    if (atomic_fetch_sub(&pool->unfinished, 1) == 1 && atomic_load(&pool->caller_sleeps)) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_signal(&pool->done);
      pthread_mutex_unlock(&pool->mutex);
    }
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
           pthread_create(&pool->hand[pool->started + 1].thread, &attributes, worker, pool) == 0)
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

static void number_launch(kiln_pool *pool, bool backwards) {
  pool->launch = (pool->launch / 2 % INT16_MAX + 1) * 2 + backwards;
}

/* Deals chunks out evenly, in order. */
static void run_some(kiln_pool *pool, bool backwards, int64_t first, uint32_t chunks) {
  number_launch(pool, backwards);
  pool->first = first;
  atomic_store(&pool->unfinished, chunks);
  atomic_store(&pool->untaken, chunks);
  uint64_t hands = (uint64_t)pool->started + 1, parts = hands < chunks ? hands : chunks;
  for (uint64_t part = 0; part < parts; part++)
    atomic_store(&pool->hand[part].range, range_of(pool->launch, chunks * part / parts, chunks * (part + 1) / parts));
  wake(pool, chunks);
  work(pool, 0);
  wait_for_all(pool);
}

/* Everything but how many threads are wanted. */
static void reset(kiln_pool *pool, int32_t hands, int32_t wanted, const kiln_allocator *memory) {
  *pool = (kiln_pool){.hands = hands, .wanted = wanted, .owner = getpid(), .memory = memory};
  for (int32_t i = 0; i < hands; i++)
    atomic_init(&pool->hand[i].range, 0);
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
}

void kiln_pool_watch(kiln_pool *pool, const kiln_options *options, const char *name) {
  pool->watcher = options && options->span ? options : NULL;
  pool->name = name;
}

/* Whether this launch goes backwards. */
static bool turn(kiln_pool *pool, const void *site, int64_t chunks) {
  bool backwards = chunks > 1 && site && pool->site == site && !goes_backwards(pool->launch);
  if (chunks > 1)
    pool->site = site;
  return backwards;
}

static void run_alone(kiln_pool *pool, bool backwards, kiln_chunk_entry entry, void *const *buffers, int64_t chunks) {
  share mine;
  begin_share(pool, &mine, 0, 0);
  if (chunks > 1)
    number_launch(pool, backwards);
  for (int64_t i = 0; i < chunks; i++)
    entry(buffers, backwards ? chunks - 1 - i : i);
  end_share(&mine);
}

void kiln_pool_run_alone(kiln_pool *pool, const void *site, kiln_chunk_entry entry, void *const *buffers,
                         int64_t chunks) {
  run_alone(pool, turn(pool, site, chunks), entry, buffers, chunks);
}

void kiln_pool_run(kiln_pool *pool, const void *site, kiln_chunk_entry entry, void *const *buffers, int64_t stride,
                   int64_t chunks) {
  bool backwards = turn(pool, site, chunks);
  if (chunks > 1 && pool->wanted > 0 && pool->owner != getpid())
    reset(pool, pool->hands, pool->wanted, pool->memory);
  if (chunks > 1 && pool->started < pool->wanted)
    start_threads(pool);
  if (chunks <= 1 || pool->started == 0) {
    run_alone(pool, backwards, entry, buffers, chunks);
    return;
  }
  pool->entry = entry;
  pool->buffers = buffers;
  pool->stride = stride;
  for (int64_t first = 0; first < chunks;) {
    int64_t rest = chunks - first, some = rest < MOST_CHUNKS ? rest : MOST_CHUNKS;
    run_some(pool, backwards, first, (uint32_t)some);
    first += some;
  }
}

kiln_pool *kiln_pool_create(int32_t threads, const kiln_allocator *memory) {
  if (threads <= 0)
    threads = kiln_cpu_count();
  if (threads > MOST_THREADS)
    threads = MOST_THREADS;
  size_t bytes = sizeof(kiln_pool) + (size_t)threads * sizeof(hand);
  kiln_pool *pool = kiln_allocate(memory, (int64_t)bytes, _Alignof(kiln_pool));
  if (pool)
    reset(pool, threads, threads - 1, memory);
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
    pthread_join(pool->hand[i + 1].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  kiln_release(pool->memory, pool);
}

int32_t kiln_pool_workers(const kiln_pool *pool) { return pool->hands; }

int32_t kiln_pool_threads(const kiln_pool *pool) { return pool->started + 1; }
