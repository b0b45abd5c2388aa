/*===- file.c - Files that appear whole or not at all ---------------------===
 *
 * If a file is made under another name and renamed when it is whole, a signal in between leaves it there. Linux makes
 * files that have no name at all and end with the process that has them open. linkat gives them one, but never a taken
 * one: then they get another first and are renamed, and signals wait until that is done. Not all file systems can do
 * so, and each such file takes a descriptor, so the old way exists as well.
 *
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE /* O_TMPFILE */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 8, ATTEMPTS = 100, LINK_BYTES = 32 };

/* Puts digits that nobody guesses at the end of `name`. */
static void name_anew(char *name, unsigned attempt) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t seed = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)name ^ (uint64_t)getpid();
  seed = (seed + attempt) * UINT64_C(0x9e3779b97f4a7c15);
  snprintf(name + strlen(name) - DIGITS, DIGITS + 1, "%08" PRIx32, (uint32_t)(seed >> 32));
}

/* A link that somebody put at the name is not followed. */
static int create_named(char *name) {
  static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
    name_anew(name, attempt);
    int file = open(name, flags, 0666);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

/* An open file's name in /proc, through which it is given a name. */
static void link_of(int file, char link[LINK_BYTES]) { snprintf(link, LINK_BYTES, "/proc/self/fd/%d", file); }

/* -1: it takes a name. Files without one stay open until they get theirs: half of the descriptors are for others. */
static int create_nameless(const char *folder) {
#ifdef O_TMPFILE
  int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return -1;
  char link[LINK_BYTES];
  struct rlimit open_files;
  link_of(file, link);
  if (getrlimit(RLIMIT_NOFILE, &open_files) == 0 && (rlim_t)file < open_files.rlim_cur / 2 && access(link, F_OK) == 0)
    return file;
  close(file);
#else
  (void)folder;
#endif
  return -1;
}

kiln_status kiln_file_stage(const char *folder, kiln_writer *write, const void *user, kiln_staged *staged,
                            kiln_text *cause) {
  size_t room = strlen(folder) + sizeof "/kiln-tmp-" + DIGITS;
  *staged = (kiln_staged){NULL, malloc(room)};
  if (!staged->name) {
    kiln_text_add(cause, "no memory for its name");
    return KILN_OUT_OF_MEMORY;
  }
  snprintf(staged->name, room, "%s/kiln-tmp-%0*d", folder, DIGITS, 0);
  int descriptor = create_nameless(folder);
  bool is_nameless = descriptor >= 0;
  if (!is_nameless)
    descriptor = create_named(staged->name);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  /* Written to the disk before it has its name: after a loss of power there is the old file or the new one. */
  bool good = file && write(file, user) && fflush(file) == 0 && fsync(descriptor) == 0;
  int error_number = errno;
  if (good && is_nameless) {
    staged->file = file;
    return KILN_OK;
  }
  if (file ? fclose(file) != 0 && good : descriptor >= 0 && close(descriptor) != 0) {
    good = false;
    error_number = errno;
  }
  if (good)
    return KILN_OK;
  if (descriptor >= 0 && !is_nameless)
    unlink(staged->name);
  free(staged->name);
  staged->name = NULL;
  kiln_text_add(cause, "%s", strerror(error_number));
  return KILN_IO_ERROR;
}

/* Whether the nameless file has one of its folder's temporary names. */
static bool give_name(kiln_staged *staged, const char *link) {
  for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
    name_anew(staged->name, attempt);
    if (linkat(AT_FDCWD, link, AT_FDCWD, staged->name, AT_SYMLINK_FOLLOW) == 0)
      return true;
    if (errno != EEXIST)
      return false;
  }
  return false;
}

static bool take_place(kiln_staged *staged, int at, const char *path) {
  if (staged->file) {
    char link[LINK_BYTES];
    link_of(fileno(staged->file), link);
    bool is_placed = linkat(AT_FDCWD, link, at, path, AT_SYMLINK_FOLLOW) == 0;
    /* A link never replaces a file, but a rename does: the file has a name from here to the next line. */
    if (!is_placed && (errno != EEXIST || !give_name(staged, link)))
      return false;
    fclose(staged->file);
    staged->file = NULL;
    if (is_placed) {
      free(staged->name);
      staged->name = NULL;
      return true;
    }
  }
  if (renameat(AT_FDCWD, staged->name, at, path) != 0)
    return false;
  free(staged->name);
  staged->name = NULL;
  return true;
}

bool kiln_file_place(kiln_staged *staged, int at, const char *path) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  bool is_placed = take_place(staged, at, path);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return is_placed;
}

void kiln_file_drop(kiln_staged *staged) {
  if (staged->file)
    fclose(staged->file);
  else if (staged->name)
    unlink(staged->name);
  free(staged->name);
  *staged = (kiln_staged){0};
}

/* Makes a path that of the folder around it. It has room for at least a character more than the path has. */
static void leave(char *path) {
  char *slash = strrchr(path, '/');
  if (slash)
    slash[slash == path] = 0;
  else
    memcpy(path, ".", 2);
}

/* A file in the folder of `path`, or in `path` or the nearest folder around it that exists. */
static kiln_status stage_at(const char *path, bool is_folder, kiln_writer *write, const void *user, kiln_staged *staged,
                            kiln_text *cause) {
  size_t bytes = strlen(path) + 1;
  char *folder = malloc(bytes + 1);
  if (!folder) {
    kiln_text_add(cause, "no memory for its name");
    return KILN_OUT_OF_MEMORY;
  }
  memcpy(folder, path, bytes);
  if (!is_folder)
    leave(folder);
  while (is_folder && access(folder, F_OK) != 0 && folder[strspn(folder, "/.")])
    leave(folder);
  kiln_status status = kiln_file_stage(folder, write, user, staged, cause);
  free(folder);
  return status;
}

static bool write_nothing(FILE *file, const void *user) {
  (void)user;
  return file;
}

kiln_status kiln_file_try(const char *path, bool is_folder, kiln_text *cause) {
  struct stat there;
  if (!path[0] || (!is_folder && stat(path, &there) == 0 && !S_ISREG(there.st_mode))) {
    kiln_text_add(cause, path[0] ? "it is not a regular file" : "its name is empty");
    return KILN_IO_ERROR;
  }
  kiln_staged staged;
  kiln_status status = stage_at(path, is_folder, write_nothing, NULL, &staged, cause);
  if (!status)
    kiln_file_drop(&staged);
  return status;
}

kiln_status kiln_file_write(const char *path, kiln_writer *write, const void *user, kiln_text *cause) {
  kiln_staged staged;
  kiln_status status = stage_at(path, /*is_folder=*/false, write, user, &staged, cause);
  if (status)
    return status;
  if (!kiln_file_place(&staged, AT_FDCWD, path)) {
    kiln_text_add(cause, "%s", strerror(errno));
    status = KILN_IO_ERROR;
  }
  kiln_file_drop(&staged);
  return status;
}
