/*===- size.h - Sizes as they are declared -------------------------------===*/
#ifndef KILN_SRC_SIZE_H
#define KILN_SRC_SIZE_H

#include "kiln/program.h"

#include <stdbool.h>

/* The value of a kiln_dim's text, given the symbols' sizes; false if the text is not such an expression, divides by
 * zero or overflows. */
bool kiln_evaluate_size(const kiln_model *model, const char *text, const int64_t *sizes, int64_t *size);

#endif
