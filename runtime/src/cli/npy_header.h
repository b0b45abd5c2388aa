/*===- npy_header.h - The dictionary before the data ---------------------===*/
#ifndef KILN_CLI_NPY_HEADER_H
#define KILN_CLI_NPY_HEADER_H

#include "../text.h"

#include <stdbool.h>
#include <stdio.h>

#define KILN_NPY_PREFIX_BYTES 12 /* magic, version and the longer of the two forms of the header's length */
#define KILN_NPY_MOST_HEADER_BYTES (1 << 20)

typedef struct kiln_npy_header {
  kiln_tensor tensor; /* its data is NULL */
  int64_t count;      /* of elements */
  bool swapped, fortran;
  size_t element_bytes; /* in the file */
  int text_unit;        /* of a string: 4 if its characters are UCS-4, 1 if they are bytes; else 0 */
} kiln_npy_header;

/* Where the dictionary begins and ends, from the file's first KILN_NPY_PREFIX_BYTES, or fewer if the file is shorter.
 */
kiln_status kiln_npy_locate(const uint8_t *prefix, size_t count, size_t *begin, size_t *end, kiln_text *cause);
kiln_status kiln_npy_parse_header(const char *text, size_t count, kiln_npy_header *header, kiln_text *cause);

/* Magic, version and dictionary, padded so that the data begin at a multiple of 64; `bytes` is at least 512. Strings
 * have `width` characters. Returns its length. */
size_t kiln_npy_format_header(const kiln_tensor *tensor, size_t width, char *bytes, size_t room);

/* Writes version 1 of a whole file; `user` is a kiln_tensor. False: the file could not take it. */
bool kiln_npy_put(FILE *file, const void *user);

#endif
