/*===- plan.c - Place tensors in one arena by their lifetimes ------------===
 * Each tensor, in order, goes to the lowest place that is free while it lives. Largest first is best if tensors live
 * equally long, largest in bytes times steps if some outlive many; the better of the two is taken. A plan that needs
 * more than lives at one step is repaired a few times, unless there are very many tensors.
 *===---------------------------------------------------------------------===*/
#include "kiln/plan.h"

#include "alloc.h"

#include <stdbool.h>
#include <stdlib.h>

#define MOST_REPAIRS 16
#define MOST_REPAIRED 1000

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

/* The most bytes that live at one step; each such step is some tensor's first. */
static int64_t live_bytes(const tensor *tensors, int32_t count) {
  int64_t most = 0;
  for (int32_t i = 0; i < count; i++) {
    int64_t live = 0;
    for (int32_t j = 0; j < count; j++)
      if (tensors[j].first <= tensors[i].first && tensors[i].first <= tensors[j].last)
        live += tensors[j].bytes;
    most = live > most ? live : most;
  }
  return most;
}

/* Places them from the heaviest on; keeps the offsets if they are the best so far. */
static void try_order(tensor *tensors, int32_t count, const tensor **placed, int64_t *offsets, int64_t *best) {
  qsort(tensors, (size_t)count, sizeof *tensors, heavier_first);
  int64_t peak = place(tensors, count, placed);
  if (peak >= *best)
    return;
  *best = peak;
  for (int32_t i = 0; i < count; i++)
    offsets[tensors[i].index] = tensors[i].offset;
}

static int64_t plan(tensor *tensors, int32_t count, const tensor **placed, int64_t *offsets) {
  int64_t least = live_bytes(tensors, count), best = INT64_MAX;
  for (int by_steps = 0; by_steps < 2 && best > least; by_steps++) {
    for (int32_t i = 0; i < count; i++) {
      tensor *each = &tensors[i];
      each->weight = (double)each->bytes * (by_steps ? each->last - each->first + 1 : 1);
    }
    try_order(tensors, count, placed, offsets, &best);
    /* The tensor that ended up highest had to give way to others: it now goes before them. */
    for (int repair = 0; repair < MOST_REPAIRS && count <= MOST_REPAIRED && best > least; repair++) {
      tensor *highest = &tensors[0];
      for (int32_t i = 1; i < count; i++)
        if (tensors[i].offset + tensors[i].bytes > highest->offset + highest->bytes)
          highest = &tensors[i];
      highest->weight += tensors[0].weight;
      try_order(tensors, count, placed, offsets, &best);
    }
  }
  return best;
}

int64_t kiln_plan(const kiln_lifetime *lifetimes, int32_t count, const int64_t *bytes, int64_t *offsets,
                  const kiln_allocator *memory) {
  if (count == 0)
    return 0;
  tensor *tensors = kiln_allocate_zeros(memory, count, sizeof *tensors);
  const tensor **placed = kiln_allocate_zeros(memory, count, sizeof *placed);
  int64_t peak = -1;
  if (tensors && placed && round_sizes(bytes, count, tensors)) {
    for (int32_t i = 0; i < count; i++) {
      tensors[i].index = i;
      tensors[i].first = lifetimes[i].first;
      tensors[i].last = lifetimes[i].last;
    }
    peak = plan(tensors, count, placed, offsets);
  }
  kiln_release(memory, placed);
  kiln_release(memory, tensors);
  return peak;
}
