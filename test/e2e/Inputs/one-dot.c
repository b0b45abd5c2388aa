#include "dot.h"

#include <stdio.h>

int main(void) {
  kiln_context *context;
  const int32_t *y;
  if (dot_create(NULL, &context, NULL, 0) || dot_run(context, NULL, NULL, &y))
    return 1;
  printf("%d\n", *y);
  dot_destroy(context);
  return 0;
}
