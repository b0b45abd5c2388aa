/*===- literal.c - Small inputs on the command line -----------------------===
 *
 * A scalar or a short list is quicker typed than saved. The text is walked twice: once for the shape, since nested
 * lists only show it when they close, and once for the elements. Each element is read as the port's dtype has it, so
 * that no integer goes through a float, and one that the dtype cannot hold is refused.
 *
 *===----------------------------------------------------------------------===*/
#include "literal.h"

#include "../alloc.h"
#include "../dtype.h"
#include "../json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  kiln_json at;
  kiln_tensor *tensor;
  char *strings; /* where the next string goes; the elements of a tensor of strings point there */
  int64_t count; /* of the elements so far */
  bool stores;   /* the second walk */
  kiln_text *cause;
} reader;

static kiln_status malformed(kiln_text *cause, const char *what) {
  kiln_text_add(cause, "%s; wanted a number, a list such as [[1, 2], [3, 4]], or 2x2xf32=0", what);
  return KILN_INVALID_ARGUMENT;
}

/* 0, 1, or -1 for other text. Python prints True. */
static int truth_of(const char *text) {
  bool is_true = strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
  return is_true || strcmp(text, "false") == 0 || strcmp(text, "False") == 0 ? is_true : -1;
}

static kiln_status not_a_value(kiln_text *cause, kiln_dtype dtype, const char *text, size_t length) {
  kiln_text_add(cause, "'%.*s' is not a value of %s; wanted %s", length > 40 ? 40 : (int)length, text,
                kiln_dtype_name(dtype),
                kiln_dtype_is_float(dtype) ? "a number in its range, inf or nan"
                : dtype == KILN_BOOL       ? "true or false"
                                           : "a whole number in its range");
  return KILN_INVALID_ARGUMENT;
}

static bool store_number(kiln_tensor *tensor, void *element, const char *text, size_t length) {
  char copy[64], *end;
  if (length == 0 || length >= sizeof copy)
    return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (kiln_dtype_is_float(tensor->dtype)) {
    errno = 0;
    double value = strtod(copy, &end);
    bool is_large = errno == ERANGE && isinf(value);
    kiln_store_float(element, tensor->dtype, value);
    return !*end && !is_large && (isinf(value) || !isinf(kiln_load_float(element, tensor->dtype)));
  }
  if (tensor->dtype == KILN_BOOL && truth_of(copy) >= 0) {
    kiln_store_int(element, KILN_BOOL, truth_of(copy));
    return true;
  }
  errno = 0;
  bool is_large = tensor->dtype == KILN_UINT64 && copy[0] != '-';
  int64_t value = is_large ? (int64_t)strtoull(copy, &end, 10) : strtoll(copy, &end, 10);
  kiln_store_int(element, tensor->dtype, value);
  bool is_kept = is_large || (tensor->dtype != KILN_UINT64 && kiln_load_int(element, tensor->dtype) == value);
  return !*end && errno == 0 && is_kept;
}

static kiln_status read_element(reader *read) {
  const char *begin = read->at.at;
  size_t size = kiln_dtype_size(read->tensor->dtype);
  void *element = read->stores ? (char *)read->tensor->data + (size_t)read->count * size : NULL;
  read->count++;
  if (read->tensor->dtype == KILN_STRING) {
    size_t room = (size_t)(read->at.end - begin);
    char *text = read->stores ? read->strings : NULL;
    if (*begin != '"' || !(text ? kiln_json_string(&read->at, text, room) : kiln_json_skip(&read->at)))
      return malformed(read->cause, "a string has quotes, as in [\"a\", \"b\"]");
    if (text) {
      *(kiln_string *)element = text;
      read->strings += strlen(text) + 1;
    }
    return KILN_OK;
  }
  size_t length = strcspn(begin, ",] \t\n");
  if (!length)
    return malformed(read->cause, "a value is missing");
  read->at.at += length;
  char scratch[8];
  if (store_number(read->tensor, element ? element : scratch, begin, length))
    return KILN_OK;
  return not_a_value(read->cause, read->tensor->dtype, begin, length);
}

/* A list at `depth` of those around it; the first list of a depth gives the length of all lists there. */
static kiln_status read_list(reader *read, int32_t depth) {
  kiln_tensor *tensor = read->tensor;
  if (depth == KILN_MAX_RANK)
    return malformed(read->cause, "the lists are nested too deep");
  if (!kiln_json_take(&read->at, '['))
    return malformed(read->cause, "a list is missing");
  int64_t items = 0;
  bool is_empty = kiln_json_peek(&read->at) == ']';
  do {
    if (is_empty)
      break;
    if (!kiln_json_peek(&read->at))
      break;
    bool is_list = kiln_json_peek(&read->at) == '[';
    if (!is_list && tensor->rank < 0)
      tensor->rank = depth + 1;
    if (is_list == (tensor->rank == depth + 1))
      return malformed(read->cause, "the lists are not of one depth");
    kiln_status status = is_list ? read_list(read, depth + 1) : read_element(read);
    if (status)
      return status;
    items++;
  } while (kiln_json_take(&read->at, ','));
  if (!kiln_json_peek(&read->at))
    return kiln_text_add(read->cause, "the list does not end; close it with ]"), KILN_INVALID_ARGUMENT;
  if (!kiln_json_take(&read->at, ']'))
    return malformed(read->cause, "a comma or a ']' is missing");
  if (is_empty && tensor->rank < 0)
    tensor->rank = depth + 1;
  if (tensor->dims[depth] >= 0 && tensor->dims[depth] != items)
    return malformed(read->cause, "the lists are not of one length");
  tensor->dims[depth] = items;
  return KILN_OK;
}

