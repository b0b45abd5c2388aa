/*===- bind.h - Inputs against what a model declares ---------------------===*/
#ifndef KILN_SRC_BIND_H
#define KILN_SRC_BIND_H

#include "text.h"

#include <stdbool.h>

/* Whether `tensor` has data of its own, or is empty and needs none, so that no stored default replaces it. */
bool kiln_input_given(const kiln_port *port, const kiln_tensor *tensor);

/* Checks every given input against its port and binds the symbols: sizes[i] is symbol i's size, its `value` if no given
 * input has it. `inputs` may be NULL: none is given. On failure `cause` gets one line and *bad the input's index.
 */
kiln_status kiln_bind(const kiln_model *model, const kiln_tensor *inputs, int64_t *sizes, int32_t *bad,
                      kiln_text *cause);

#endif
