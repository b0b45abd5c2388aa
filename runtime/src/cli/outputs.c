/*===- outputs.c - Results to files ---------------------------------------===
 *
 * The folder of outputs should never show half a file, a new output_0 next to an old output_1 because the
 * disk was full in between, or a file of an odd name because a signal ended the program. So all outputs are
 * written to files of that folder that have no name, if the file system has such (file.h), and get their
 * names only when every one is whole; during these few system calls signals wait. A sequence is a folder of
 * 0.npy, 1.npy … and its files tell its length. So the files that an earlier run left of a longer one are
 * removed.
 *
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "../sequence.h"
#include "cli.h"
#include "file.h"
#include "npy_header.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a folder and those above it. `path` is changed and changed back. */
static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made)
      return false;
  }
  struct stat status;
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return false;
  if (stat(path, &status) != 0)
    return false;
  errno = ENOTDIR;
  return S_ISDIR(status.st_mode);
}

/* The outputs' folder, and room for the path of one. */
typedef struct output_paths {
  const char *folder;
  char *path;
  size_t room;
} output_paths;

enum { STEM_BYTES = 128 };

/* A file of an output: for a sequence one of several, in a folder of its own. */
typedef struct output_files {
  const kiln_tensor *tensors;
  int64_t count;
  bool is_folder;
  char stem[STEM_BYTES]; /* its name without ".npy" */
} output_files;

/* An output's name as that of a file: letters, digits, '-', '_', and '.' except at the front; others become '_'. A long
 * name is cut. The caller makes sure that no two are equal. */
static void safe_name(const char *name, char stem[STEM_BYTES]) {
  size_t length = 0;
  for (; name[length] && length < STEM_BYTES - 24; length++) {
    char c = name[length];
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    stem[length] = is_plain || (c == '.' && length > 0) ? c : '_';
  }
  memcpy(stem + length, length ? "" : "_", length ? 1 : 2);
}

static bool is_taken(const char *stem, char (*stems)[STEM_BYTES], int32_t count) {
  for (int32_t i = 0; i < count; i++)
    if (strcmp(stems[i], stem) == 0)
      return true;
  return false;
}

/* output_0, output_1 …, and after these the outputs' names if they are wanted, numbered if one is taken already: y,
 * y_2. `stems` has room for twice as many as there are outputs. */
static void name_outputs(const kiln_model *model, bool with_names, char (*stems)[STEM_BYTES]) {
  int32_t count = model->output_count;
  for (int32_t i = 0; i < count; i++)
    snprintf(stems[i], STEM_BYTES, "output_%" PRId32, i);
  for (int32_t i = count; with_names && i < 2 * count; i++) {
    safe_name(model->outputs[i - count].name, stems[i]);
    size_t length = strlen(stems[i]);
    for (int32_t number = 2; is_taken(stems[i], stems, i); number++)
      snprintf(stems[i] + length, STEM_BYTES - length, "_%" PRId32, number);
  }
}

static output_files files_of(const kiln_model *model, const kiln_tensor *outputs, int32_t index, const char *stem) {
  output_files files = {&outputs[index], 1, kiln_is_sequence(&model->outputs[index]), ""};
  snprintf(files.stem, sizeof files.stem, "%s", stem);
  if (!model->outputs[index].element)
    return files;
  kiln_sequence sequence = *(const kiln_sequence *)outputs[index].data;
  files.tensors = sequence ? sequence->tensors : NULL;
  files.count = sequence ? sequence->count : 0;
  return files;
}

static void name_file(output_paths *paths, const output_files *files, int64_t index) {
  if (files->is_folder)
    snprintf(paths->path, paths->room, "%s/%s/%" PRId64 ".npy", paths->folder, files->stem, index);
  else
    snprintf(paths->path, paths->room, "%s/%s.npy", paths->folder, files->stem);
}

static void name_folder(output_paths *paths, const output_files *files) {
  snprintf(paths->path, paths->room, "%s/%s", paths->folder, files->stem);
}

static kiln_status cannot_write(const output_paths *paths, const char *reason, kiln_text *cause) {
  kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", paths->path, reason);
  return KILN_IO_ERROR;
}

/* The files become whole, in `staged`. */
static kiln_status make_files(output_paths *paths, const output_files *files, kiln_staged *staged, kiln_text *cause) {
  char error[KILN_TEXT_BYTES];
  for (int64_t i = 0; i < files->count; i++) {
    struct stat there;
    kiln_text reason = kiln_text_in(error, sizeof error);
    name_file(paths, files, i);
    if (lstat(paths->path, &there) == 0 && S_ISDIR(there.st_mode))
      return cannot_write(paths, strerror(EISDIR), cause);
    kiln_status status = kiln_file_stage(paths->folder, kiln_npy_put, &files->tensors[i], &staged[i], &reason);
    if (status) {
      cannot_write(paths, error, cause);
      return status;
    }
  }
  return KILN_OK;
}

