/*===- json.c - Just enough JSON for a safetensors header -----------------===
 *
 * The header of a safetensors file is JSON that somebody else wrote: it may be cut off anywhere, nest as deep as the
 * file is long, or hold numbers of any length. So nothing recurses, nothing is allocated and each step looks where the
 * text ends.
 * Strings are decoded to UTF-8 into the caller's memory. A character 0 is refused, because names are C strings and two
 * names must not look alike.
 *
 *===----------------------------------------------------------------------===*/
#include "json.h"

#include <string.h>

char kiln_json_peek(kiln_json *json) {
  while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
    json->at++;
  return json->at < json->end ? *json->at : 0;
}

bool kiln_json_take(kiln_json *json, char wanted) {
  if (kiln_json_peek(json) != wanted)
    return false;
  json->at++;
  return true;
}

static bool hex4(kiln_json *json, uint32_t *code) {
  if (json->end - json->at < 4)
    return false;
  *code = 0;
  for (int i = 0; i < 4; i++) {
    char c = *json->at++;
    uint32_t digit;
    if (c >= '0' && c <= '9')
      digit = (uint32_t)(c - '0');
    else if ((c | 32) >= 'a' && (c | 32) <= 'f')
      digit = (uint32_t)((c | 32) - 'a') + 10;
    else
      return false;
    *code = *code << 4 | digit;
  }
  return true;
}

/* The character after "\u", which a second such escape may complete. */
static bool unicode(kiln_json *json, uint32_t *code) {
  if (!hex4(json, code))
    return false;
  if (*code < 0xd800 || *code > 0xdfff)
    return true;
  uint32_t low;
  if (*code > 0xdbff || json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
    return false;
  json->at += 2;
  if (!hex4(json, &low) || low < 0xdc00 || low > 0xdfff)
    return false;
  *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

static size_t utf8(uint32_t code, char out[4]) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length; --i > 0; code >>= 6)
    out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)((0xf00u >> length & 0xff) | code);
  return length;
}

static bool escape(kiln_json *json, char out[4], size_t *length) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (json->at >= json->end)
    return false;
  char c = *json->at++;
  uint32_t code;
  if (c == 'u') {
    if (!unicode(json, &code) || code == 0)
      return false;
    *length = utf8(code, out);
    return true;
  }
  const char *found = c ? strchr(from, c) : NULL;
  if (!found)
    return false;
  out[0] = to[found - from];
  *length = 1;
  return true;
}

/* The text after the first quote. */
static bool read_string(kiln_json *json, char *text, size_t bytes) {
  size_t used = 0;
  while (json->at < json->end) {
    char piece[4] = {*json->at++};
    size_t length = 1;
    if (piece[0] == '"') {
      if (used >= bytes)
        return false;
      text[used] = 0;
      return true;
    }
    if ((unsigned char)piece[0] < 0x20 || (piece[0] == '\\' && !escape(json, piece, &length)) || bytes - used <= length)
      return false;
    memcpy(text + used, piece, length);
    used += length;
  }
  return false;
}

bool kiln_json_string(kiln_json *json, char *text, size_t bytes) {
  if (!kiln_json_take(json, '"'))
    return false;
  if (read_string(json, text, bytes))
    return true;
  if (bytes > 0)
    text[0] = 0;
  return false;
}

bool kiln_json_integer(kiln_json *json, int64_t *value) {
  char first = kiln_json_peek(json);
  if (first < '0' || first > '9')
    return false;
  *value = 0;
  for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++)
    if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *json->at - '0', value))
      return false;
  return json->at >= json->end || !strchr(".eE", *json->at) || !*json->at;
}

static bool skip_string(kiln_json *json) {
  for (json->at++; json->at < json->end; json->at++)
    if (*json->at == '\\')
      json->at += json->at + 1 < json->end;
    else if (*json->at == '"') {
      json->at++;
      return true;
    }
  return false;
}

bool kiln_json_skip(kiln_json *json) {
  int64_t depth = 0; /* counted, not recursed into: a file may nest as deep as it is long */
  do {
    char next = kiln_json_peek(json);
    if (next == 0)
      return false;
    if (next == '"') {
      if (!skip_string(json))
        return false;
      continue;
    }
    depth += (next == '{' || next == '[') - (next == '}' || next == ']');
    if (depth < 0)
      return false;
    json->at++;
    if (depth == 0 && next != '}' && next != ']') /* a number or a word: to its end */
      while (json->at < json->end && !strchr(",]} \t\r\n", *json->at))
        json->at++;
  } while (depth > 0);
  return true;
}
