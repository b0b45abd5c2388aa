/*===- json.h - Just enough JSON for a safetensors header ----------------===
 *
 * A cursor over text. Each function consumes what its name says, with the white space before it, and returns false if
 * the text has something else; the cursor then stays anywhere. Nothing is ever read at or past `end`.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_SRC_JSON_H
#define KILN_SRC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kiln_json {
  const char *at, *end;
} kiln_json;

/* The next character that is not white space, or 0 at the end; it is not consumed. */
char kiln_json_peek(kiln_json *json);
/* Consumes `wanted` if it is next. */
bool kiln_json_take(kiln_json *json, char wanted);
/* A string, decoded to UTF-8 and zero-terminated, into `text` of `bytes` bytes. No longer than its source;
 * "" where one breaks off. */
bool kiln_json_string(kiln_json *json, char *text, size_t bytes);
/* A non-negative integer that fits. */
bool kiln_json_integer(kiln_json *json, int64_t *value);
/* Any value. */
bool kiln_json_skip(kiln_json *json);

#endif
