/*===- regex_full_match.c - Which strings a pattern matches as a whole ---===*/
#include "regex.h"

const char *kiln_call_regex_full_match(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
#ifdef KILN_WITH_PCRE2
  unsigned char *result = buffers[0];
  const kiln_string *x = buffers[1];
  kiln_regex regex;
  pcre2_code *code = NULL;
  const char *cause = kiln_regex_begin(&regex, scratch);
  if (!cause)
    cause = kiln_regex_compile(&regex, kiln_text_of(*(const kiln_string *)buffers[2]),
                               PCRE2_ANCHORED | PCRE2_ENDANCHORED, &code);
  for (int64_t i = 0; !cause && i < sizes[0]; i++) {
    const char *text = kiln_text_of(x[i]);
    kiln_regex_place place;
    cause = kiln_regex_find(&regex, code, text, strlen(text), 0, 0, &place);
    result[i] = place.found;
  }
  return cause;
#else
  (void)buffers;
  (void)sizes;
  (void)scratch;
  return KILN_WITHOUT_PCRE2;
#endif
}
