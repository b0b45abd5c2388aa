/*===- literal.h - Small inputs on the command line ----------------------===*/
#ifndef KILN_CLI_LITERAL_H
#define KILN_CLI_LITERAL_H

#include "../text.h"

#include <stdbool.h>

/* Whether an argument is a tensor rather than a file's name: "3", "true", "[1, 2]", or "2x3xf32=0". A file that is
 * called so is "./3". */
bool kiln_is_literal(const char *text);

/* The tensor of a literal, of the dtype of `port`, with data for free(). A number alone is a scalar. Nested lists give
 * the shape, as in "[[1, 2], [3, 4]]". The other form has the shape and a dtype, then one number for all elements or
 * one for each. On failure tensor->data is NULL and `cause` has what is wrong. */
kiln_status kiln_parse_literal(const kiln_port *port, const char *text, kiln_tensor *tensor, kiln_text *cause);

#endif
