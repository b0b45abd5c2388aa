/*===- safetensors.h - Tensors in a mapped file --------------------------===*/
#ifndef KILN_SRC_SAFETENSORS_H
#define KILN_SRC_SAFETENSORS_H

#include "text.h"

#include <stdbool.h>

/* A mapped file: 8 bytes that hold the header's length, the header in JSON, the tensors' bytes. The map is private and
 * for reading; pages come in as they are touched. */
typedef struct kiln_safetensors {
  void *map;
  size_t map_bytes;
  const char *header;
  size_t header_bytes;
  const char *data;
  size_t data_bytes;
  const kiln_allocator *memory; /* for reading the header; NULL: the C library */
} kiln_safetensors;

/* One tensor. `dtype` is as the file names it ("F32"), and kiln_safetensors_dtype translates it. */
typedef struct kiln_safetensors_entry {
  const char *name;
  char dtype[16];
  int32_t rank;
  int64_t dims[KILN_MAX_RANK];
  const char *data;
  int64_t bytes;
} kiln_safetensors_entry;

/* On failure nothing is mapped and `cause` gets one line that begins with the path. */
kiln_status kiln_safetensors_open(const char *path, const kiln_allocator *memory, kiln_safetensors *file,
                                  kiln_text *cause);
/* The same over bytes that the caller keeps. */
kiln_status kiln_safetensors_over(const void *bytes, size_t count, kiln_safetensors *file, kiln_text *cause);
void kiln_safetensors_close(kiln_safetensors *file);

/* Calls `visit` for every tensor, in the file's order; a status other than KILN_OK ends it. The name is valid during
 * the call, the data while the file is open. A header that is not such a header, or whose
 * tensors overlap or leave bytes out, fails with KILN_IO_ERROR. */
kiln_status kiln_safetensors_each(const kiln_safetensors *file,
                                  kiln_status (*visit)(void *user, const kiln_safetensors_entry *entry), void *user,
                                  kiln_text *cause);

/* The value of `key` in the file's metadata, or false if there is none that fits in `bytes` bytes. */
bool kiln_safetensors_metadata(const kiln_safetensors *file, const char *key, char *value, size_t bytes);

bool kiln_safetensors_dtype(const char *name, kiln_dtype *dtype);

#endif
