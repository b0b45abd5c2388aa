/*===- alias.h - Outputs that lie in an input's memory -------------------===*/
#ifndef KILN_SRC_ALIAS_H
#define KILN_SRC_ALIAS_H

#include "context.h"

/* The alias that has input or output `index`, or NULL. */
const kiln_alias *kiln_alias_of_input(const kiln_model *model, int32_t index);
const kiln_alias *kiln_alias_of_output(const kiln_model *model, int32_t index);

/* How many bytes of memory a tensor of a port takes, with the room that an alias has (NULL: none). -1: too many. */
int64_t kiln_memory_bytes(const kiln_port *port, const kiln_alias *alias, const int64_t *dims);

/* The same of a given input of the run. */
int64_t kiln_given_bytes(const kiln_context *context, int32_t input);

bool kiln_overlap(const void *left, int64_t left_bytes, const void *right, int64_t right_bytes);

/* Whether the aliases can be written: each aliased input is in memory of its own with room for its capacity, and no
 * output asks to lie elsewhere. */
kiln_status kiln_check_aliases(kiln_context *context);

#endif
