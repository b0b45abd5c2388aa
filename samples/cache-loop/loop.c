/* Runs samples/cache as a decoder does: token by token, each run's keys and values given back to the next. The cache is
 * never copied: a result in memory of the context may be an input of the next run. In the end the same tokens go
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
  cache_inputs in = {.batch = 1, .seq = 1, .past_keys = nothing, .past_values = nothing};
  cache_outputs out;
  for (int step = 0; step < STEPS; step++) {
    in.past = step;
    in.x = tokens[step];
    if (cache_run_structs(context, &in, &out)) {
      fprintf(stderr, "loop: step %d: %s\n", step, cache_error(context));
      return 1;
    }
    for (int i = 0; i < WIDTH; i++)
      rows[step][i] = out.y[i];
    in.past_keys = out.keys;
    in.past_values = out.values;
  }

  const cache_inputs all = {.batch = 1, .seq = STEPS, .x = tokens[0], .past_keys = nothing, .past_values = nothing};
  if (cache_run_structs(context, &all, &out))
    return 1;
  int differ = 0;
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < WIDTH; i++)
      differ += !(fabsf(rows[step][i] - out.y[step * WIDTH + i]) <= 1e-5f);
  printf("%d steps, %d numbers differ\n", STEPS, differ);
  cache_destroy(context);
  return differ != 0;
}
