/*===- regex.c - Patterns of RE2's syntax, matched by PCRE2 --------------===*/
#include "regex.h"

#ifdef KILN_WITH_PCRE2

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

static bool double_states(kiln_regex *regex) {
  size_t count = regex->states ? regex->count * 2 : KILN_LEAST_REGEX_STATES;
  int *states = regex->scratch->reserve(regex->scratch, (int64_t)(count * sizeof *states));
  if (!states)
    return false;
  regex->states = states;
  regex->count = count;
  return true;
}

const char *kiln_regex_begin(kiln_regex *regex, kiln_scratch *scratch) {
  *regex = (kiln_regex){.scratch = scratch};
  regex->general = pcre2_general_context_create(keep_for_regex, leave_to_regex_scratch, scratch);
  if (regex->general)
    regex->match = pcre2_match_data_create(1, regex->general);
  return regex->match && double_states(regex) ? NULL : no_regex_memory;
}

const char *kiln_regex_compile(kiln_regex *regex, const char *pattern, uint32_t options, pcre2_code **code) {
  /* Otherwise PCRE2's build options decide about line ends, and a pattern may begin with options. */
  pcre2_compile_context *context = pcre2_compile_context_create(regex->general);
  if (!context)
    return no_regex_memory;
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  if (!strncmp(pattern, "(*", 2))
    return "at byte 1 of its pattern: nothing to repeat";
  int error;
  PCRE2_SIZE place;
  *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | options, &error,
                        &place, context);
  if (!*code)
    return bad_regex(regex->scratch, error, place);
  uint32_t references = 0;
  pcre2_pattern_info(*code, PCRE2_INFO_BACKREFMAX, &references);
  return references ? "its pattern refers back to a group" : NULL;
}

const char *kiln_regex_find(kiln_regex *regex, const pcre2_code *code, const char *text, size_t bytes, size_t from,
                            uint32_t options, kiln_regex_place *place) {
  int found;
  do {
    found =
        pcre2_dfa_match(code, (PCRE2_SPTR)text, bytes, from, options, regex->match, NULL, regex->states, regex->count);
  } while (found == PCRE2_ERROR_DFA_WSSIZE && regex->count < KILN_MOST_REGEX_STATES && double_states(regex));
  /* 0: there was more than one match, and room for the longest. */
  *place = (kiln_regex_place){found >= 0, found > PCRE2_ERROR_UTF8_ERR1 || found < PCRE2_ERROR_UTF8_ERR21, 0, 0};
  if (found == PCRE2_ERROR_NOMEMORY || found == PCRE2_ERROR_DFA_WSSIZE)
    return no_regex_memory;
  if (found < 0 && found != PCRE2_ERROR_NOMATCH && place->is_text)
    return "a string is too hard for its pattern";
  if (found >= 0) {
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(regex->match);
    place->begin = ends[0];
    place->end = ends[1];
  }
  return NULL;
}

#else

/* C has no empty sources. */
typedef int kiln_regex_is_not_there;

#endif
