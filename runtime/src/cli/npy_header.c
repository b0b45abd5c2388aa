/*===- npy_header.c - The dictionary before the data ----------------------===
 *
 * The text before the data of an .npy file is a literal of Python's:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * NumPy's own reader evaluates it; here a cursor takes just these three keys, in any order, and reads nothing past the
 * end, since a file may come from anywhere. NumPy has no name for bfloat16, float8 and the like: such an array is
 * stored as raw bytes ("V2", "V1"), a code that several dtypes share. A raw byte is read as uint8, and whoever knows
 * the port says which dtype it is.
 *
 *===----------------------------------------------------------------------===*/
#include "npy_header.h"

#include "../dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* The type codes, in the order of kiln_dtype. NumPy knows no bfloat16 and saves it as two raw bytes, and ml_dtypes'
 * dtypes of 8 bits and less as one. */
static const char codes[KILN_DTYPE_COUNT][3] = {"b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8",
                                                "f2", "V2", "f4", "f8", "V1", "V1", "V1", "V1", "V1",
                                                "V1", "V1", "V1", "V1", "V1", "V1", "V1", ""};

kiln_status kiln_npy_locate(const uint8_t *prefix, size_t count, size_t *begin, size_t *end, kiln_text *cause) {
  if (count < 10 || memcmp(prefix, magic, sizeof magic) != 0) {
    kiln_text_add(cause, "is not a .npy file; save the array with numpy.save");
    return KILN_IO_ERROR;
  }
  if (prefix[6] < 1 || prefix[6] > 3) {
    kiln_text_add(cause, "version %d of the .npy format is unknown; save the array with numpy.save", prefix[6]);
    return KILN_IO_ERROR;
  }
  *begin = prefix[6] == 1 ? 10 : 12;
  uint32_t length = (uint32_t)(prefix[8] | prefix[9] << 8);
  if (*begin == 12 && count >= 12)
    length |= (uint32_t)prefix[10] << 16 | (uint32_t)prefix[11] << 24;
  if (*begin > count || length > KILN_NPY_MOST_HEADER_BYTES) {
    kiln_text_add(cause, "the .npy header is corrupt; save the array again");
    return KILN_IO_ERROR;
  }
  *end = *begin + length;
  return KILN_OK;
}

/* A cursor over the dictionary, which is a literal of Python's with three keys. */
typedef struct cursor {
  const char *at, *end;
} cursor;

static bool take_char(cursor *c, char wanted) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
    c->at++;
  if (c->at == c->end || *c->at != wanted)
    return false;
  c->at++;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  cursor saved = *c;
  if (take_char(c, word[0]) && (size_t)(c->end - c->at) >= length - 1 && memcmp(c->at, word + 1, length - 1) == 0) {
    c->at += length - 1;
    return true;
  }
  *c = saved;
  return false;
}

static bool take_string(cursor *c, char text[16]) {
  char quote = '\'';
  if (!take_char(c, quote) && !take_char(c, quote = '"'))
    return false;
  size_t length = 0;
  for (; c->at < c->end && *c->at != quote; c->at++) {
    if (length == 15)
      return false;
    text[length++] = *c->at;
  }
  text[length] = 0;
  return take_char(c, quote);
}

