/*===- plain.c - A model's names, for a terminal -------------------------===*/
#include "cli.h"

#include <stdbool.h>

int kiln_utf8_bytes(const char *text) {
  unsigned char first = (unsigned char)text[0];
  int bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (int i = 1; i < bytes; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80) /* also at the text's end */
      return 0;
  return bytes;
}

void kiln_cli_put(FILE *file, const char *text) {
  const char *kept = text; /* what is written as it is, in one piece */
  for (int bytes = 0; *text; text += bytes) {
    unsigned char c = (unsigned char)text[0];
    bytes = kiln_utf8_bytes(text);
    bool is_wide = bytes == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0; /* U+0080 to U+009F */
    if (bytes > 0 && c >= 0x20 && c != 0x7f && !is_wide)
      continue;
    bytes = bytes > 0 ? bytes : 1;
    fwrite(kept, 1, (size_t)(text - kept), file);
    putc(c == '\n' ? ' ' : '?', file);
    kept = text + bytes;
  }
  fwrite(kept, 1, (size_t)(text - kept), file);
}
