/*===- plan.c - Place tensors in one arena by their lifetimes ------------===
 * Each tensor, in order, goes to the lowest place that is free while it lives. Largest first is best where tensors live
 * for as long as each other, largest in bytes times steps where some outlive many; the better of the two is taken.
 *===---------------------------------------------------------------------===*/
#include "kiln/plan.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct tensor {
  double weight;
  int64_t bytes, offset;
  int32_t first, last, index;
} tensor;

static int heavier_first(const void *left, const void *right) {
  const tensor *a = left, *b = right;
  if (a->weight != b->weight)
    return a->weight > b->weight ? -1 : 1;
  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  return a->index < b->index ? -1 : 1;
}

/* Places the tensors in order; `placed` has room for them, and holds them by their offsets. Returns the peak. */
static int64_t place(tensor *tensors, int32_t count, const tensor **placed) {
  int64_t peak = 0;
  for (int32_t i = 0; i < count; i++) {
    tensor *wanted = &tensors[i];
    int64_t offset = 0;
    for (int32_t j = 0; j < i; j++) {
      const tensor *other = placed[j];
      if (other->first > wanted->last || wanted->first > other->last)
        continue;
      if (offset + wanted->bytes <= other->offset)
        break;
      if (offset < other->offset + other->bytes)
        offset = other->offset + other->bytes;
    }
    wanted->offset = offset;
    if (peak < offset + wanted->bytes)
      peak = offset + wanted->bytes;
    int32_t at = i;
    for (; at > 0 && placed[at - 1]->offset > offset; at--)
      placed[at] = placed[at - 1];
    placed[at] = wanted;
  }
  return peak;
}

/* Sizes rounded up to the alignment, whose sum fits. */
static bool round_sizes(const int64_t *bytes, int32_t count, tensor *tensors) {
  int64_t sum = 0;
  for (int32_t i = 0; i < count; i++) {
    if (bytes[i] < 0 || bytes[i] > INT64_MAX - KILN_PLAN_ALIGNMENT)
      return false;
    tensors[i].bytes = (bytes[i] + KILN_PLAN_ALIGNMENT - 1) / KILN_PLAN_ALIGNMENT * KILN_PLAN_ALIGNMENT;
    if (__builtin_add_overflow(sum, tensors[i].bytes, &sum))
      return false;
  }
  return true;
}

static int64_t plan(const kiln_lifetime *lifetimes, int32_t count, tensor *tensors, const tensor **placed,
                    int64_t *offsets) {
  int64_t best = INT64_MAX;
  for (int order = 0; order < 2; order++) {
    for (int32_t i = 0; i < count; i++) {
      tensor *each = &tensors[i];
      if (order == 0) {
        each->index = i;
        each->first = lifetimes[i].first;
        each->last = lifetimes[i].last;
      }
      each->weight = (double)each->bytes * (order == 0 ? 1 : each->last - each->first + 1);
    }
    qsort(tensors, (size_t)count, sizeof *tensors, heavier_first);
    int64_t peak = place(tensors, count, placed);
    if (peak >= best)
      continue;
    best = peak;
    for (int32_t i = 0; i < count; i++)
      offsets[tensors[i].index] = tensors[i].offset;
  }
  return best;
}

int64_t kiln_plan(const kiln_lifetime *lifetimes, int32_t count, const int64_t *bytes, int64_t *offsets) {
  if (count == 0)
    return 0;
  tensor *tensors = calloc((size_t)count, sizeof *tensors);
  const tensor **placed = calloc((size_t)count, sizeof *placed);
  int64_t peak = -1;
  if (tensors && placed && round_sizes(bytes, count, tensors))
    peak = plan(lifetimes, count, tensors, placed, offsets);
  free(placed);
  free(tensors);
  return peak;
}
