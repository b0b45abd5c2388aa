/*===- limits.c - What a machine can do at most --------------------------===

   A kernel is fast or slow compared with what its machine can do, so that is measured
   in the same run: how many fused multiply-adds of floats a second, and how
   many bytes a second are read and copied in a buffer that fits the second
   cache, the last one, or none. Each on as many threads as are named, every
   thread with a buffer of its own. A try is shorter than what the scheduler of
   a busy machine gives at once, and the best of many counts: others' work on
   the machine only ever takes away.

   limits THREADS...: a line of JSON for each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __AVX512F__
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES / 4)
typedef float vector __attribute__((vector_size(VECTOR_BYTES)));

/* For some processors compilers would make two half vectors of each. */
#ifdef __clang__
#define WHOLE_VECTORS __attribute__((min_vector_width(8 * VECTOR_BYTES)))
#else
#define WHOLE_VECTORS
#endif

enum { MOST_THREADS = 256, TRIES = 100, CHAINS = 12 };
static const double kTrySeconds = 0.0015;
static const size_t kWindow = 8 << 20; /* bytes of a large buffer that one try goes through */

typedef enum what { FMA, READ, COPY } what;

typedef struct work {
  what kind;
  vector *buffer; /* of its thread alone; a copy goes from the first half of
                     what is given to the second */
  size_t vectors; /* how many of the buffer */
  long rounds;
  double begin, end;
  pthread_barrier_t *start;
} work;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Keeps the compiler from leaving work out, or from doing it once for all
 * rounds. */
static void uses(void *data) { __asm__ volatile("" : : "r"(data) : "memory"); }

WHOLE_VECTORS static void multiply_add(const work *task) {
  vector totals[CHAINS], factor, term;
  for (int i = 0; i < LANES; i++) {
    factor[i] = 0.999f;
    term[i] = 0.001f;
  }
  for (int i = 0; i < CHAINS; i++)
    totals[i] = term * (float)i;
  for (long round = 0; round < task->rounds; round++)
    for (int i = 0; i < CHAINS; i++)
      totals[i] = totals[i] * factor + term;
  for (int i = 0; i < CHAINS; i++)
    uses(&totals[i]);
}

WHOLE_VECTORS static void read_all(const work *task) {
  vector totals[8] = {0};
  for (long round = 0; round < task->rounds; round++) {
    for (size_t i = 0; i + 8 <= task->vectors; i += 8)
      for (int k = 0; k < 8; k++)
        totals[k] += task->buffer[i + (size_t)k];
    uses(task->buffer);
  }
  for (int k = 0; k < 8; k++)
    uses(&totals[k]);
}

WHOLE_VECTORS static void copy_half(const work *task) {
  size_t half = task->vectors / 2;
  for (long round = 0; round < task->rounds; round++) {
    for (size_t i = 0; i < half; i++)
      task->buffer[half + i] = task->buffer[i];
    uses(task->buffer);
  }
}

static void *run(void *given) {
  work *task = given;
  pthread_barrier_wait(task->start);
  task->begin = now();
  (task->kind == FMA ? multiply_add : task->kind == READ ? read_all : copy_half)(task);
  task->end = now();
  return NULL;
}

/* Seconds from the first thread's begin to the last one's end. */
static double together(work *tasks, int threads) {
  pthread_t ids[MOST_THREADS];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    tasks[i].start = &start;
    if (pthread_create(&ids[i], NULL, run, &tasks[i])) {
      perror("limits: pthread_create");
      exit(1);
    }
  }
  double begin = 1e300, end = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(ids[i], NULL);
    begin = tasks[i].begin < begin ? tasks[i].begin : begin;
    end = tasks[i].end > end ? tasks[i].end : end;
  }
  pthread_barrier_destroy(&start);
  return end - begin;
}

static double shortest(work *tasks, int threads) {
  double least = together(tasks, threads);
  for (int i = 0; i < 4; i++) {
    double seconds = together(tasks, threads);
    least = seconds < least ? seconds : least;
  }
  return least;
}

static size_t at_most(size_t a, size_t b) { return a < b ? a : b; }

/* Units per second; a round of one thread has `units`. */
static double rate(what kind, size_t bytes, double units, int threads) {
  work tasks[MOST_THREADS] = {0};
  vector *buffers[MOST_THREADS] = {0};
  size_t window = at_most(bytes, kWindow), windows = bytes ? bytes / window : 1;
  for (int i = 0; i < threads; i++) {
    if (bytes && !(buffers[i] = aligned_alloc(4096, bytes))) {
      fprintf(stderr, "limits: no memory for a buffer of %zu bytes\n", bytes);
      exit(1);
    }
    if (bytes)
      memset(buffers[i], 0, bytes);
    tasks[i] = (work){.kind = kind, .buffer = buffers[i], .vectors = window / VECTOR_BYTES, .rounds = 1};
  }
  while (windows == 1 && shortest(tasks, threads) < kTrySeconds)
    for (int i = 0; i < threads; i++)
      tasks[i].rounds *= 2;
  double best = 0;
  for (int try = 0; try < TRIES; try++) {
    for (int i = 0; i < threads && bytes; i++)
      tasks[i].buffer = buffers[i] + (size_t)try % windows * (window / VECTOR_BYTES);
    double reached = units * (double)tasks[0].rounds * threads / together(tasks, threads);
    best = reached > best ? reached : best;
  }
  for (int i = 0; i < threads; i++)
    free(buffers[i]);
  return best;
}

/* The size that sysconf has for a cache, or a usual one where it does not know.
 */
static size_t cache(int name, size_t usual) {
  long size = sysconf(name);
  return size > 0 ? (size_t)size : usual;
}

int main(int argc, char **argv) {
  size_t second = cache(_SC_LEVEL2_CACHE_SIZE, 1 << 20), last = cache(_SC_LEVEL3_CACHE_SIZE, 16 << 20);
  for (int i = 1; i < argc; i++) {
    int threads = atoi(argv[i]);
    if (threads < 1 || threads > MOST_THREADS) {
      fprintf(stderr, "limits: %s: wanted 1 to %d threads\n", argv[i], MOST_THREADS);
      return 2;
    }
    printf("{\"threads\": %d, \"gflops\": %.1f, \"levels\": [", threads,
           rate(FMA, 0, 2.0 * LANES * CHAINS, threads) * 1e-9);
    /* Half of a cache, since others are in it too; the threads share the last
       one. Past the last: twice it, up to 1 GiB, which is past the share of a
       large one that a virtual machine gets. */
    struct {
      const char *name;
      size_t holds, bytes;
    } levels[] = {
        {"L2", second, second / 2},
        {"L3", last, at_most(last / 2 / (size_t)threads, 8 * second)},
        {"DRAM", 0, at_most(2 * last, (size_t)1 << 30) / (size_t)threads},
    };
    for (int level = 0; level < 3; level++) {
      size_t bytes = levels[level].bytes & ~(size_t)4095;
      double moved = (double)at_most(bytes, kWindow);
      printf("%s{\"name\": \"%s\", \"holds\": %zu, \"read\": %.1f, \"copy\": "
             "%.1f}",
             level ? ", " : "", levels[level].name, levels[level].holds, rate(READ, bytes, moved, threads) * 1e-9,
             rate(COPY, bytes, moved, threads) * 1e-9);
    }
    printf("]}\n");
    fflush(stdout);
  }
  return 0;
}
