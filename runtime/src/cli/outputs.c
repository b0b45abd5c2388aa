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

kiln_status kiln_cli_write(const kiln_model *model, const char *folder, const kiln_tensor *outputs, kiln_text *cause) {
  size_t room = strlen(folder) + 32;
  char *path = malloc(room);
  if (!path) {
    kiln_text_add(cause, "no memory for the outputs' names");
    return KILN_OUT_OF_MEMORY;
  }
  snprintf(path, room, "%s", folder);
  kiln_status status = KILN_OK;
  if (!folder[0] || !make_folders(path)) {
    kiln_text_add(cause, "%s: cannot make the folder: %s; give another --output-dir", folder,
                  folder[0] ? strerror(errno) : "its name is empty");
    status = KILN_IO_ERROR;
  }
  for (int32_t i = 0; i < model->output_count && !status; i++) {
    char error[KILN_TEXT_BYTES];
    snprintf(path, room, "%s/output_%" PRId32 ".npy", folder, i);
    if ((status = kiln_npy_write(path, &outputs[i], error, sizeof error)))
      kiln_text_add(cause, "%s: cannot be written: %s; give another --output-dir", path, error);
  }
  free(path);
  return status;
}
