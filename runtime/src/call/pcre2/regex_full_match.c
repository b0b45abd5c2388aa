/*===- regex_full_match.c - Which strings a pattern matches as a whole ---===
 *
 * ONNX has RE2's syntax, and with it a matcher whose time grows with the text's length alone. PCRE2 reads nearly the
 * same syntax; its second matcher, which follows all alternatives side by side, keeps the promise about time, and
 * refuses what RE2 refuses for it: references back to what a group matched.
 *
 *===---------------------------------------------------------------------===*/
#include "../string_element.h"

#ifdef KILN_WITH_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stdio.h>

#define KILN_LEAST_REGEX_STATES 1000
#define KILN_MOST_REGEX_STATES (1 << 24)
#define KILN_REGEX_CAUSE_BYTES 256

static void *keep_for_regex(size_t bytes, void *scratch) {
  kiln_scratch *from = scratch;
  return from->keep(from, (int64_t)bytes);
}

static void leave_to_regex_scratch(void *memory, void *scratch) {
  (void)memory;
  (void)scratch;
}

static const char no_regex_memory[] = "no memory to match its pattern";

static const char *bad_regex(kiln_scratch *scratch, int code, size_t place) {
  char *cause = scratch->keep(scratch, KILN_REGEX_CAUSE_BYTES);
  PCRE2_UCHAR text[KILN_REGEX_CAUSE_BYTES / 2];
  if (!cause || code == PCRE2_ERROR_HEAP_FAILED)
    return no_regex_memory;
  pcre2_get_error_message(code, text, sizeof text);
  snprintf(cause, KILN_REGEX_CAUSE_BYTES, "at byte %zu of its pattern: %s", place, (const char *)text);
  return cause;
}

static const char *compile_regex(const char *pattern, kiln_scratch *scratch, pcre2_general_context *general,
                                 pcre2_code **code) {
  /* Otherwise how PCRE2 was built decides about line ends, and a pattern may begin with options. */
  pcre2_compile_context *context = pcre2_compile_context_create(general);
  if (!context)
    return no_regex_memory;
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  if (!strncmp(pattern, "(*", 2))
    return "at byte 1 of its pattern: nothing to repeat";
  int error;
  PCRE2_SIZE place;
  *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                        PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY, &error, &place, context);
  if (!*code)
    return bad_regex(scratch, error, place);
  uint32_t references = 0;
  pcre2_pattern_info(*code, PCRE2_INFO_BACKREFMAX, &references);
  return references ? "its pattern refers back to a group" : NULL;
}

/* Room for the states that a text may be in at once. */
typedef struct regex_states {
  int *states;
  size_t count;
} regex_states;

static bool double_states(regex_states *room, kiln_scratch *scratch) {
  size_t count = room->states ? room->count * 2 : KILN_LEAST_REGEX_STATES;
  int *states = scratch->reserve(scratch, (int64_t)(count * sizeof *states));
  if (!states)
    return false;
  *room = (regex_states){states, count};
  return true;
}

const char *kiln_call_regex_full_match(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  unsigned char *result = buffers[0];
  const kiln_string *x = buffers[1];
  const char *pattern = kiln_text_of(*(const kiln_string *)buffers[2]);
  pcre2_general_context *general = pcre2_general_context_create(keep_for_regex, leave_to_regex_scratch, scratch);
  if (!general)
    return no_regex_memory;
  pcre2_code *code = NULL;
  const char *cause = compile_regex(pattern, scratch, general, &code);
  if (cause || sizes[0] == 0)
    return cause;
  pcre2_match_data *match = pcre2_match_data_create(1, general);
  regex_states room = {NULL, 0};
  if (!match || !double_states(&room, scratch))
    return no_regex_memory;
  for (int64_t i = 0; i < sizes[0]; i++) {
    const char *text = kiln_text_of(x[i]);
    int found;
    do {
      found = pcre2_dfa_match(code, (PCRE2_SPTR)text, strlen(text), 0, 0, match, NULL, room.states, room.count);
    } while (found == PCRE2_ERROR_DFA_WSSIZE && room.count < KILN_MOST_REGEX_STATES && double_states(&room, scratch));
    /* 0: there was more than one match, and room for the longest. A text that is not UTF-8 is matched by nothing. */
    bool is_text = found > PCRE2_ERROR_UTF8_ERR1 || found < PCRE2_ERROR_UTF8_ERR21;
    if (found < 0 && found != PCRE2_ERROR_NOMATCH && is_text)
      return found == PCRE2_ERROR_NOMEMORY || found == PCRE2_ERROR_DFA_WSSIZE ? no_regex_memory
                                                                              : "a string is too hard for its pattern";
    result[i] = found >= 0;
  }
  return NULL;
}

#else

const char *kiln_call_regex_full_match(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)buffers;
  (void)sizes;
  (void)scratch;
  return "its runtime was built without PCRE2; build that with KILN_WITH_PCRE2 defined, kiln where libpcre2-dev is "
         "installed";
}

#endif
