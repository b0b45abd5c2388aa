/*===- safetensors.c - Tensors in a mapped file ---------------------------===
 *
 * Weights may be gigabytes, so their file is mapped: nothing is copied, and pages come in as kernels touch them. The
 * price is that the file's own numbers become pointers. So its lengths and the range of each tensor are compared with
 * the size of the file before anyone gets an address, and at the end all ranges with each other, which have neither
 * overlaps nor holes. The visitor, who knows which tensor was wanted, checks whether the range has as many bytes as the
 * shape needs.
 * A name can be as long as the header, so there is one block of that size for all names in turn.
 *
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "safetensors.h"

#include "alloc.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool kiln_safetensors_dtype(const char *name, kiln_dtype *dtype) {
  static const char *const names[] = {"BOOL", "I8",  "U8",  "I16",  "U16", "I32", "U32",
                                      "I64",  "U64", "F16", "BF16", "F32", "F64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) {
      *dtype = (kiln_dtype)i;
      return true;
    }
  return false;
}

kiln_status kiln_safetensors_over(const void *bytes, size_t count, kiln_safetensors *file, kiln_text *cause) {
  uint64_t header_bytes = 0;
  if (count >= 8)
    memcpy(&header_bytes, bytes, 8);
  if (count < 8 || header_bytes < 2 || header_bytes > count - 8) {
    kiln_text_add(cause, "is not a safetensors file, or is cut off; name another, or copy it again");
    return KILN_IO_ERROR;
  }
  *file = (kiln_safetensors){NULL, 0, (const char *)bytes + 8, (size_t)header_bytes, NULL, 0, NULL};
  file->data = file->header + header_bytes;
  file->data_bytes = count - 8 - (size_t)header_bytes;
  return KILN_OK;
}

kiln_status kiln_safetensors_open(const char *path, const kiln_allocator *memory, kiln_safetensors *file,
                                  kiln_text *cause) {
  *file = (kiln_safetensors){0};
  kiln_text_add(cause, "%s: ", path);
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait for its writer */
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    kiln_text_add(cause, "cannot be read: %s; name the file of weights", strerror(errno));
    if (descriptor >= 0)
      close(descriptor);
    return KILN_IO_ERROR;
  }
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
    kiln_text_add(cause, "%s; name the file of weights",
                  S_ISREG(status.st_mode) ? "is empty" : "is not a regular file");
    close(descriptor);
    return KILN_IO_ERROR;
  }
  size_t count = (size_t)status.st_size;
  void *map = mmap(NULL, count, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int error = errno;
  close(descriptor);
  if (map == MAP_FAILED) {
    kiln_text_add(cause, "cannot be mapped: %s", strerror(error));
    return KILN_IO_ERROR;
  }
  kiln_status result = kiln_safetensors_over(map, count, file, cause);
  if (result) {
    munmap(map, count);
    return result;
  }
  file->map = map;
  file->map_bytes = count;
  file->memory = memory;
  return KILN_OK;
}

void kiln_safetensors_close(kiln_safetensors *file) {
  if (file->map)
    munmap(file->map, file->map_bytes);
  *file = (kiln_safetensors){0};
}

/* [1, 2, 3], of at most `most` numbers. */
static bool integers(kiln_json *json, int64_t *values, int32_t most, int32_t *count) {
  *count = 0;
  if (!kiln_json_take(json, '['))
    return false;
  if (kiln_json_take(json, ']'))
    return true;
  do {
    if (*count == most || !kiln_json_integer(json, &values[(*count)++]))
      return false;
  } while (kiln_json_take(json, ','));
  return kiln_json_take(json, ']');
}

/* The object that describes one tensor. */
static bool parse_entry(const kiln_safetensors *file, kiln_json *json, kiln_safetensors_entry *entry) {
  int64_t range[2];
  int32_t range_count = 0;
  bool has_dtype = false, has_shape = false;
  if (!kiln_json_take(json, '{'))
    return false;
  do {
    char key[16];
    if (!kiln_json_string(json, key, sizeof key) || !kiln_json_take(json, ':'))
      return false;
    bool good;
    if (strcmp(key, "dtype") == 0)
      good = has_dtype = kiln_json_string(json, entry->dtype, sizeof entry->dtype);
    else if (strcmp(key, "shape") == 0)
      good = has_shape = integers(json, entry->dims, KILN_MAX_RANK, &entry->rank);
    else if (strcmp(key, "data_offsets") == 0)
      good = integers(json, range, 2, &range_count);
    else
      good = kiln_json_skip(json);
    if (!good)
      return false;
  } while (kiln_json_take(json, ','));
  if (!kiln_json_take(json, '}') || !has_dtype || !has_shape || range_count != 2 || range[0] > range[1] ||
      (uint64_t)range[1] > file->data_bytes)
    return false;
  entry->data = file->data + range[0];
  entry->bytes = range[1] - range[0];
  return true;
}

