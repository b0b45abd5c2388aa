/*===- plain.c - Names of a model's, for a terminal ----------------------===*/
#include "cli.h"

void kiln_cli_put(FILE *file, const char *text) {
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    bool is_wide = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; /* U+0080 to U+009F */
    putc(*c == '\n' ? ' ' : *c < 0x20 || *c == 0x7f || is_wide ? '?' : *c, file);
    c += is_wide;
  }
}
