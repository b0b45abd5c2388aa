/*===- plain.c - A model's names, for a terminal or within JSON ----------===*/
#include "cli.h"

#include <string.h>

/* The character that begins here: its bytes, 0 if no character of UTF-8 does, and its code. A lone byte of 0x80 to 0x9f
 * would be a control character to some terminals. */
static int decode_character(const char *text, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char first = (unsigned char)text[0];
  int bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  *code = bytes > 1 ? first & (0x7fu >> bytes) : first;
  for (int i = 1; i < bytes; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80) /* also at the text's end */
      return 0;
    *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
  }
  bool is_half = *code >= 0xd800 && *code < 0xe000; /* of a pair that is not UTF-8 */
  return bytes > 0 && (*code < least[bytes] || is_half || *code > 0x10ffff) ? 0 : bytes;
}

/* Control characters, line separators, and characters that change the direction of the text around them. */
static bool is_control(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* The bytes of the character that begins here, 1 if none does; and a replacement to show, or 0. */
static int next(const char *text, char *instead) {
  uint32_t code;
  int bytes = decode_character(text, &code);
  *instead = bytes > 0 && !is_control(code) ? 0 : code == '\n' ? ' ' : '?';
  return bytes > 0 ? bytes : 1;
}

int kiln_cli_utf8(const char *text) {
  uint32_t code;
  return decode_character(text, &code);
}

void kiln_cli_put(FILE *file, const char *text) {
  const char *kept = text; /* text that is written as it is, in one piece */
  for (int bytes; *text; text += bytes) {
    char instead;
    bytes = next(text, &instead);
    if (!instead)
      continue;
    fwrite(kept, 1, (size_t)(text - kept), file);
    putc(instead, file);
    kept = text + bytes;
  }
  fwrite(kept, 1, (size_t)(text - kept), file);
}

void kiln_cli_plain(char *text) {
  char *to = text;
  for (int bytes; *text; text += bytes) {
    char instead;
    bytes = next(text, &instead);
    if (instead) {
      *to++ = instead;
    } else {
      memmove(to, text, (size_t)bytes);
      to += bytes;
    }
  }
  *to = 0;
}
