/*===- npy_text.c - Strings in NumPy's file format -----------------------===*/
#include "npy_text.h"

#include "kiln/program.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

/* Writes a character as UTF-8, at most 4 bytes; returns how many. */
static size_t encode(uint32_t c, char *to) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
    c = REPLACEMENT;
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; /* bytes that follow, of 6 bits each */
  to[0] = (char)((0xff00u >> (more + 1) & 0xff) | c >> 6 * more);
  for (size_t i = 1; i <= more; i++)
    to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
  return more + 1;
}

/* Takes a character from UTF-8. */
static uint32_t decode(const char **text) {
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  uint32_t c = (uint8_t)*(*text)++;
  if (c < 0x80)
    return c;
  size_t more = c >= 0xf0 && c < 0xf8 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc0 && c < 0xe0 ? 1 : 0;
  uint32_t value = c & (0x3fu >> more);
  for (size_t i = 0; i < more; i++) {
    if (((uint8_t)(*text)[i] & 0xc0) != 0x80)
      return REPLACEMENT;
    value = value << 6 | ((uint8_t)(*text)[i] & 0x3f);
  }
  if (!more || value < least[more] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return REPLACEMENT;
  *text += more;
  return value;
}

/* A string of a file: writes it as UTF-8 and a 0, if `to` is not NULL; returns how many bytes that is. */
static size_t convert(const kiln_npy_header *header, const uint8_t *from, char *to) {
  size_t unit = (size_t)header->text_unit, width = header->element_bytes, bytes = 0;
  static const uint8_t zeros[4];
  while (width > 0 && memcmp(from + width - unit, zeros, unit) == 0)
    width -= unit;
  char encoded[4];
  for (size_t at = 0; at < width; at += unit) {
    uint32_t c = from[at];
    if (unit == 4)
      memcpy(&c, from + at, sizeof c);
    size_t length = unit == 4 ? encode(c, to ? to + bytes : encoded) : 1;
    if (unit == 1 && to)
      to[bytes] = (char)c;
    bytes += length;
  }
  if (to)
    to[bytes] = 0;
  return bytes + 1;
}

void *kiln_npy_strings(const kiln_npy_header *header, const uint8_t *data) {
  size_t count = (size_t)header->count, bytes = count * sizeof(kiln_string);
  for (size_t i = 0; i < count; i++)
    bytes += convert(header, data + i * header->element_bytes, NULL);
  char *memory = aligned_alloc(KILN_ALIGNMENT, (bytes / KILN_ALIGNMENT + 1) * KILN_ALIGNMENT);
  if (!memory)
    return NULL;
  kiln_string *strings = (kiln_string *)(void *)memory;
  char *to = memory + count * sizeof *strings;
  for (size_t i = 0; i < count; i++) {
    strings[i] = to;
    to += convert(header, data + i * header->element_bytes, to);
  }
  return memory;
}

size_t kiln_npy_text_width(const kiln_string *strings, int64_t count) {
  size_t width = 1;
  for (int64_t i = 0; i < count; i++) {
    size_t length = 0;
    for (const char *text = strings[i]; text && *text; length++)
      decode(&text);
    if (length > width)
      width = length;
  }
  return width;
}

bool kiln_npy_write_strings(FILE *file, const kiln_string *strings, int64_t count, size_t width) {
  for (int64_t i = 0; i < count; i++) {
    const char *text = strings[i] ? strings[i] : "";
    for (size_t k = 0; k < width; k++) {
      uint32_t c = *text ? decode(&text) : 0;
      if (fwrite(&c, sizeof c, 1, file) != 1)
        return false;
    }
  }
  return true;
}
