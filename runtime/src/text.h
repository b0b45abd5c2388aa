/*===- text.h - Text of error lines and listings -------------------------===*/
#ifndef KILN_SRC_TEXT_H
#define KILN_SRC_TEXT_H

#include "kiln/program.h"

#include <stdarg.h>

#define KILN_TEXT_BYTES 512

/* Text that grows in a caller's array; the rest that does not fit is cut. `bytes` of 0 keeps nothing. */
typedef struct kiln_text {
  char *data;
  size_t bytes, length;
} kiln_text;

kiln_text kiln_text_in(char *data, size_t bytes);
void kiln_text_add(kiln_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kiln_text_add_list(kiln_text *text, const char *format, va_list arguments);

/* "float32 [2, 3]" */
void kiln_text_add_tensor(kiln_text *text, const kiln_tensor *tensor);
/* "float32 [batch, 3]" */
void kiln_text_add_port(kiln_text *text, const kiln_port *port);
/* "input 'x': wanted float32 [batch, 3]", the beginning of errors about an input. */
void kiln_text_add_wanted(kiln_text *text, const kiln_port *port);

#endif
