/*===- string_hash.c - MurmurHash3 of strings -----------------------------===*/
#include "string_element.h"

static uint32_t rotate_left(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

static uint32_t murmur_block(uint32_t block) { return rotate_left(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

/* MurmurHash3_x86_32, of blocks of four bytes, the lowest first. */
static uint32_t murmur(const unsigned char *text, size_t bytes, uint32_t hash) {
  uint32_t rest = 0;
  for (size_t i = 0; i < bytes; i++) {
    rest |= (uint32_t)text[i] << 8 * (i % 4);
    if (i % 4 == 3) {
      hash = rotate_left(hash ^ murmur_block(rest), 13) * 5 + 0xe6546b64u;
      rest = 0;
    }
  }
  hash ^= murmur_block(rest);
  hash ^= (uint32_t)bytes;
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

const char *kiln_call_string_hash(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  uint32_t *result = buffers[0];
  const kiln_string *x = buffers[1];
  for (int64_t i = 0; i < sizes[0]; i++) {
    const char *text = kiln_text_of(x[i]);
    result[i] = murmur((const unsigned char *)text, strlen(text), (uint32_t)sizes[1]);
  }
  return NULL;
}
