/* The same loop with the cache in memory of the program's own, which has room for all steps: `kept` is the model
 * compiled with --alias, so that a run writes its keys and values after the past ones and copies nothing. Its results
 * are compared with those of the model without aliases, step by step; the two may add up in another order. */
#include "cache.h"
#include "kept.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 100, WIDTH = 8 };

static int differ_much(float a, float b) { return !(fabsf(a - b) <= 1e-5f); }

static int fail(const char *error) {
  fprintf(stderr, "in-place: %s\n", error);
  return 1;
}

int main(void) {
  static _Alignas(64) float keys[KEPT_PAST_KEYS_ELEMENTS], values[KEPT_PAST_VALUES_ELEMENTS];
  static const float nothing[WIDTH];
  kiln_context *copies, *keeps;
  char error[256];
  if (cache_create(NULL, &copies, error, sizeof error) || kept_create(NULL, &keeps, error, sizeof error))
    return fail(error);
  const float *wanted, *row, *past_keys = nothing, *past_values = nothing;
  int differ = 0;
  for (int step = 0; step < STEPS; step++) {
    float token[WIDTH];
    for (int i = 0; i < WIDTH; i++)
      token[i] = sinf((float)(step * WIDTH + i));
    if (cache_run(copies, /*batch=*/1, /*seq=*/1, /*past=*/step, token, past_keys, past_values, &wanted, NULL,
                  &past_keys, NULL, &past_values, NULL))
      return fail(cache_error(copies));
    if (kept_run(keeps, /*seq=*/1, /*past=*/step, token, keys, KEPT_PAST_KEYS_ELEMENTS, values,
                 KEPT_PAST_VALUES_ELEMENTS, &row, NULL))
      return fail(kept_error(keeps));
    for (int i = 0; i < WIDTH; i++)
      differ += differ_much(row[i], wanted[i]);
  }
  for (int i = 0; i < STEPS * WIDTH; i++)
    differ += differ_much(keys[i], past_keys[i]) || differ_much(values[i], past_values[i]);
  printf("%d steps in place, %d numbers differ\n", STEPS, differ);
  kept_destroy(keeps);
  cache_destroy(copies);
  return differ != 0;
}
