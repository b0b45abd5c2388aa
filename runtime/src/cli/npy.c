/*===- npy.c - Tensors in NumPy's file format ----------------------------===*/
/*
 * A file may be large, cut off, a pipe, or made to do harm. So its header is parsed separately (npy_header.c), and
 * memory for data is as large as the file says that it holds, or for a pipe grows as data comes; each failure says what
 * to do. Other byte orders and Fortran's order of elements are turned into ours.
 */
#define _POSIX_C_SOURCE 200809L
#include "kiln/npy.h"

#include "../alloc.h"
#include "../dtype.h"
#include "file.h"
#include "kiln/program.h"
#include "npy_header.h"
#include "npy_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A source of bytes: a file, or memory if `file` is NULL. */
typedef struct source {
  FILE *file;
  const uint8_t *at;
  size_t left; /* in memory; of a regular file, the rest of its bytes; SIZE_MAX if unknown */
  int error;   /* errno of a read that failed; 0 if the file merely ended */
} source;

static size_t read_some(source *from, void *to, size_t count) {
  if (from->file) {
    errno = 0;
    size_t has = fread(to, 1, count, from->file);
    if (has < count)
      from->error = errno;
    return has;
  }
  if (count > from->left)
    count = from->left;
  memcpy(to, from->at, count);
  from->at += count;
  from->left -= count;
  return count;
}

static kiln_status fail(kiln_text *cause, kiln_status status, const char *text) {
  kiln_text_add(cause, "%s", text);
  return status;
}

/* The source has too few bytes. */
static kiln_status fail_short(const source *from, kiln_text *cause, const char *text) {
  if (from->error)
    kiln_text_add(cause, "cannot be read: %s", strerror(from->error));
  else
    kiln_text_add(cause, "%s; save the array again", text);
  return KILN_IO_ERROR;
}

static kiln_status read_header(source *from, kiln_npy_header *header, kiln_text *cause) {
  uint8_t prefix[KILN_NPY_PREFIX_BYTES];
  size_t begin = 10, end = 0, count = read_some(from, prefix, begin);
  if (count == begin && prefix[6] > 1)
    count += read_some(from, prefix + begin, sizeof prefix - begin);
  if (from->error)
    return fail_short(from, cause, "");
  kiln_status status = kiln_npy_locate(prefix, count, &begin, &end, cause);
  if (status)
    return status;
  char *text = malloc(end - begin + 1);
  if (!text)
    return fail(cause, KILN_OUT_OF_MEMORY, "no memory for its header");
  if (read_some(from, text, end - begin) == end - begin)
    status = kiln_npy_parse_header(text, end - begin, header, cause);
  else
    status = fail_short(from, cause, "the file ends within its header");
  free(text);
  if (!status && from->left != SIZE_MAX && from->file)
    from->left = from->left > end ? from->left - end : 0;
  return status;
}

static void *allocate(size_t bytes) { return kiln_allocate(NULL, (int64_t)bytes, KILN_ALIGNMENT); }

/* Reads `wanted` bytes. If the source's length is unknown, room for them is made as they come. */
static kiln_status read_data(source *from, size_t wanted, uint8_t **data, kiln_text *cause) {
  size_t room = from->left == SIZE_MAX && wanted > 65536 ? 65536 : wanted, has = 0;
  if (from->left < wanted) {
    kiln_text_add(cause, "the data end after %zu of %zu bytes; save the array again", from->left, wanted);
    return KILN_IO_ERROR;
  }
  uint8_t *memory = allocate(room);
  while (memory && (has += read_some(from, memory + has, room - has)) == room && room < wanted) {
    room = room > wanted / 2 ? wanted : room * 2;
    uint8_t *grown = allocate(room);
    if (grown)
      memcpy(grown, memory, has);
    free(memory);
    memory = grown;
  }
  if (!memory) {
    kiln_text_add(cause, "no memory for %zu bytes", wanted);
    return KILN_OUT_OF_MEMORY;
  }
  if (has < wanted) {
    free(memory);
    char text[80];
    snprintf(text, sizeof text, "the data end after %zu of %zu bytes", has, wanted);
    return fail_short(from, cause, text);
  }
  *data = memory;
  return KILN_OK;
}

static void swap_bytes(uint8_t *data, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; i++, data += size)
    for (size_t j = 0; j < size / 2; j++) {
      uint8_t saved = data[j];
      data[j] = data[size - 1 - j];
      data[size - 1 - j] = saved;
    }
}