static bool take_size(cursor *c, int64_t *size) {
  *size = 0;
  const char *digits = NULL;
  while (c->at < c->end && *c->at == ' ')
    c->at++;
  for (digits = c->at; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
    if (__builtin_mul_overflow(*size, 10, size) || __builtin_add_overflow(*size, *c->at - '0', size))
      return false;
  bool any = c->at > digits;
  if (c->at < c->end && *c->at == 'L') /* what Python 2 wrote */
    c->at++;
  return any;
}

static bool take_shape(cursor *c, kiln_tensor *tensor) {
  if (!take_char(c, '('))
    return false;
  for (tensor->rank = 0; !take_char(c, ')'); tensor->rank++) {
    int64_t size;
    if (!take_size(c, &size))
      return false;
    if (tensor->rank < KILN_MAX_RANK)
      tensor->dims[tensor->rank] = size;
    if (!take_char(c, ','))
      return take_char(c, ')') && ++tensor->rank;
  }
  return true;
}

/* "<U5" is five characters, "|S5" five bytes; shorter strings are followed by zeros. */
static bool set_text(const char *descr, kiln_npy_header *header) {
  int64_t width;
  if (!descr[0] || !strchr("<>|=", descr[0]) || (descr[1] != 'U' && descr[1] != 'S'))
    return false;
  cursor digits = {descr + 2, descr + strlen(descr)};
  if (!take_size(&digits, &width) || digits.at != digits.end || width < 1 || width > INT32_MAX)
    return false;
  header->tensor.dtype = KILN_STRING;
  header->text_unit = descr[1] == 'U' ? 4 : 1;
  header->element_bytes = (size_t)width * (size_t)header->text_unit;
  header->swapped = descr[0] == '>' && header->text_unit == 4;
  return true;
}

static kiln_status set_type(const char *descr, kiln_npy_header *header, kiln_text *cause) {
  char order = descr[0];
  /* ml_dtypes writes this for float8_e5m2 alone, but numpy.load then knows no such type: kiln only reads it. */
  if (strcmp(descr, "<f1") == 0) {
    header->tensor.dtype = KILN_FLOAT8_E5M2;
    header->element_bytes = 1;
    return KILN_OK;
  }
  if (set_text(descr, header))
    return KILN_OK;
  /* One raw byte may be any of several dtypes; the reader decides which. */
  if (strcmp(descr + (descr[0] != 0), "V1") == 0)
    descr = "|u1";
  for (int i = 0; order && strchr("<>|=", order) && i < KILN_DTYPE_COUNT; i++)
    if (codes[i][0] && strcmp(descr + 1, codes[i]) == 0) {
      header->tensor.dtype = (kiln_dtype)i;
      header->element_bytes = kiln_dtype_size(header->tensor.dtype);
      header->swapped = order == '>';
      return KILN_OK;
    }
  bool has_objects = strcmp(descr + (descr[0] != 0), "O") == 0; /* pandas has that for text */
  kiln_text_add(cause,
                has_objects ? "the array holds Python's objects (%s); save array.astype(str), or of numbers "
                              "array.astype(float)"
                            : "the array's dtype '%s' is unknown; convert it with numpy.ndarray.astype",
                descr);
  return KILN_IO_ERROR;
}

kiln_status kiln_npy_parse_header(const char *text, size_t count, kiln_npy_header *header, kiln_text *cause) {
  *header = (kiln_npy_header){0};
  cursor c = {text, text + count};
  char descr[16] = "", key[16];
  bool has_shape = false, has_order = false, good = take_char(&c, '{');
  while (good && !take_char(&c, '}')) {
    good = take_string(&c, key) && take_char(&c, ':');
    if (good && strcmp(key, "descr") == 0)
      good = take_string(&c, descr);
    else if (good && strcmp(key, "fortran_order") == 0)
      good = has_order = (header->fortran = take_word(&c, "True")) || take_word(&c, "False");
    else if (good && strcmp(key, "shape") == 0)
      good = has_shape = take_shape(&c, &header->tensor);
    else
      good = false;
    take_char(&c, ',');
  }
  if (!good || !descr[0] || !has_shape || !has_order) {
    kiln_text_add(cause, "the .npy header is corrupt, or its dtype is a record; save one array of numbers");
    return KILN_IO_ERROR;
  }
  if (header->tensor.rank > KILN_MAX_RANK) {
    kiln_text_add(cause, "the array has %" PRId32 " axes where a tensor has %d at most; reshape it",
                  header->tensor.rank, KILN_MAX_RANK);
    return KILN_IO_ERROR;
  }
  kiln_status status = set_type(descr, header, cause);
  if (status)
    return status;
  header->count = kiln_element_count(header->tensor.dtype, header->tensor.rank, header->tensor.dims);
  if (header->count < 0 || (header->count > 0 && header->element_bytes > (size_t)(INT64_MAX / header->count))) {
    kiln_text_add(cause, "the array's shape is too large; save the array again");
    return KILN_IO_ERROR;
  }
  return KILN_OK;
}

size_t kiln_npy_format_header(const kiln_tensor *tensor, size_t width, char *bytes, size_t room) {
  memcpy(bytes, magic, sizeof magic);
  bytes[6] = 1;
  bytes[7] = 0;
  kiln_text text = kiln_text_in(bytes + 10, room - 10);
  bool single = kiln_dtype_size(tensor->dtype) == 1 && !kiln_dtype_is_narrow(tensor->dtype);
  kiln_text_add(&text, "{'descr': '%c", single ? '|' : '<');
  if (tensor->dtype == KILN_STRING)
    kiln_text_add(&text, "U%zu", width);
  else
    kiln_text_add(&text, "%s", codes[tensor->dtype]);
  kiln_text_add(&text, "', 'fortran_order': False, 'shape': (");
  for (int32_t axis = 0; axis < tensor->rank; axis++)
    kiln_text_add(&text, "%s%" PRId64 "%s", axis ? " " : "", tensor->dims[axis],
                  axis + 1 < tensor->rank || axis == 0 ? "," : "");
  kiln_text_add(&text, "), }");
  do
    kiln_text_add(&text, " ");
  while ((10 + text.length + 1) % 64 != 0);
  kiln_text_add(&text, "\n");
  bytes[8] = (char)(text.length & 0xff);
  bytes[9] = (char)(text.length >> 8);
  return 10 + text.length;
}
