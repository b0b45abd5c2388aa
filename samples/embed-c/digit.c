/* Reads an image of 28 by 28 floats from standard input and prints the digit that samples/mnist sees in it. */
#include "mnist.h"

#include <stdio.h>

int main(void) {
  static float image[MNIST_INPUT3_ELEMENTS];
  float scores[MNIST_PLUS214_OUTPUT_0_ELEMENTS];
  char error[256];
  kiln_context *context;
  if (fread(image, sizeof *image, MNIST_INPUT3_ELEMENTS, stdin) != MNIST_INPUT3_ELEMENTS) {
    fprintf(stderr, "digit: wanted %d floats on standard input\n", MNIST_INPUT3_ELEMENTS);
    return 1;
  }
  if (mnist_create(NULL, &context, error, sizeof error)) {
    fprintf(stderr, "digit: %s\n", error);
    return 1;
  }
  if (mnist_run_into(context, image, scores, MNIST_PLUS214_OUTPUT_0_ELEMENTS)) {
    fprintf(stderr, "digit: %s\n", mnist_error(context));
    return 1;
  }
  int best = 0;
  for (int i = 1; i < MNIST_PLUS214_OUTPUT_0_ELEMENTS; i++)
    if (scores[i] > scores[best])
      best = i;
  printf("%d\n", best);
  mnist_destroy(context);
  return 0;
}
