/* Two models in one program: the scores of the first go to the second without a copy. */
#include "reader.h"
#include "softmax.h"

#include <stdio.h>

int main(void) {
  static float image[READER_INPUT3_ELEMENTS];
  const float *scores, *probabilities;
  kiln_context *reader, *softmax;
  if (fread(image, sizeof *image, READER_INPUT3_ELEMENTS, stdin) != READER_INPUT3_ELEMENTS)
    return 1;
  if (reader_create(NULL, &reader, NULL, 0) || softmax_create(NULL, &softmax, NULL, 0))
    return 1;
  if (reader_run(reader, image, &scores) || softmax_run(softmax, /*rows=*/1, scores, &probabilities, NULL))
    return 1;
  for (int digit = 0; digit < 10; digit++)
    if (probabilities[digit] >= 0.01f)
      printf("%d: %.0f %%\n", digit, 100 * (double)probabilities[digit]);
  softmax_destroy(softmax);
  reader_destroy(reader);
  return 0;
}
