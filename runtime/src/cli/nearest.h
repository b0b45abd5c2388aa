/*===- nearest.h - The likely meaning of a misspelt word -----------------===*/
#ifndef KILN_CLI_NEAREST_H
#define KILN_CLI_NEAREST_H

#include <stddef.h>

/* A word that names nothing, and the name that is the fewest edits away, as `kiln` guesses, too. */
typedef struct kiln_guess {
  const char *given;
  size_t length, limit; /* names have to be less than `limit` edits away */
  const char *best;     /* NULL: none is near */
} kiln_guess;

/* At most `most` edits are a guess, and at most a third of the word. */
kiln_guess kiln_guess_of(const char *given, size_t length, size_t most);
/* Considers a name. */
void kiln_guess_add(kiln_guess *guess, const char *name);

#endif