/* Opens the folder of a sequence; -1: there is none. Whoever may write to the folder around it could have put a link
 * there, which is replaced and not followed: files renamed and removed through it would be somebody else's. */
static int open_folder(const char *path, bool make) {
  struct stat there;
  if (lstat(path, &there) == 0 && S_ISLNK(there.st_mode) && unlink(path) != 0)
    return -1;
  if (make && mkdir(path, 0777) != 0 && errno != EEXIST)
    return -1;
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Gives the files their names in `folder`, or if it is AT_FDCWD in the outputs' own. */
static kiln_status name_files_in(int folder, output_paths *paths, const output_files *files, kiln_staged *staged,
                                 bool is_absent, kiln_text *cause) {
  const char *name = paths->path; /* of each file in turn */
  for (int64_t i = 0; i < files->count; i++) {
    name_file(paths, files, i);
    name = files->is_folder ? strrchr(paths->path, '/') + 1 : paths->path;
    if (!kiln_file_place(&staged[i], folder, name))
      return cannot_write(paths, strerror(errno), cause);
  }
  bool is_there = files->is_folder || is_absent;
  for (int64_t i = files->count; is_there; i++) {
    name_file(paths, files, i);
    name = files->is_folder ? strrchr(paths->path, '/') + 1 : paths->path;
    is_there = unlinkat(folder, name, 0) == 0 && files->is_folder;
  }
  return KILN_OK;
}

/* Removes an earlier run's files of a longer sequence, or of an output that is absent now. */
static kiln_status name_files(output_paths *paths, const output_files *files, kiln_staged *staged, kiln_text *cause) {
  bool is_absent = !files->tensors;
  if (!files->is_folder)
    return name_files_in(AT_FDCWD, paths, files, staged, is_absent, cause);
  name_folder(paths, files);
  int folder = open_folder(paths->path, !is_absent);
  if (folder < 0)
    return is_absent ? KILN_OK : cannot_write(paths, strerror(errno), cause);
  kiln_status status = name_files_in(folder, paths, files, staged, is_absent, cause);
  close(folder);
  if (is_absent) {
    name_folder(paths, files);
    rmdir(paths->path);
  }
  return status;
}

/* All outputs are whole before the first gets its name. `staged` has room for the files of all `count`. */
static kiln_status write_all(output_paths *paths, const output_files *files, int32_t count, kiln_staged *staged,
                             kiln_text *cause) {
  kiln_status status = KILN_OK;
  kiln_staged *next = staged;
  for (int32_t i = 0; i < count && !status; next += files[i++].count)
    status = make_files(paths, &files[i], next, cause);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  next = staged;
  for (int32_t i = 0; i < count && !status; next += files[i++].count)
    status = name_files(paths, &files[i], next, cause);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

kiln_status kiln_cli_write(const kiln_model *model, const kiln_args *args, const kiln_tensor *outputs,
                           kiln_text *cause) {
  const char *folder = args->output_dir;
  int32_t named = model->output_count * (args->output_names ? 2 : 1);
  size_t room = strlen(folder) + STEM_BYTES + 64, count = 0;
  char *path = malloc(room), (*stems)[STEM_BYTES] = calloc((size_t)named + 1, sizeof *stems);
  output_files *files = calloc((size_t)named + 1, sizeof *files);
  kiln_staged *staged = NULL;
  kiln_status status = KILN_IO_ERROR;
  if (stems && files) {
    name_outputs(model, args->output_names, stems);
    for (int32_t i = 0; i < named; i++) {
      files[i] = files_of(model, outputs, i % model->output_count, stems[i]);
      count += (size_t)files[i].count;
    }
    staged = calloc(count + 1, sizeof *staged);
  }
  if (!path || !staged) {
    kiln_text_add(cause, "no memory for the outputs' names");
    status = KILN_OUT_OF_MEMORY;
  } else {
    output_paths paths = {folder, memcpy(path, folder, strlen(folder) + 1), room};
    status = make_folders(path) ? write_all(&paths, files, named, staged, cause)
                                : cannot_write(&paths, strerror(errno), cause);
  }
  for (size_t i = 0; staged && i < count; i++)
    kiln_file_drop(&staged[i]);
  free(staged);
  free(files);
  free(stems);
  free(path);
  return status;
}
