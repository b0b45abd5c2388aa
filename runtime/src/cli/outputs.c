/*===- outputs.c - Results to files --------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "cli.h"
#include "kiln/npy.h"

#include <errno.h>
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

static void name_output(folder_paths *paths, int32_t index) {
  snprintf(paths->from, paths->room, "%s/output_%" PRId32 ".npy", paths->made, index);
  snprintf(paths->to, paths->room, "%s/output_%" PRId32 ".npy", paths->final, index);
}

/* All outputs are whole before the first gets its name. */
static kiln_status write_all(folder_paths *paths, const kiln_tensor *outputs, int32_t count, kiln_text *cause) {
  kiln_status status = KILN_OK;
  char error[KILN_TEXT_BYTES];
  for (int32_t i = 0; i < count && !status; i++) {
    struct stat there;
    name_output(paths, i);
    if (lstat(paths->to, &there) == 0 && S_ISDIR(there.st_mode)) {
      kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", paths->to, strerror(EISDIR));
      status = KILN_IO_ERROR;
    } else if ((status = kiln_npy_write(paths->from, &outputs[i], error, sizeof error)))
      kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", paths->to, error);
  }
  for (int32_t i = 0; i < count && !status; i++) {
    name_output(paths, i);
    if (rename(paths->from, paths->to) != 0) {
      kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", paths->to, strerror(errno));
      status = KILN_IO_ERROR;
    }
  }
  for (int32_t i = 0; i < count && status; i++) {
    name_output(paths, i);
    unlink(paths->from);
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
      status = write_all(&paths, outputs, model->output_count, cause);
      rmdir(made);
    } else {
      kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", folder, strerror(errno));
    }
  }
  free(names);
  return status;
}
