/*===- file.c - Files that appear whole or not at all --------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Makes a file of a name that nobody has, in `name`, whose end has room for it. A link that somebody put at a name that
 * could be guessed is not followed. */
static int create_beside(char *name, size_t room, const char *path) {
  static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)name ^ (uint64_t)getpid();
    seed = (seed + attempt) * UINT64_C(0x9e3779b97f4a7c15);
    snprintf(name, room, "%s.tmp-%08" PRIx32, path, (uint32_t)(seed >> 32));
    int file = open(name, flags, 0666);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

kiln_status kiln_file_write(const char *path, bool (*write)(FILE *file, const void *user), const void *user,
                            kiln_text *cause) {
  size_t room = strlen(path) + 32;
  char *temporary = malloc(room);
  if (!temporary) {
    kiln_text_add(cause, "no memory for its name");
    return KILN_OUT_OF_MEMORY;
  }
  int descriptor = create_beside(temporary, room, path);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  /* On the disk before it has its name: a machine that loses power has the old file or the new one. */
  bool good = file && write(file, user) && fflush(file) == 0 && fsync(descriptor) == 0;
  int error_number = errno;
  if (file ? fclose(file) != 0 && good : descriptor >= 0 && close(descriptor) != 0) {
    good = false;
    error_number = errno;
  }
  if (good && rename(temporary, path) != 0) {
    good = false;
    error_number = errno;
  }
  if (!good && descriptor >= 0)
    unlink(temporary);
  free(temporary);
  if (good)
    return KILN_OK;
  kiln_text_add(cause, "%s", strerror(error_number));
  return KILN_IO_ERROR;
}
