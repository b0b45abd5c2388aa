/*===- mersenne.c - The numbers of a Mersenne Twister ---------------------===*/
#include "kiln/call.h"

/* MT19937 (Matsumoto and Nishimura, "Mersenne Twister", 1998), seeded and read as NumPy's RandomState is. */
#define TWISTER_WORDS 624
#define TWISTER_MIDDLE 397

typedef struct twister {
  uint32_t words[TWISTER_WORDS];
  int next;
} twister;

static void seed_twister(twister *t, uint32_t value) {
  for (uint32_t i = 0; i < TWISTER_WORDS; i++) {
    t->words[i] = value;
    value = 1812433253u * (value ^ (value >> 30)) + i + 1;
  }
  t->next = TWISTER_WORDS;
}

static void twist(twister *t) {
  for (int i = 0; i < TWISTER_WORDS; i++) {
    uint32_t y = (t->words[i] & 0x80000000u) | (t->words[(i + 1) % TWISTER_WORDS] & 0x7fffffffu);
    t->words[i] = t->words[(i + TWISTER_MIDDLE) % TWISTER_WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  t->next = 0;
}

static uint32_t draw_word(twister *t) {
  if (t->next == TWISTER_WORDS)
    twist(t);
  uint32_t y = t->words[t->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

const char *kiln_call_mersenne(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  (void)scratch;
  double *result = buffers[0];
  twister state;
  seed_twister(&state, (uint32_t)sizes[1]);
  for (int64_t i = 0; i < sizes[0]; i++) {
    uint32_t high = draw_word(&state) >> 5, low = draw_word(&state) >> 6;
    result[i] = (high * 67108864.0 + low) / 9007199254740992.0;
  }
  return 0;
}
