/*===- sequence.h - Sequences and optionals as inputs and outputs --------===*/
#ifndef KILN_SRC_SEQUENCE_H
#define KILN_SRC_SEQUENCE_H

#include "context.h"
#include "text.h"

/* Checks an input's target against its port, which is a sequence or an optional. On failure `cause` gets one
 * line.
 */
kiln_status kiln_check_sequence(const kiln_port *port, kiln_sequence given, kiln_text *cause);

/* Moves the target of an output to its context, whoever made it. */
kiln_status kiln_keep_sequence(kiln_context *context, const char *name, kiln_sequence *sequence);
/* The same of an output's strings. */
kiln_status kiln_keep_strings(kiln_context *context, const char *name, kiln_string *strings, int64_t count);

/* Dtype and shape of the tensors of such a port. */
static inline const kiln_port *kiln_tensor_port(const kiln_port *port) {
  while (port->element)
    port = port->element;
  return port;
}

/* Whether a port's sequence may have other than one tensor. */
static inline bool kiln_is_sequence(const kiln_port *port) {
  return port->dtype == KILN_SEQUENCE || (port->element && port->element->dtype == KILN_SEQUENCE);
}

#endif
