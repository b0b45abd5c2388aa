/*===- outputs.c - Results to files ---------------------------------------===
 *
 * Whoever looks into the folder of outputs should not find half a file, or a new output_0 beside an old output_1,
 * because the disk was full in between. So all outputs are written to a folder within that folder, which makes them
 * files of one file system, and are renamed only when every one is whole.
 * A sequence is a folder of 0.npy, 1.npy … whose length is told by which files there are. So what an earlier run left
 * of a longer one is removed.
 *
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "../sequence.h"
#include "cli.h"
#include "kiln/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

typedef struct folder_paths {
  const char *final, *made; /* where the outputs are to lie, and the folder in it where they are made */
  char *from, *to;          /* room for a path in each */
  size_t room;
} folder_paths;

/* A file of an output: of a sequence one of several, in a folder of its own. */
typedef struct output_files {
  const kiln_tensor *tensors;
  int64_t count;
  int32_t output;
  bool is_folder;
} output_files;

static output_files files_of(const kiln_model *model, const kiln_tensor *outputs, int32_t index) {
  output_files files = {&outputs[index], 1, index, kiln_is_sequence(&model->outputs[index])};
  if (!model->outputs[index].element)
    return files;
  kiln_sequence sequence = *(const kiln_sequence *)outputs[index].data;
  files.tensors = sequence ? sequence->tensors : NULL;
  files.count = sequence ? sequence->count : 0;
  return files;
}

static void name_in(char *path, size_t room, const char *folder, const output_files *files, int64_t index) {
  if (files->is_folder)
    snprintf(path, room, "%s/output_%" PRId32 "/%" PRId64 ".npy", folder, files->output, index);
  else
    snprintf(path, room, "%s/output_%" PRId32 ".npy", folder, files->output);
}

static void name_file(folder_paths *paths, const output_files *files, int64_t index) {
  name_in(paths->from, paths->room, paths->made, files, index);
  name_in(paths->to, paths->room, paths->final, files, index);
}

static void name_folder(folder_paths *paths, const output_files *files) {
  snprintf(paths->from, paths->room, "%s/output_%" PRId32, paths->made, files->output);
  snprintf(paths->to, paths->room, "%s/output_%" PRId32, paths->final, files->output);
}

static kiln_status cannot_write(const folder_paths *paths, const char *reason, kiln_text *cause) {
  kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", paths->to, reason);
  return KILN_IO_ERROR;
}

static kiln_status make_files(folder_paths *paths, const output_files *files, kiln_text *cause) {
  char error[KILN_TEXT_BYTES];
  name_folder(paths, files);
  if (files->is_folder && mkdir(paths->from, 0777) != 0)
    return cannot_write(paths, strerror(errno), cause);
  for (int64_t i = 0; i < files->count; i++) {
    struct stat there;
    name_file(paths, files, i);
    if (lstat(paths->to, &there) == 0 && S_ISDIR(there.st_mode))
      return cannot_write(paths, strerror(EISDIR), cause);
    kiln_status status = kiln_npy_write(paths->from, &files->tensors[i], error, sizeof error);
    if (status) {
      cannot_write(paths, error, cause);
      return status;
    }
  }
  return KILN_OK;
}

/* Opens the folder of a sequence; -1: there is none. Whoever may write to the folder around it could have put a link
 * there, which is replaced and not followed: what is renamed and removed in here is elsewhere somebody's. */
static int open_folder(const char *path, bool make) {
  struct stat there;
  if (lstat(path, &there) == 0 && S_ISLNK(there.st_mode) && unlink(path) != 0)
    return -1;
  if (make && mkdir(path, 0777) != 0 && errno != EEXIST)
    return -1;
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Gives the files their names in `folder`, or where it is AT_FDCWD in the outputs' own. */
static kiln_status name_files_in(int folder, folder_paths *paths, const output_files *files, bool is_absent,
                                 kiln_text *cause) {
  const char *name = paths->to; /* of each file in turn */
  for (int64_t i = 0; i < files->count; i++) {
    name_file(paths, files, i);
    name = files->is_folder ? strrchr(paths->to, '/') + 1 : paths->to;
    if (renameat(AT_FDCWD, paths->from, folder, name) != 0)
      return cannot_write(paths, strerror(errno), cause);
  }
  bool is_there = files->is_folder || is_absent;
  for (int64_t i = files->count; is_there; i++) {
    name_file(paths, files, i);
    name = files->is_folder ? strrchr(paths->to, '/') + 1 : paths->to;
    is_there = unlinkat(folder, name, 0) == 0 && files->is_folder;
  }
  return KILN_OK;
}

/* What an earlier run left of a longer sequence goes, or of what is absent now. */
static kiln_status name_files(folder_paths *paths, const output_files *files, bool is_absent, kiln_text *cause) {
  if (!files->is_folder)
    return name_files_in(AT_FDCWD, paths, files, is_absent, cause);
  name_folder(paths, files);
  int folder = open_folder(paths->to, !is_absent);
  if (folder < 0)
    return is_absent ? KILN_OK : cannot_write(paths, strerror(errno), cause);
  kiln_status status = name_files_in(folder, paths, files, is_absent, cause);
  close(folder);
  if (is_absent) {
    name_folder(paths, files);
    rmdir(paths->to);
  }
  return status;
}

static void remove_made(folder_paths *paths, const output_files *files) {
  for (int64_t i = 0; i < files->count; i++) {
    name_file(paths, files, i);
    unlink(paths->from);
  }
  name_folder(paths, files);
  if (files->is_folder)
    rmdir(paths->from);
}

/* All outputs are whole before the first gets its name. */
static kiln_status write_all(folder_paths *paths, const kiln_model *model, const kiln_tensor *outputs,
                             kiln_text *cause) {
  kiln_status status = KILN_OK;
  for (int32_t i = 0; i < model->output_count && !status; i++) {
    output_files files = files_of(model, outputs, i);
    status = make_files(paths, &files, cause);
  }
  for (int32_t i = 0; i < model->output_count && !status; i++) {
    output_files files = files_of(model, outputs, i);
    status = name_files(paths, &files, !files.tensors, cause);
  }
  for (int32_t i = 0; i < model->output_count; i++) {
    output_files files = files_of(model, outputs, i);
    remove_made(paths, &files);
  }
  return status;
}

kiln_status kiln_cli_write(const kiln_model *model, const char *folder, const kiln_tensor *outputs, kiln_text *cause) {
  size_t room = strlen(folder) + 64;
  char *names = malloc(3 * room);
  if (!names) {
    kiln_text_add(cause, "no memory for the outputs' names");
    return KILN_OUT_OF_MEMORY;
  }
  char *made = names;
  folder_paths paths = {folder, made, names + room, names + 2 * room, room};
  snprintf(made, room, "%s", folder);
  kiln_status status = KILN_IO_ERROR;
  if (!folder[0] || !make_folders(made)) {
    kiln_text_add(cause, "%s: cannot make the folder: %s; give another --output-dir", folder,
                  folder[0] ? strerror(errno) : "its name is empty");
  } else {
    snprintf(made, room, "%s/kiln-tmp-XXXXXX", folder);
    if (mkdtemp(made)) {
      status = write_all(&paths, model, outputs, cause);
      rmdir(made);
    } else {
      kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", folder, strerror(errno));
    }
  }
  free(names);
  return status;
}
