/*===- plain.c - A model's names, for a terminal -------------------------===*/
#include "cli.h"

#include <stdbool.h>

void kiln_cli_put(FILE *file, const char *text) {
  const char *kept = text; /* what is written as it is, in one piece */
  for (; *text; text++) {
    unsigned char c = (unsigned char)text[0], next = (unsigned char)text[1];
    bool is_wide = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F */
    if (c >= 0x20 && c != 0x7f && !is_wide)
      continue;
    fwrite(kept, 1, (size_t)(text - kept), file);
    putc(c == '\n' ? ' ' : '?', file);
    text += is_wide;
    kept = text + 1;
  }
  fwrite(kept, 1, (size_t)(text - kept), file);
}
