/*===- fail.c - A machine that fails kiln at a chosen moment -----------------===
 *
 * Loaded before libc. KILN_FAIL says what fails: "memory:N" the N-th allocation, "memory:N@STACK" the first of a
 * stack among those about the N-th, "files:N" the N-th call that opens, reads, writes, maps, links or renames a file or
 * brings it to the disk, "kill:N" ends the process as kill -9 does just before its N-th link or rename, "signal:N"
 * sends it SIGTERM there and waits a little, so that it ends there if it does not have signals wait. N+ fails all later
 * ones too.
 * At its end the process appends how many calls of each there were to the
 * file that KILN_FAIL_COUNTS names, and to the one that KILN_FAIL_STACKS names it writes a line for each allocation,
 * which is the same for those that the same chain of calls asks for; where KILN_FAIL says what fails, for those alone
 * that fail. Calls count from the beginning of main, and in the program kiln alone, not in the compilers that it runs.
 *
 *===-------------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char *program_invocation_short_name;
#define NEXT(NAME) ((__typeof__(&NAME))dlsym(RTLD_NEXT, #NAME))

#ifdef KILN_SANITIZED /* the sanitizer's library comes next, and libc's functions after it */
#define MEMORY_OF(LIBC, NAME) NEXT(NAME)
#else
#define MEMORY_OF(LIBC, NAME) LIBC
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
#endif

enum kind { MEMORY, FILES, KILL, SIGNAL, KINDS };
static const char *const names[KINDS] = {"memory", "files", "kill", "signal"};
static _Atomic int64_t calls[KINDS];
static atomic_bool counts;
static int64_t fails_at[KINDS]; /* 0: never */
static bool lasts;
static bool is_failing;      /* KILN_FAIL is given */
static uint64_t fails_stack; /* 0: any */

/* ---- the stack of each allocation ---- */

static int stacks = -1;              /* a file, where somebody wants them */
static _Thread_local bool is_spared; /* nothing fails in this thread now */

/* Who asks for memory: a digest of the return addresses, each as an offset in its library, which is the same in each
 * run wherever the libraries lie. */
static uint64_t stack(void) {
  is_spared = true; /* the unwinder itself asks for memory */
  void *frames[512];
  int count = backtrace(frames, sizeof frames / sizeof *frames);
  uint64_t digest = 14695981039346656037u;
  for (int i = 1; i < count; i++) { /* without this function */
    struct dl_find_object found;
    uint64_t at = (uint64_t)frames[i];
    if (_dl_find_object(frames[i], &found) == 0) {
      at -= (uint64_t)found.dlfo_link_map->l_addr;
      for (const char *name = found.dlfo_link_map->l_name; *name; name++)
        digest = (digest ^ (unsigned char)*name) * 1099511628211u;
    }
    digest = (digest ^ at) * 1099511628211u;
    digest ^= digest >> 29;
  }
  is_spared = false;
  return digest;
}

static void write_stack(uint64_t digest) {
  is_spared = true;
  dprintf(stacks, "%016llx\n", (unsigned long long)digest);
  is_spared = false;
}

/* Whether the allocation `call` is the one that has to fail. Threads, and what is sorted by where it lies, move it a
 * bit from run to run, so that its stack is looked for. Where it is found nowhere, one fails all the same. */
static bool memory_fails(int64_t call) {
  enum { BEFORE = 500, AFTER = 2000 };
  static atomic_bool is_over;
  if (is_failing && (!fails_stack || call < fails_at[MEMORY] - BEFORE || atomic_load(&is_over)))
    return false;
  uint64_t found = stack();
  bool is_it =
      is_failing && (found == fails_stack || call == fails_at[MEMORY] + AFTER) && !atomic_exchange(&is_over, true);
  if (stacks >= 0 && (is_it || !is_failing))
    write_stack(found);
  return is_it;
}

static bool fails(enum kind kind, int error) {
  if (!atomic_load(&counts) || is_spared)
    return false;
  int64_t call = atomic_fetch_add(&calls[kind], 1) + 1;
  bool is_it = fails_at[kind] && (lasts ? call >= fails_at[kind] : call == fails_at[kind]);
  if (kind == MEMORY && (fails_stack || stacks >= 0))
    is_it = memory_fails(call);
  if (!is_it)
    return false;
  errno = error;
  return true;
}

static int (*real_main)(int, char **, char **);

static void write_counts(void) {
  atomic_store(&counts, false);
  const char *path = getenv("KILN_FAIL_COUNTS");
  FILE *file = path ? fopen(path, "a") : NULL;
  for (int kind = 0; file && kind < KINDS; kind++)
    fprintf(file, "%s %lld\n", names[kind], (long long)calls[kind]);
  if (file)
    fclose(file);
}

