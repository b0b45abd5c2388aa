/*===- print.c - Tensors as NumPy prints them ----------------------------===
 *
 * Every float is written with the fewest digits that read back as the same element, in a tensor with axes at most eight
 * of them after the point; a tensor's numbers share one form, fixed or scientific, and one width. More than THRESHOLD
 * elements: the first and last EDGE of each axis.
 *
 *===---------------------------------------------------------------------===*/
#include "../dtype.h"
#include "../text.h"
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 1000
#define EDGE 3
#define LINE 75
#define DIGITS 8 /* after the point */
#define ELEMENT_BYTES 64

typedef struct printer {
  FILE *file;
  const kiln_tensor *tensor;
  bool summarised, scientific, finite;
  int width;    /* of an element */
  int fraction; /* digits after the point: the most of any element */
  char line[LINE + KILN_MAX_RANK + 2 * ELEMENT_BYTES];
  int column;               /* what `line` holds */
  double largest, smallest; /* magnitudes of the finite ones but 0 */
  void (*visit)(struct printer *printer, const void *element);
} printer;

/* ---- which elements are shown ---- */

/* The index after `i` that is shown on an axis of `size`. */
static int64_t next_shown(const printer *p, int64_t i, int64_t size) {
  return p->summarised && size > 2 * EDGE && i == EDGE - 1 ? size - EDGE : i + 1;
}

static void visit_shown(printer *p, int32_t axis, const char *data, int64_t stride) {
  const kiln_tensor *tensor = p->tensor;
  if (axis == tensor->rank) {
    p->visit(p, data);
    return;
  }
  int64_t size = tensor->dims[axis];
  stride = size ? stride / size : 0;
  for (int64_t i = 0; i < size; i = next_shown(p, i, size))
    visit_shown(p, axis + 1, data + i * stride, stride);
}

/* ---- one element ---- */

static bool reads_back(const char *text, const void *element, kiln_dtype dtype) {
  uint64_t bits = 0, again = 0;
  size_t size = kiln_dtype_size(dtype);
  memcpy(&bits, element, size);
  if (kiln_dtype_is_narrow(dtype)) /* as many as a float of its value has: fewer would tell the code */
    return strtof(text, NULL) == (float)kiln_load_float(element, dtype);
  if (dtype == KILN_FLOAT32) {
    float value = strtof(text, NULL);
    memcpy(&again, &value, size);
  } else
    kiln_store_float(&again, dtype, strtod(text, NULL));
  return bits == again;
}

/* The digits after the first that the element needs, and its decimal exponent. */
static int needed_digits(const void *element, kiln_dtype dtype, int *exponent) {
  char text[ELEMENT_BYTES];
  int digits = 0;
  for (;; digits++) {
    snprintf(text, sizeof text, "%.*e", digits, kiln_load_float(element, dtype));
    if (digits == 16 || reads_back(text, element, dtype))
      break;
  }
  *exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
  return digits;
}

static int digits_after_point(const printer *p, const void *element) {
  int exponent, digits = needed_digits(element, p->tensor->dtype, &exponent);
  if (!p->scientific)
    digits = digits > exponent ? digits - exponent : 0;
  if (p->tensor->rank == 0 || digits <= DIGITS)
    return digits;
  char text[ELEMENT_BYTES];
  snprintf(text, sizeof text, p->scientific ? "%.*e" : "%.*f", DIGITS, kiln_load_float(element, p->tensor->dtype));
  const char *last = strchr(text, '.') + DIGITS; /* the rounded digits may need fewer */
  for (digits = DIGITS; digits > 0 && *last == '0'; last--)
    digits--;
  return digits;
}

