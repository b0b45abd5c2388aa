/*===- regex.h - Patterns of RE2's syntax, matched by PCRE2 --------------===
 *
 * ONNX has RE2's syntax, and with it a matcher whose time grows with the text's length alone. PCRE2 reads nearly the
 * same syntax; its second matcher, which follows all alternatives side by side, keeps the promise about time, finds
 * the longest of the matches that begin first, and refuses what RE2 refuses for it: references back to what a group
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

/* What one call matches with. Its memory is the call's. */
typedef struct kiln_regex {
  kiln_scratch *scratch;
  pcre2_general_context *general;
  pcre2_match_data *match;
  int *states; /* room for those that a text may be in at once */
  size_t count;
} kiln_regex;

/* NULL, or that there is no memory. */
const char *kiln_regex_begin(kiln_regex *regex, kiln_scratch *scratch);

/* A pattern; `options` are PCRE2's, and add to its being UTF-8. NULL, or what is wrong with it. */
const char *kiln_regex_compile(kiln_regex *regex, const char *pattern, uint32_t options, pcre2_code **code);

/* Looks for the longest of the first matches in text[from, bytes). NULL, or why it could not. `found` says where the
 * match lies, [0, 0) in `place` where there is none; a text that is not UTF-8 has none, and `is_text` is false. */
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