/* Where a tensor lies, and where in the header its name does. */
typedef struct range {
  int64_t begin, end;
  const char *name;
} range;

enum { LEAST_ENTRY = 40 }; /* characters that the header has for each tensor, and more */

static int compare_ranges(const void *left, const void *right) {
  const range *a = left, *b = right;
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  return a->end != b->end ? (a->end < b->end ? -1 : 1) : 0;
}

/* Whether the tensors follow one another from the first byte to the last. `name` has room for the longest. */
static kiln_status check_ranges(const kiln_safetensors *file, range *ranges, size_t count, char *name,
                                kiln_text *cause) {
  int64_t end = 0;
  qsort(ranges, count, sizeof *ranges, compare_ranges);
  for (size_t i = 0; i < count; i++) {
    if (ranges[i].begin != end) {
      kiln_json json = {ranges[i].name, file->header + file->header_bytes};
      kiln_json_string(&json, name, file->header_bytes);
      kiln_text_add(cause,
                    "tensor '%.64s' begins at byte %" PRId64 ", and those before it end at byte %" PRId64
                    "; write the file again",
                    name, ranges[i].begin, end);
      return KILN_IO_ERROR;
    }
    end = ranges[i].end;
  }
  if ((uint64_t)end == file->data_bytes)
    return KILN_OK;
  kiln_text_add(cause, "the tensors end at byte %" PRId64 " of %zu; write the file again", end, file->data_bytes);
  return KILN_IO_ERROR;
}

kiln_status kiln_safetensors_each(const kiln_safetensors *file,
                                  kiln_status (*visit)(void *user, const kiln_safetensors_entry *entry), void *user,
                                  kiln_text *cause) {
  kiln_json json = {file->header, file->header + file->header_bytes};
  char *name = kiln_allocate(file->memory, (int64_t)file->header_bytes, 1);
  range *ranges =
      kiln_allocate(file->memory, (int64_t)((file->header_bytes / LEAST_ENTRY + 1) * sizeof *ranges), sizeof(int64_t));
  size_t count = 0;
  kiln_status status = KILN_OK;
  bool good = name && ranges && kiln_json_take(&json, '{');
  bool more = good && kiln_json_peek(&json) != '}';
  const char *last = "";
  while (more && !status) {
    kiln_safetensors_entry entry = {.name = name};
    ranges[count].name = json.at;
    good = kiln_json_string(&json, name, file->header_bytes) && kiln_json_take(&json, ':');
    if (good && strcmp(last = name, "__metadata__") == 0)
      good = kiln_json_skip(&json);
    else if (good && (good = parse_entry(file, &json, &entry))) {
      ranges[count].begin = entry.data - file->data;
      ranges[count++].end = entry.data - file->data + entry.bytes;
      status = visit(user, &entry);
    }
    more = good && kiln_json_take(&json, ',');
  }
  if (!name || !ranges) {
    kiln_text_add(cause, "no memory for a header of %zu bytes", file->header_bytes);
    status = KILN_OUT_OF_MEMORY;
  } else if (!status && (!good || !kiln_json_take(&json, '}') || kiln_json_peek(&json) != 0)) {
    kiln_text_add(cause, "the header is corrupt after %td bytes%s%.64s%s; copy the file again", json.at - file->header,
                  *last ? ", at tensor '" : "", last, *last ? "'" : "");
    status = KILN_IO_ERROR;
  } else if (!status) {
    status = check_ranges(file, ranges, count, name, cause);
  }
  kiln_release(file->memory, ranges);
  kiln_release(file->memory, name);
  return status;
}

/* The value in an object of strings; others are skipped. */
static bool find_string(kiln_json *json, char *name, size_t name_bytes, const char *key, char *value, size_t bytes) {
  if (!kiln_json_take(json, '{'))
    return false;
  do {
    if (!kiln_json_string(json, name, name_bytes) || !kiln_json_take(json, ':'))
      return false;
    if (strcmp(name, key) == 0)
      return kiln_json_peek(json) == '"' && kiln_json_string(json, value, bytes);
    if (!kiln_json_skip(json))
      return false;
  } while (kiln_json_take(json, ','));
  return false;
}

bool kiln_safetensors_metadata(const kiln_safetensors *file, const char *key, char *value, size_t bytes) {
  kiln_json json = {file->header, file->header + file->header_bytes};
  char *name = kiln_allocate(file->memory, (int64_t)file->header_bytes, 1);
  bool found = false;
  bool more = name && kiln_json_take(&json, '{');
  while (more && kiln_json_string(&json, name, file->header_bytes) && kiln_json_take(&json, ':')) {
    if (strcmp(name, "__metadata__") == 0) {
      found = find_string(&json, name, file->header_bytes, key, value, bytes);
      break;
    }
    more = kiln_json_skip(&json) && kiln_json_take(&json, ',');
  }
  kiln_release(file->memory, name);
  return found;
}
