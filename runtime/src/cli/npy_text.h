/*===- npy_text.h - Strings in NumPy's file format -----------------------===*/
#ifndef KILN_CLI_NPY_TEXT_H
#define KILN_CLI_NPY_TEXT_H

#include "npy_header.h"

#include <stdio.h>

/* The strings of a file's `data` in one piece of memory, for free(), which begins with a kiln_string for each. NULL if
 * there is no memory. */
void *kiln_npy_strings(const kiln_npy_header *header, const uint8_t *data);

/* The characters of the longest; at least 1, as NumPy has no narrower array. */
size_t kiln_npy_text_width(const kiln_string *strings, int64_t count);
/* Each as `width` characters of UCS-4. Bytes that are not UTF-8 become U+FFFD. */
bool kiln_npy_write_strings(FILE *file, const kiln_string *strings, int64_t count, size_t width);

#endif
