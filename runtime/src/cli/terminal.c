/*===- terminal.c - Standard error on a terminal -------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "terminal.h"

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kiln_has_terminal(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

bool kiln_has_colours(void) {
  const char *plain = getenv("NO_COLOR");
  return kiln_has_terminal() && !(plain && plain[0]);
}

void kiln_paint_kernel(const char *name, const char *axes, char *painted, size_t room) {
  /* tinygrad's: blue is a global axis, cyan a local one, yellow an upcast, red a reduce, magenta an unrolled one. */
  static const struct {
    char letter;
    const char *code;
  } colours[] = {{'g', "\033[34m"}, {'i', "\033[36m"}, {'l', "\033[37m"},
                 {'u', "\033[33m"}, {'r', "\033[31m"}, {'m', "\033[35m"}};
  size_t numbers = 0, length = 0;
  for (const char *c = name; *c; c++)
    numbers += *c == '_';
  bool fits = axes && strlen(axes) == numbers; /* else the name was cut */
  kiln_text text = kiln_text_in(painted, room);
  const char *rest = name;
  for (size_t i = 0; fits && i <= numbers; i++, rest += length + (rest[length] == '_')) {
    const char *code = NULL;
    length = strcspn(rest, "_");
    for (size_t k = 0; i > 0 && k < sizeof colours / sizeof *colours; k++)
      if (colours[k].letter == axes[i - 1])
        code = colours[k].code;
    kiln_text_add(&text, "%s%s%.*s%s", i ? "_" : "", code ? code : "", (int)length, rest, code ? "\033[0m" : "");
  }
  if (!fits)
    kiln_text_add(&text, "%s", name);
}

void kiln_put_culprit(const char *program) {
  bool is_red = kiln_has_colours();
  fputs(is_red ? "\033[31m\033[1m" : "", stderr);
  kiln_cli_put(stderr, program);
  fputs(is_red ? ":\033[m " : ": ", stderr);
}
