#include "nearest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 128 };

/* The letters that are to be inserted, removed or changed; of long words more than any limit. */
static size_t edits(const char *from, size_t length, const char *to) {
  size_t row[LONGEST + 1], width = strlen(to);
  if (width > LONGEST || length > LONGEST)
    return LONGEST;
  for (size_t i = 0; i <= width; i++)
    row[i] = i;
  for (size_t line = 1; line <= length; line++) {
    size_t diagonal = row[0];
    row[0] = line;
    for (size_t i = 1; i <= width; i++) {
      size_t changed = diagonal + (from[line - 1] != to[i - 1]),
             moved = (row[i] < row[i - 1] ? row[i] : row[i - 1]) + 1;
      diagonal = row[i];
      row[i] = changed < moved ? changed : moved;
    }
  }
  return row[width];
}

/* How far `name` goes on as the word does, and then how near its next letter is. */
static long likeness(const kiln_guess *guess, const char *name) {
  size_t alike = 0;
  while (alike < guess->length && name[alike] == guess->given[alike])
    alike++;
  bool both_go_on = alike < guess->length && name[alike];
  return (long)alike * 512 - (both_go_on ? labs((long)name[alike] - guess->given[alike]) : 0);
}

kiln_guess kiln_guess_of(const char *given, size_t length, size_t most) {
  size_t third = length > 1 ? (length + 2) / 3 : 0; /* one letter is near to every other */
  return (kiln_guess){given, length, (third < most ? third : most) + 1, NULL};
}

void kiln_guess_add(kiln_guess *guess, const char *name) {
  size_t away = edits(guess->given, guess->length, name);
  bool is_nearer = guess->best && away == guess->limit && likeness(guess, name) > likeness(guess, guess->best);
  if (away < guess->limit || is_nearer) {
    guess->limit = away;
    guess->best = name;
  }
}
