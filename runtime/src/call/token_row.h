/*===- token_row.h - A string's tokens as a row of a tensor ---------------===*/
#ifndef KILN_SRC_CALL_TOKEN_ROW_H
#define KILN_SRC_CALL_TOKEN_ROW_H

#include "string_element.h"

#include <stdbool.h>

/* ASCII marks stand before and after the tokens of each string, if they are asked for. */
typedef struct kiln_token_row {
  kiln_string *next, *end;
  bool is_marked;
} kiln_token_row;

/* The length of rows if the longest has this many tokens; if none has any, rows are empty. */
static inline int64_t kiln_token_row_length(int64_t tokens, bool is_marked) {
  return tokens == 0 || !is_marked ? tokens : tokens + 2;
}

static inline kiln_token_row kiln_begin_token_row(kiln_string *row, int64_t length, bool is_marked) {
  kiln_token_row result = {row, row + length, is_marked && length > 0};
  if (result.is_marked)
    *result.next++ = "\x02";
  return result;
}

/* False if there is no memory for it. */
static inline bool kiln_add_token(kiln_token_row *row, const char *token, size_t bytes, kiln_scratch *scratch) {
  *row->next = kiln_keep_text(scratch, token, bytes);
  return *row->next++ != NULL;
}

/* Fills the rest of the row. */
static inline void kiln_end_token_row(kiln_token_row *row, kiln_string padding) {
  if (row->is_marked)
    *row->next++ = "\x03";
  while (row->next < row->end)
    *row->next++ = padding;
}

#endif
