/* Runs samples/cache as a decoder does: token by token, each run's keys and values given back to the next. The cache is
 * never copied: what a run gave in memory of the context may be an input of the next run. In the end the same tokens go
 * through the model at once, and the rows are compared. */
#include "cache.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 100, WIDTH = 8 };

int main(void) {
  static float tokens[STEPS][WIDTH], rows[STEPS][WIDTH];
  static const float nothing[WIDTH];
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < WIDTH; i++)
      tokens[step][i] = sinf((float)(step * WIDTH + i));

  kiln_context *context;
  char error[256];
  if (cache_create(NULL, &context, error, sizeof error)) {
    fprintf(stderr, "loop: %s\n", error);
    return 1;
  }
  const float *row, *keys = nothing, *values = nothing;
  for (int step = 0; step < STEPS; step++) {
    if (cache_run(context, /*batch=*/1, /*seq=*/1, /*past=*/step, tokens[step], keys, values, &row, NULL, &keys, NULL,
                  &values, NULL)) {
      fprintf(stderr, "loop: step %d: %s\n", step, cache_error(context));
      return 1;
    }
    for (int i = 0; i < WIDTH; i++)
      rows[step][i] = row[i];
  }

  const float *whole;
  if (cache_run(context, 1, STEPS, 0, tokens[0], nothing, nothing, &whole, NULL, &keys, NULL, &values, NULL))
    return 1;
  int differ = 0;
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < WIDTH; i++)
      differ += !(fabsf(rows[step][i] - whole[step * WIDTH + i]) <= 1e-5f);
  printf("%d steps, %d numbers differ\n", STEPS, differ);
  cache_destroy(context);
  return differ != 0;
}