static kiln_status make_room(kiln_tensor *tensor, size_t text_bytes, char **strings, kiln_text *cause) {
  int64_t count = kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  int64_t bytes = count < 0 ? -1 : count * (int64_t)kiln_dtype_size(tensor->dtype);
  tensor->data = bytes < 0 ? NULL : kiln_allocate(NULL, bytes + (int64_t)text_bytes, KILN_ALIGNMENT);
  if (!tensor->data) {
    kiln_text_add(cause, "no memory for ");
    kiln_text_add_tensor(cause, tensor);
    return KILN_OUT_OF_MEMORY;
  }
  *strings = (char *)tensor->data + bytes;
  return KILN_OK;
}

static kiln_status read_lists(kiln_tensor *tensor, const char *text, kiln_text *cause) {
  size_t length = strlen(text);
  reader read = {.tensor = tensor, .cause = cause};
  tensor->rank = -1;
  for (int32_t i = 0; i < KILN_MAX_RANK; i++)
    tensor->dims[i] = -1;
  kiln_status status = KILN_OK;
  for (int walk = 0; walk < 2 && !status; walk++) {
    read.at = (kiln_json){text, text + length};
    read.count = 0;
    if (!(status = read_list(&read, 0)) && kiln_json_peek(&read.at))
      status = malformed(cause, "there is more after the list");
    if (!status && walk == 0 && !(status = make_room(tensor, length, &read.strings, cause)))
      read.stores = true;
  }
  return status;
}

/* "1x4xf32=": its sizes, the name of its dtype and the rest after it; false if the text is something else. */
static bool read_shape(const char *text, kiln_tensor *tensor, const char **dtype, size_t *length, const char **values) {
  tensor->rank = 0;
  while (*text >= '0' && *text <= '9') {
    char *end;
    errno = 0;
    int64_t size = strtoll(text, &end, 10);
    if (errno || *end != 'x' || tensor->rank == KILN_MAX_RANK)
      return false;
    tensor->dims[tensor->rank++] = size;
    text = end + 1;
  }
  *dtype = text;
  *length = strcspn(text, "=");
  *values = text + *length + 1;
  return text[*length] == '=';
}

/* The dtype that a word names: "float32", or short "f32". */
static bool find_dtype(const char *word, size_t length, kiln_dtype *found) {
  static const struct {
    char name[5];
    kiln_dtype dtype;
  } shorts[] = {{"i1", KILN_BOOL},     {"i8", KILN_INT8},     {"u8", KILN_UINT8},      {"ui8", KILN_UINT8},
                {"i16", KILN_INT16},   {"u16", KILN_UINT16},  {"ui16", KILN_UINT16},   {"i32", KILN_INT32},
                {"u32", KILN_UINT32},  {"ui32", KILN_UINT32}, {"i64", KILN_INT64},     {"u64", KILN_UINT64},
                {"ui64", KILN_UINT64}, {"f16", KILN_FLOAT16}, {"bf16", KILN_BFLOAT16}, {"f32", KILN_FLOAT32},
                {"f64", KILN_FLOAT64}};
  for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
    if (strlen(shorts[i].name) == length && memcmp(shorts[i].name, word, length) == 0)
      return *found = shorts[i].dtype, true;
  for (kiln_dtype dtype = 0; dtype < KILN_STRING; dtype++)
    if (strlen(kiln_dtype_name(dtype)) == length && memcmp(kiln_dtype_name(dtype), word, length) == 0)
      return *found = dtype, true;
  return false;
}

/* The elements after "2x3xf32=". */
static kiln_status read_values(kiln_tensor *tensor, const char *values, kiln_text *cause) {
  reader read = {.at = {values, values + strlen(values)}, .tensor = tensor, .stores = true, .cause = cause};
  kiln_status status = make_room(tensor, 0, &read.strings, cause);
  int64_t count = status ? 0 : kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  bool is_one = !strchr(values, ',');
  for (int64_t i = 0; i < count && !status; i++) {
    if (i > 0 && is_one)
      read.at.at = values;
    else if (i > 0 && !kiln_json_take(&read.at, ','))
      return kiln_text_add(cause, "has %" PRId64 " values, and %" PRId64 " elements; give one or all", i, count),
             KILN_INVALID_ARGUMENT;
    status = read_element(&read);
  }
  if (!status && count > 0 && kiln_json_peek(&read.at))
    status = malformed(cause, "there are more values than elements");
  return status;
}

/* A number or a bool by itself. */
static bool is_scalar(const char *text) {
  char *end;
  strtod(text, &end);
  return (end > text && !*end) || truth_of(text) >= 0;
}

bool kiln_is_literal(const char *text) {
  kiln_tensor shape;
  kiln_dtype dtype;
  const char *word, *values;
  size_t length;
  return text[0] == '[' || is_scalar(text) ||
         (read_shape(text, &shape, &word, &length, &values) && find_dtype(word, length, &dtype));
}

kiln_status kiln_parse_literal(const kiln_port *port, const char *text, kiln_tensor *tensor, kiln_text *cause) {
  const char *word, *values;
  size_t length;
  kiln_status status;
  *tensor = (kiln_tensor){.dtype = port->dtype};
  if (port->element)
    return kiln_text_add(cause, "a %s is given as a folder", kiln_dtype_name(port->dtype)), KILN_INVALID_ARGUMENT;
  if (text[0] == '[') {
    status = read_lists(tensor, text, cause);
  } else if (is_scalar(text)) {
    status = read_values(tensor, text, cause);
  } else {
    if (!read_shape(text, tensor, &word, &length, &values) || !find_dtype(word, length, &tensor->dtype))
      return malformed(cause, "is not a tensor");
    status = read_values(tensor, values, cause);
  }
  if (status) {
    free(tensor->data);
    tensor->data = NULL;
  }
  return status;
}