static void format_float(const printer *p, const void *element, char *text, size_t bytes) {
  double value = kiln_load_float(element, p->tensor->dtype);
  if (!isfinite(value)) {
    snprintf(text, bytes, "%s", value != value ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  if (p->scientific) {
    snprintf(text, bytes, p->fraction || !p->tensor->rank ? "%.*e" : "%#.*e", p->fraction, value);
    return;
  }
  int digits = digits_after_point(p, element);
  if (p->tensor->rank == 0) { /* a scalar, which NumPy prints as Python does: "1.0" */
    snprintf(text, bytes, "%.*f", digits ? digits : 1, value);
    return;
  }
  int length = snprintf(text, bytes, digits ? "%.*f" : "%#.*f", digits, value);
  snprintf(text + length, bytes - (size_t)length, "%*s", p->fraction - digits, "");
}

/* In quotes, except a scalar; a long string is cut. */
static void format_string(const printer *p, const char *string, char *text, size_t bytes) {
  const char *quote = p->tensor->rank ? "'" : "";
  size_t most = bytes - sizeof "'...'", length = strlen(string);
  bool is_cut = length > most;
  while (is_cut && most > 0 && ((unsigned char)string[most] & 0xc0) == 0x80) /* not within a character */
    most--;
  snprintf(text, bytes, "%s%.*s%s%s", quote, (int)(is_cut ? most : length), string, is_cut ? "..." : "", quote);
  kiln_cli_plain(text);
}

static void format_element(const printer *p, const void *element, char *text, size_t bytes) {
  kiln_dtype dtype = p->tensor->dtype;
  if (dtype == KILN_STRING) {
    kiln_string string = *(const kiln_string *)element;
    format_string(p, string ? string : "", text, bytes);
  } else if (kiln_dtype_is_float(dtype))
    format_float(p, element, text, bytes);
  else if (dtype == KILN_BOOL)
    snprintf(text, bytes, "%s", kiln_load_int(element, dtype) ? "True" : "False");
  else if (dtype == KILN_UINT64)
    snprintf(text, bytes, "%" PRIu64, (uint64_t)kiln_load_int(element, dtype));
  else
    snprintf(text, bytes, "%" PRId64, kiln_load_int(element, dtype));
}

/* ---- what the elements share ---- */

static void measure_range(printer *p, const void *element) {
  double magnitude = fabs(kiln_load_float(element, p->tensor->dtype));
  if (!isfinite(magnitude) || magnitude == 0)
    return;
  if (!p->finite || magnitude > p->largest)
    p->largest = magnitude;
  if (!p->finite || magnitude < p->smallest)
    p->smallest = magnitude;
  p->finite = true;
}

static void measure_fraction(printer *p, const void *element) {
  if (!isfinite(kiln_load_float(element, p->tensor->dtype)))
    return;
  int digits = digits_after_point(p, element);
  if (digits > p->fraction)
    p->fraction = digits;
}

static void measure_width(printer *p, const void *element) {
  char text[ELEMENT_BYTES];
  format_element(p, element, text, sizeof text);
  int width = (int)strlen(text);
  if (width > p->width)
    p->width = width;
}

static void measure(printer *p, void (*visit)(printer *, const void *), int64_t bytes) {
  p->visit = visit;
  visit_shown(p, 0, p->tensor->data, bytes);
}

/* ---- the whole ---- */

static void put(printer *p, const char *text, int width) {
  p->column += snprintf(p->line + p->column, sizeof p->line - (size_t)p->column, "%*s", width, text);
}

/* Ends the line and begins one under the `depth` open brackets. */
static void new_line(printer *p, int32_t depth) {
  while (p->column > 0 && p->line[p->column - 1] == ' ')
    p->column--;
  fprintf(p->file, "%.*s\n", p->column, p->line);
  p->column = 0;
  put(p, "", depth);
}

/* Room for `width` more characters and the closing brackets. */
static void reserve(printer *p, int width, int32_t depth) {
  if (p->column + width + p->tensor->rank > LINE)
    new_line(p, depth);
}

static void print_axis(printer *p, int32_t axis, const char *data, int64_t stride) {
  const kiln_tensor *tensor = p->tensor;
  char text[ELEMENT_BYTES];
  if (axis == tensor->rank) {
    format_element(p, data, text, sizeof text);
    put(p, text, tensor->rank && tensor->dtype != KILN_STRING ? p->width : 0);
    return;
  }
  int64_t size = tensor->dims[axis];
  bool last = axis + 1 == tensor->rank;
  stride = size ? stride / size : 0;
  put(p, "[", 1);
  for (int64_t i = 0, next; i < size; i = next) {
    next = next_shown(p, i, size);
    bool gap = next > i + 1, more = next < size;
    if (last)
      reserve(p, p->width, axis + 1);
    print_axis(p, axis + 1, data + i * stride, stride);
    if (last && more)
      put(p, " ", 1);
    if (last && gap) {
      reserve(p, 3, axis + 1);
      put(p, "... ", 4);
    }
    for (int turn = 0; !last && more && turn < 1 + gap; turn++) {
      for (int32_t line = axis + 1; line < tensor->rank; line++)
        new_line(p, axis + 1);
      if (gap && turn == 0)
        put(p, "...", 3);
    }
  }
  put(p, "]", 1);
}

/* From here on NumPy uses the scientific form: the number of digits that the dtype is good for. */
static double largest_fixed(const kiln_tensor *tensor) {
  if (tensor->dtype == KILN_FLOAT64)
    return tensor->rank > 0 ? 1e8 : 1e16;
  return tensor->dtype == KILN_FLOAT32 ? 1e6 : 1e3;
}

/* "NAME: sequence of 2", then its tensors as NAME[0] and NAME[1]. */
static void print_list(FILE *file, const char *name, const char *kind, kiln_sequence list) {
  kiln_cli_put(file, name);
  if (!list) {
    fprintf(file, ": %s of nothing\n", kind);
    return;
  }
  fprintf(file, ": %s of %" PRId64 "\n", kind, list->count);
  for (int64_t i = 0; i < list->count; i++) {
    kiln_cli_put(file, name);
    fprintf(file, "[%" PRId64 "]", i);
    kiln_print_tensor(file, "", &list->tensors[i]);
  }
}

void kiln_print_tensor(FILE *file, const char *name, const kiln_tensor *tensor) {
  if (tensor->dtype == KILN_SEQUENCE || tensor->dtype == KILN_OPTIONAL) {
    print_list(file, name, kiln_dtype_name(tensor->dtype), *(const kiln_sequence *)tensor->data);
    return;
  }
  char title[KILN_TEXT_BYTES];
  kiln_text text = kiln_text_in(title, sizeof title);
  kiln_text_add_tensor(&text, tensor);
  kiln_cli_put(file, name);
  fprintf(file, ": %s\n", title);
  int64_t count = kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  int64_t bytes = count * (int64_t)kiln_dtype_size(tensor->dtype);
  if (count == 0) {
    fputs("[]\n", file);
    return;
  }
  printer p = {.file = file, .tensor = tensor, .summarised = count > THRESHOLD};
  if (tensor->dtype == KILN_BOOL && tensor->rank > 0)
    p.width = (int)strlen("False");
  if (kiln_dtype_is_float(tensor->dtype)) {
    measure(&p, measure_range, bytes);
    p.scientific = p.finite && (p.largest >= largest_fixed(tensor) || p.smallest < 1e-4 ||
                                (tensor->rank > 0 && p.largest / p.smallest > 1000));
    measure(&p, measure_fraction, bytes);
  }
  measure(&p, measure_width, bytes);
  print_axis(&p, 0, tensor->data, bytes);
  fprintf(file, "%.*s\n", p.column, p.line);
}
