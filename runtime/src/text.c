/*===- text.c - Text of error lines and listings -------------------------===*/
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

kiln_text kiln_text_in(char *data, size_t bytes) {
  if (bytes > 0)
    data[0] = 0;
  return (kiln_text){data, bytes, 0};
}

void kiln_text_add_list(kiln_text *text, const char *format, va_list arguments) {
  if (text->length + 1 >= text->bytes)
    return;
  size_t room = text->bytes - text->length;
  int added = vsnprintf(text->data + text->length, room, format, arguments);
  if (added > 0)
    text->length += (size_t)added < room ? (size_t)added : room - 1;
}

void kiln_text_add(kiln_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  kiln_text_add_list(text, format, arguments);
  va_end(arguments);
}

void kiln_text_add_tensor(kiln_text *text, const kiln_tensor *tensor) {
  kiln_text_add(text, "%s", kiln_dtype_name(tensor->dtype));
  if (tensor->dtype == KILN_SEQUENCE || tensor->dtype == KILN_OPTIONAL)
    return;
  kiln_text_add(text, " [");
  for (int32_t axis = 0; axis < tensor->rank && axis < KILN_MAX_RANK; axis++)
    kiln_text_add(text, "%s%" PRId64, axis ? ", " : "", tensor->dims[axis]);
  kiln_text_add(text, "]");
}

void kiln_text_add_port(kiln_text *text, const kiln_port *port) {
  kiln_text_add(text, "%s", kiln_dtype_name(port->dtype));
  if (port->element) {
    kiln_text_add(text, port->dtype == KILN_SEQUENCE ? " of " : " ");
    kiln_text_add_port(text, port->element);
    return;
  }
  if (port->rank < 0)
    return;
  kiln_text_add(text, " [");
  for (int32_t axis = 0; axis < port->rank; axis++)
    kiln_text_add(text, "%s%s%s", axis ? ", " : "", port->dims[axis].text,
                  axis < port->rank - port->optional_axes ? "" : "?");
  kiln_text_add(text, "]");
}

void kiln_text_add_wanted(kiln_text *text, const kiln_port *port) {
  kiln_text_add(text, "input '%s': wanted ", port->name);
  kiln_text_add_port(text, port);
}
