/*===- bytes.c - Any file as bytes ---------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "../alloc.h"
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a regular file begins as .npy files do. */
static bool is_npy(FILE *file) {
  static const char magic[] = "\x93NUMPY";
  char begin[sizeof magic - 1];
  bool found = fread(begin, 1, sizeof begin, file) == sizeof begin && memcmp(begin, magic, sizeof begin) == 0;
  rewind(file);
  return found;
}

bool kiln_takes_bytes(const kiln_port *port, const char *path) {
  struct stat there;
  if (port->dtype != KILN_UINT8 || port->rank != 1 || stat(path, &there) != 0 || !S_ISREG(there.st_mode))
    return false;
  FILE *file = fopen(path, "rb");
  bool takes = file && !is_npy(file);
  if (file)
    fclose(file);
  return takes;
}

kiln_status kiln_read_bytes(const char *path, kiln_tensor *tensor, kiln_text *cause) {
  struct stat there;
  *tensor = (kiln_tensor){.dtype = KILN_UINT8, .rank = 1};
  FILE *file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &there) != 0) {
    kiln_text_add(cause, "cannot be read: %s", strerror(errno));
    if (file)
      fclose(file);
    return KILN_IO_ERROR;
  }
  size_t bytes = (size_t)there.st_size;
  kiln_status status = KILN_OK;
  tensor->dims[0] = (int64_t)bytes;
  tensor->data = kiln_allocate(NULL, (int64_t)bytes, KILN_ALIGNMENT);
  if (!tensor->data) {
    kiln_text_add(cause, "no memory for %zu bytes", bytes);
    status = KILN_OUT_OF_MEMORY;
  } else if (fread(tensor->data, 1, bytes, file) != bytes) {
    kiln_text_add(cause, "cannot be read: it ends before its %zu bytes", bytes);
    status = KILN_IO_ERROR;
  }
  fclose(file);
  if (status) {
    free(tensor->data);
    tensor->data = NULL;
  }
  return status;
}
