/*===- glibc.c - Programs for glibcs that are older than the one at hand --===
 *
 * A program asks of glibc the newest version of each function that the glibc it is linked with has. Linked on a system
 * of today, it would ask for GLIBC_2.34 and not start on the systems of before 2021, though it uses nothing that is
 * new: in 2.29 some functions of libm ceased to set errno, in 2.33 stat became a function, in 2.34 libpthread and libdl
 * became part of libc. The old versions are still there.
 *
 * So `kiln compile` links a program with --wrap=NAME for each __wrap_NAME below: a call of NAME comes here, and goes on
 * to the oldest version. This is only for programs that are linked dynamically; an archive has no versions.
 *
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "glibc.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#ifndef KILN_GLIBC
typedef int kiln_no_old_glibc; /* nothing is wrapped */
#else

/* glibc 2.32 and 2.34 */
KILN_OLD(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old)) {
  return kiln_old_pthread_sigmask(how, set, old);
}
KILN_OLD(int, pthread_create,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)) {
  return kiln_old_pthread_create(thread, attributes, run, argument);
}
KILN_OLD(int, pthread_join, (pthread_t thread, void **result)) { return kiln_old_pthread_join(thread, result); }
KILN_OLD(int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t bytes)) {
  return kiln_old_pthread_attr_setstacksize(attributes, bytes);
}
KILN_OLD(void *, dlopen, (const char *path, int flags)) { return kiln_old_dlopen(path, flags); }
KILN_OLD(void *, dlsym, (void *library, const char *name)) { return kiln_old_dlsym(library, name); }
KILN_OLD(int, dlclose, (void *library)) { return kiln_old_dlclose(library); }

/* glibc 2.33 */
#define OLD_STAT(NAME, OLDER, WHAT)                                                                                    \
  __asm__(".symver kiln_old_" #NAME "," #OLDER "@" KILN_GLIBC);                                                        \
  int kiln_old_##NAME(int version, WHAT, struct stat *found);                                                          \
  int __wrap_##NAME(WHAT, struct stat *found);                                                                         \
  int __wrap_##NAME(WHAT, struct stat *found) { return kiln_old_##NAME(KILN_STAT_VERSION, file, found); }
OLD_STAT(stat, __xstat, const char *file)
OLD_STAT(lstat, __lxstat, const char *file)
OLD_STAT(fstat, __fxstat, int file)

/* glibc 2.34: before, the system's start file passed the constructors; a start file that passes none is newer. */
typedef void (*constructor)(int, char **, char **);
extern constructor __init_array_start[] __attribute__((weak, visibility("hidden"))); /* a library lacks them */
extern constructor __init_array_end[] __attribute__((weak, visibility("hidden")));

static void construct(int argc, char **argv, char **environment) {
  for (constructor *each = __init_array_start; each != __init_array_end; ++each)
    (*each)(argc, argv, environment);
}

KILN_OLD(int, __libc_start_main,
         (int (*program)(int, char **, char **), int argc, char **argv, constructor before, void (*after)(void),
          void (*loader)(void), void *stack)) {
  return kiln_old___libc_start_main(program, argc, argv, before ? before : construct, after, loader, stack);
}
#endif
