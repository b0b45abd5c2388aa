/*===- regex.h - Patterns of RE2's syntax, matched by PCRE2 --------------===
 *
 * ONNX has RE2's syntax, and with it a matcher whose time grows only with the text's length. PCRE2 reads nearly
 * the same syntax. Its second matcher follows all alternatives at the same time, keeps the promise about time,
 * and finds the longest of the matches that begin first. Like RE2 it refuses references back to what a group
 * matched.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_SRC_CALL_PCRE2_REGEX_H
#define KILN_SRC_CALL_PCRE2_REGEX_H

#include "../string_element.h"

#ifdef KILN_WITH_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>

/* The state of one call. Its memory is the call's. */
typedef struct kiln_regex {
  kiln_scratch *scratch;
  pcre2_general_context *general;
  pcre2_match_data *match;
  int *states; /* room for the states that a text may be in at once */
  size_t count;
} kiln_regex;

/* NULL, or a message that there is no memory. */
const char *kiln_regex_begin(kiln_regex *regex, kiln_scratch *scratch);

/* A pattern; `options` are PCRE2's, added to that for UTF-8. Returns NULL, or what is wrong with it. */
const char *kiln_regex_compile(kiln_regex *regex, const char *pattern, uint32_t options, pcre2_code **code);

/* Looks for the longest of the first matches in text[from, bytes). Returns NULL, or why it could not. `found` says
 * where the match is, [0, 0) in `place` if there is none; a text that is not UTF-8 has none, and `is_text` is false. */
typedef struct kiln_regex_place {
  bool found, is_text;
  size_t begin, end;
} kiln_regex_place;
const char *kiln_regex_find(kiln_regex *regex, const pcre2_code *code, const char *text, size_t bytes, size_t from,
                            uint32_t options, kiln_regex_place *place);

#else

#define KILN_WITHOUT_PCRE2                                                                                             \
  "its runtime was built without PCRE2; build that with KILN_WITH_PCRE2 defined, kiln where libpcre2-dev is installed"

#endif
#endif
