/*===- string_characters.c - The characters of strings --------------------===*/
#include "token_row.h"

/* The bytes of the UTF-8 character that a text begins with; 0 if it begins with none. */
static size_t character_bytes(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  size_t bytes = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
  for (size_t i = 1; i < bytes; i++)
    if ((c[i] & 0xC0) != 0x80)
      return 0;
  return bytes;
}

static const char no_character[] = "a string is not UTF-8";

const char *kiln_call_string_character_count(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  int64_t *length = buffers[0], most = 0;
  const kiln_string *x = buffers[1];
  for (int64_t i = 0; i < sizes[0]; i++) {
    int64_t count = 0;
    for (const char *text = kiln_text_of(x[i]); *text; count++) {
      size_t bytes = character_bytes(text);
      if (bytes == 0)
        return no_character;
      text += bytes;
    }
    if (count > most)
      most = count;
  }
  *length = kiln_token_row_length(most, sizes[1] != 0);
  return NULL;
}

const char *kiln_call_string_characters(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_string *result = buffers[0];
  const kiln_string *x = buffers[1], *padding = buffers[2];
  for (int64_t i = 0; i < sizes[0]; i++) {
    kiln_token_row row = kiln_begin_token_row(result + i * sizes[2], sizes[2], sizes[1] != 0);
    for (const char *text = kiln_text_of(x[i]); *text;) {
      size_t bytes = character_bytes(text);
      if (bytes == 0)
        return no_character;
      if (!kiln_add_token(&row, text, bytes, scratch))
        return "no memory for its strings";
      text += bytes;
    }
    kiln_end_token_row(&row, *padding);
  }
  return NULL;
}