static int counted_main(int argc, char **argv, char **environment) {
  const char *wanted = getenv("KILN_FAIL");
  if (strcmp(program_invocation_short_name, "kiln") != 0)
    return real_main(argc, argv, environment);
  for (int kind = 0; wanted && kind < KINDS; kind++) {
    size_t length = strlen(names[kind]);
    if (strncmp(wanted, names[kind], length) == 0 && wanted[length] == ':') {
      char *end;
      fails_at[kind] = strtoll(wanted + length + 1, &end, 10);
      lasts = *end == '+';
      fails_stack = *end == '@' ? strtoull(end + 1, NULL, 16) : 0;
      is_failing = true;
    }
  }
  const char *path = getenv("KILN_FAIL_STACKS");
  if (path)
    stacks = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  /* The first time it loads a library, which takes memory: here, so that all else lies where it does in any other run.
   */
  void *frame;
  backtrace(&frame, 1);
  atexit(write_counts);
  atomic_store(&counts, true);
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  real_main = main;
  int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  next = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_start_main");
  return next(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- memory ---- */

void *malloc(size_t bytes) { return fails(MEMORY, ENOMEM) ? NULL : MEMORY_OF(__libc_malloc, malloc)(bytes); }
void *calloc(size_t count, size_t bytes) {
  return fails(MEMORY, ENOMEM) ? NULL : MEMORY_OF(__libc_calloc, calloc)(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  return fails(MEMORY, ENOMEM) ? NULL : MEMORY_OF(__libc_realloc, realloc)(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails(MEMORY, ENOMEM) ? NULL : MEMORY_OF(__libc_memalign, aligned_alloc)(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (fails(MEMORY, ENOMEM))
    return ENOMEM;
#ifdef KILN_SANITIZED
  return NEXT(posix_memalign)(memory, alignment, bytes);
#else
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
#endif
}

#ifdef KILN_SANITIZED
/* AddressSanitizer calls this when a thread begins, and ends the process where it finds no memory. That is not a
 * failure of kiln's. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
  bool was = is_spared;
  is_spared = true;
  int error = NEXT(pthread_getattr_np)(thread, attributes);
  is_spared = was;
  return error;
}

/* C++'s new, by its names in the ABI: a sanitizer has its own, which do not call malloc. */
void (*_ZSt15get_new_handlerv(void))(void);
#define NEW(NAME, PARAMETERS, ...)                                                                                     \
  void *NAME PARAMETERS;                                                                                               \
  void *NAME PARAMETERS {                                                                                              \
    if (fails(MEMORY, ENOMEM))                                                                                         \
      _ZSt15get_new_handlerv()();                                                                                      \
    return NEXT(NAME)(__VA_ARGS__);                                                                                    \
  }
NEW(_Znwm, (size_t bytes), bytes)
NEW(_Znam, (size_t bytes), bytes)
NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), bytes, alignment)
NEW(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), bytes, alignment)
/* What does not throw asks the handler as well, before it would return nothing. */
NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *tag), bytes, tag)
NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *tag), bytes, tag)
#endif

/* ---- files ---- */

#define OPEN(NAME)                                                                                                     \
  int NAME(const char *path, int flags, ...) {                                                                         \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;                                                  \
    int mode = makes ? va_arg(arguments, int) : 0;                                                                     \
    va_end(arguments);                                                                                                 \
    return fails(FILES, EMFILE) ? -1 : NEXT(NAME)(path, flags, mode);                                                  \
  }
OPEN(open)
OPEN(open64)

#define WRAP(RESULT, NAME, PARAMETERS, ERROR, FAILED, ...)                                                             \
  RESULT NAME PARAMETERS { return fails(FILES, ERROR) ? (RESULT)(FAILED) : NEXT(NAME)(__VA_ARGS__); }
WRAP(FILE *, fopen, (const char *path, const char *mode), EMFILE, 0, path, mode)
WRAP(FILE *, fopen64, (const char *path, const char *mode), EMFILE, 0, path, mode)
WRAP(ssize_t, read, (int file, void *to, size_t bytes), EIO, -1, file, to, bytes)
WRAP(ssize_t, pread, (int file, void *to, size_t bytes, off_t at), EIO, -1, file, to, bytes, at)
WRAP(ssize_t, pread64, (int file, void *to, size_t bytes, off64_t at), EIO, -1, file, to, bytes, at)
WRAP(int, fsync, (int file), EIO, -1, file)
WRAP(char *, mkdtemp, (char *name), EROFS, 0, name)
WRAP(int, mkdir, (const char *path, mode_t mode), EROFS, -1, path, mode)
WRAP(int, ftruncate, (int file, off_t bytes), ENOSPC, -1, file, bytes)
WRAP(int, ftruncate64, (int file, off64_t bytes), ENOSPC, -1, file, bytes)

/* What standard output and standard error get, they get: the tests read it. */
ssize_t write(int file, const void *from, size_t bytes) {
  return file > 2 && fails(FILES, ENOSPC) ? -1 : NEXT(write)(file, from, bytes);
}
ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) {
  return fails(FILES, ENOSPC) ? -1 : NEXT(pwrite)(file, from, bytes, at);
}
/* Closes the file even where it fails, as Linux does. */
int close(int file) {
  int result = NEXT(close)(file);
  return file > 2 && fails(FILES, EIO) ? -1 : result;
}
#define MAP(NAME, OFFSET)                                                                                              \
  void *NAME(void *at, size_t bytes, int protection, int flags, int file, OFFSET offset) {                             \
    return file >= 0 && fails(FILES, ENODEV) ? MAP_FAILED : NEXT(NAME)(at, bytes, protection, flags, file, offset);    \
  }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

static bool rename_fails(void) {
  if (fails(KILL, 0))
    raise(SIGKILL);
  if (fails(SIGNAL, 0)) {
    kill(getpid(), SIGTERM);
    usleep(100000);
  }
  return fails(FILES, EXDEV);
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  return rename_fails() ? -1 : NEXT(linkat)(from_folder, from, to_folder, to, flags);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return rename_fails() ? -1 : NEXT(renameat)(from_folder, from, to_folder, to);
}
int rename(const char *from, const char *to) { return rename_fails() ? -1 : NEXT(rename)(from, to); }
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  return rename_fails() ? -1 : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}
