/*===- string_element.h - An element that is a string ---------------------===*/
#ifndef KILN_SRC_CALL_STRING_ELEMENT_H
#define KILN_SRC_CALL_STRING_ELEMENT_H

#include "kiln/call.h"
#include "kiln/types.h"

#include <string.h>

static inline char *kiln_keep_text(kiln_scratch *scratch, const char *text, size_t bytes) {
  char *kept = scratch->keep(scratch, (int64_t)bytes + 1);
  if (kept) {
    memcpy(kept, text, bytes);
    kept[bytes] = 0;
  }
  return kept;
}

static inline const char *kiln_text_of(kiln_string string) { return string ? string : ""; }

#endif