/* From the first axis fastest to the last axis fastest. */
static kiln_status reorder(const kiln_npy_header *header, uint8_t **data, kiln_text *cause) {
  const kiln_tensor *tensor = &header->tensor;
  size_t size = header->element_bytes;
  uint8_t *ordered = allocate((size_t)header->count * size);
  if (!ordered)
    return fail(cause, KILN_OUT_OF_MEMORY, "no memory to bring it from Fortran's order to C's");
  int64_t index[KILN_MAX_RANK] = {0};
  for (int64_t i = 0; i < header->count; i++) {
    int64_t from = 0;
    for (int32_t axis = tensor->rank; axis-- > 0;)
      from = from * tensor->dims[axis] + index[axis];
    memcpy(ordered + (size_t)i * size, *data + (size_t)from * size, size);
    for (int32_t axis = tensor->rank; axis-- > 0 && ++index[axis] == tensor->dims[axis];)
      index[axis] = 0;
  }
  free(*data);
  *data = ordered;
  return KILN_OK;
}

static kiln_status read_tensor(source *from, kiln_tensor *tensor, kiln_text *cause) {
  kiln_npy_header header;
  uint8_t *data = NULL;
  kiln_status status = read_header(from, &header, cause);
  if (status)
    return status;
  size_t bytes = (size_t)header.count * header.element_bytes;
  if ((status = read_data(from, bytes, &data, cause)))
    return status;
  size_t unit = header.text_unit ? (size_t)header.text_unit : header.element_bytes;
  if (header.swapped)
    swap_bytes(data, (int64_t)(bytes / unit), unit);
  if (header.tensor.dtype == KILN_BOOL)
    for (int64_t i = 0; i < header.count; i++)
      data[i] = data[i] != 0;
  if (header.fortran && header.tensor.rank > 1 && (status = reorder(&header, &data, cause))) {
    free(data);
    return status;
  }
  if (header.text_unit) {
    void *strings = kiln_npy_strings(&header, data);
    free(data);
    if (!strings)
      return fail(cause, KILN_OUT_OF_MEMORY, "no memory for its strings");
    data = strings;
  }
  *tensor = header.tensor;
  tensor->data = data;
  return KILN_OK;
}

kiln_status kiln_npy_parse(const void *bytes, size_t count, kiln_tensor *tensor, char *error, size_t error_bytes) {
  kiln_text cause = kiln_text_in(error, error_bytes);
  source from = {NULL, bytes, count, 0};
  *tensor = (kiln_tensor){0};
  return read_tensor(&from, tensor, &cause);
}

kiln_status kiln_npy_read(const char *path, kiln_tensor *tensor, char *error, size_t error_bytes) {
  kiln_text cause = kiln_text_in(error, error_bytes);
  *tensor = (kiln_tensor){0};
  struct stat status = {0};
  FILE *file = fopen(path, "rb");
  if (!file) {
    kiln_text_add(&cause, "cannot be read: %s; name a .npy file", strerror(errno));
    return KILN_IO_ERROR;
  }
  source from = {file, NULL, SIZE_MAX, 0};
  if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode))
    from.left = (size_t)status.st_size;
  kiln_status result = S_ISDIR(status.st_mode) ? fail(&cause, KILN_IO_ERROR, "is a folder; name a .npy file")
                                               : read_tensor(&from, tensor, &cause);
  fclose(file);
  return result;
}

bool kiln_npy_put(FILE *file, const void *user) {
  const kiln_tensor *tensor = user;
  char header[512];
  int64_t count = kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  size_t bytes = (size_t)count * kiln_dtype_size(tensor->dtype);
  size_t width = tensor->dtype == KILN_STRING ? kiln_npy_text_width(tensor->data, count) : 0;
  size_t length = kiln_npy_format_header(tensor, width, header, sizeof header);
  if (fwrite(header, 1, length, file) != length)
    return false;
  if (tensor->dtype == KILN_STRING)
    return kiln_npy_write_strings(file, tensor->data, count, width);
  return bytes == 0 || fwrite(tensor->data, 1, bytes, file) == bytes;
}

kiln_status kiln_npy_write(const char *path, const kiln_tensor *tensor, char *error, size_t error_bytes) {
  kiln_text cause = kiln_text_in(error, error_bytes);
  return kiln_file_write(path, kiln_npy_put, tensor, &cause);
}
