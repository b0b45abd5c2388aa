/*===- string_tokenize.c - The tokens of strings, told by patterns -------===
 *
 * A pattern says what a token is, or several say what is between tokens: each of them divides the rest that those
 * before it have left. The pieces of a string that are not divided yet are on a stack with one place for each pattern.
 * A result has as many columns as the longest string has tokens, so a first call counts and a second one fills; both
 * use the same reader, which returns one token after the other.
 *
 *===---------------------------------------------------------------------===*/
#include "../token_row.h"
#include "regex.h"

#ifdef KILN_WITH_PCRE2

/* A piece of a string, and how far it has been divided; not at all if `at` is NULL. */
typedef struct token_piece {
  const char *begin, *end, *at;
} token_piece;

typedef struct token_reader {
  kiln_regex regex;
  pcre2_code **codes;
  token_piece *pieces;
  int64_t patterns, depth, least;
  bool divides; /* patterns match the text between tokens */
} token_reader;

static int64_t characters_between(const char *begin, const char *end) {
  int64_t count = 0;
  for (; begin < end; begin++)
    count += ((unsigned char)*begin & 0xC0) != 0x80;
  return count;
}

static const char *after_character(const char *text, const char *end) {
  do
    text++;
  while (text < end && ((unsigned char)*text & 0xC0) == 0x80);
  return text;
}

static const char *begin_tokens(token_reader *reader, const kiln_string *patterns, int64_t count, bool divides,
                                int64_t least, kiln_scratch *scratch) {
  *reader = (token_reader){.patterns = count, .least = least, .divides = divides};
  const char *cause = kiln_regex_begin(&reader->regex, scratch);
  if (cause)
    return cause;
  reader->codes = scratch->keep(scratch, count * (int64_t)sizeof *reader->codes);
  reader->pieces = scratch->keep(scratch, count * (int64_t)sizeof *reader->pieces);
  if (!reader->codes || !reader->pieces)
    return "no memory for its patterns";
  for (int64_t i = 0; i < count && !cause; i++)
    cause = kiln_regex_compile(&reader->regex, kiln_text_of(patterns[i]), 0, &reader->codes[i]);
  return cause;
}

static void begin_text(token_reader *reader, const char *text) {
  reader->depth = 0;
  reader->pieces[0] = (token_piece){text, text + strlen(text), text};
}

/* The next token, or one of NULL at the end. */
static const char *next_token(token_reader *reader, const char **token, size_t *bytes) {
  *token = NULL;
  while (reader->depth >= 0) {
    token_piece *piece = &reader->pieces[reader->depth];
    if (!piece->at) {
      reader->depth--;
      continue;
    }
    kiln_regex_place place;
    /* A piece's text was checked when the string was. */
    uint32_t options = reader->depth > 0 || piece->at != piece->begin ? PCRE2_NO_UTF_CHECK : 0;
    const char *cause =
        kiln_regex_find(&reader->regex, reader->codes[reader->depth], piece->begin, (size_t)(piece->end - piece->begin),
                        (size_t)(piece->at - piece->begin), options, &place);
    if (cause)
      return cause;
    if (!place.is_text)
      return "a string is not UTF-8";
    const char *match = piece->begin + place.begin, *match_end = piece->begin + place.end, *begin = piece->at;
    if (place.found) {
      piece->at = match_end > match ? match_end : after_character(match, piece->end);
      if (piece->at > piece->end)
        piece->at = NULL;
    } else {
      piece->at = NULL;
    }
    if (reader->divides) {
      match_end = place.found ? match : piece->end;
      match = begin;
    } else if (!place.found) {
      continue;
    }
    if (characters_between(match, match_end) < reader->least)
      continue;
    if (reader->depth + 1 == reader->patterns) {
      *token = match;
      *bytes = (size_t)(match_end - match);
      return NULL;
    }
    reader->pieces[++reader->depth] = (token_piece){match, match_end, match};
  }
  return NULL;
}

#endif

const char *kiln_call_string_token_count(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
#ifdef KILN_WITH_PCRE2
  int64_t *length = buffers[0], most = 0;
  const kiln_string *x = buffers[1];
  token_reader reader;
  const char *cause = begin_tokens(&reader, buffers[2], sizes[1], sizes[2] != 0, sizes[3], scratch), *token = NULL;
  size_t bytes;
  for (int64_t i = 0; i < sizes[0] && !cause; i++) {
    int64_t count = 0;
    begin_text(&reader, kiln_text_of(x[i]));
    while (!(cause = next_token(&reader, &token, &bytes)) && token)
      count++;
    if (count > most)
      most = count;
  }
  if (length)
    *length = kiln_token_row_length(most, sizes[4] != 0);
  return cause;
#else
  (void)buffers;
  (void)sizes;
  (void)scratch;
  return KILN_WITHOUT_PCRE2;
#endif
}

const char *kiln_call_string_tokenize(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
#ifdef KILN_WITH_PCRE2
  kiln_string *result = buffers[0];
  const kiln_string *x = buffers[1], *padding = buffers[3];
  token_reader reader;
  const char *cause = begin_tokens(&reader, buffers[2], sizes[1], sizes[2] != 0, sizes[3], scratch), *token = NULL;
  size_t bytes;
  for (int64_t i = 0; i < sizes[0] && !cause; i++) {
    kiln_token_row row = kiln_begin_token_row(result + i * sizes[5], sizes[5], sizes[4] != 0);
    begin_text(&reader, kiln_text_of(x[i]));
    while (!(cause = next_token(&reader, &token, &bytes)) && token)
      if (!kiln_add_token(&row, token, bytes, scratch))
        return "no memory for its strings";
    kiln_end_token_row(&row, *padding);
  }
  return cause;
#else
  (void)buffers;
  (void)sizes;
  (void)scratch;
  return KILN_WITHOUT_PCRE2;
#endif
}
