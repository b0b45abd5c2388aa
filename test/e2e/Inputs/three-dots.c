/* Three artefacts of one model: libdot, libfar and an object named near. */
#include "far.h"
#include "near.h"

#include "dot.h"

#include <stdio.h>

int main(void) {
  kiln_context *contexts[3];
  const int32_t *y[3];
  if (dot_create(NULL, &contexts[0], NULL, 0) || far_create(NULL, &contexts[1], NULL, 0) ||
      near_create(NULL, &contexts[2], NULL, 0) || dot_run(contexts[0], NULL, NULL, &y[0]) ||
      far_run(contexts[1], NULL, NULL, &y[1]) || near_run(contexts[2], NULL, NULL, &y[2]))
    return 1;
  printf("%d %d %d\n", *y[0], *y[1], *y[2]);
  dot_destroy(contexts[0]);
  far_destroy(contexts[1]);
  near_destroy(contexts[2]);
  return 0;
}
