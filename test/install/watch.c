/*===- watch.c - End a program that opens what it must not ------------------===
 *
 * Loaded before libc: a file below one of the folders in KILN_FORBIDDEN, which colons part, ends the process with
 * status 99 when it is opened. Programs that it runs inherit it.
 *
 *===------------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void look(const char *path) {
  const char *folders = getenv("KILN_FORBIDDEN");
  while (folders && *folders) {
    size_t length = strcspn(folders, ":");
    if (strncmp(path, folders, length) == 0 && (path[length] == '/' || !path[length])) {
      dprintf(2, "forbidden: %s\n", path);
      _exit(99);
    }
    folders += length + (folders[length] == ':');
  }
}

#define WATCH_OPEN(NAME)                                                                                               \
  int NAME(const char *path, int flags, ...) {                                                                         \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;                                                           \
    va_end(arguments);                                                                                                 \
    look(path);                                                                                                        \
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #NAME);                    \
    return next(path, flags, mode);                                                                                    \
  }
WATCH_OPEN(open)
WATCH_OPEN(open64)

#define WATCH_FOPEN(NAME)                                                                                              \
  FILE *NAME(const char *path, const char *mode) {                                                                     \
    look(path);                                                                                                        \
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #NAME);      \
    return next(path, mode);                                                                                           \
  }
WATCH_FOPEN(fopen)
WATCH_FOPEN(fopen64)
