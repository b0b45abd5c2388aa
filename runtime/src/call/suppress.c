/*===- suppress.c - The best of boxes that overlap -----------------------===*/
#include "kiln/call.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct box {
  float left, right, top, bottom;
} box;

static box box_at(const float *corners, bool is_centered) {
  float a = corners[0], b = corners[1], c = corners[2], d = corners[3];
  if (is_centered)
    return (box){a - c / 2, a + c / 2, b - d / 2, b + d / 2};
  return (box){b < d ? b : d, b < d ? d : b, a < c ? a : c, a < c ? c : a};
}

static float area_of(box b) { return (b.right - b.left) * (b.bottom - b.top); }

static bool overlap_more(box a, box b, float most) {
  box common = {a.left > b.left ? a.left : b.left, a.right < b.right ? a.right : b.right, a.top > b.top ? a.top : b.top,
                a.bottom < b.bottom ? a.bottom : b.bottom};
  if (common.right <= common.left || common.bottom <= common.top)
    return false;
  float both = area_of(common), either = area_of(a) + area_of(b) - both;
  return area_of(a) > 0 && area_of(b) > 0 && either > 0 && both / either > most;
}

typedef struct candidate {
  float score;
  int64_t box;
} candidate;

/* The highest score first, of equal ones the first box. */
static int compare_candidates(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  if (a->score != b->score)
    return a->score < b->score ? 1 : -1;
  return (a->box > b->box) - (a->box < b->box);
}

const char *kiln_call_suppress(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  int64_t *selected = buffers[0], *count = buffers[1];
  const float *boxes = buffers[2], *scores = buffers[3];
  int64_t most = *(const int64_t *)buffers[4];
  float most_overlap = *(const float *)buffers[5], least_score = *(const float *)buffers[6];
  int64_t batches = sizes[0], classes = sizes[1], n = sizes[2], found = 0;
  bool is_centered = sizes[3] != 0, has_least = sizes[4] != 0;
  candidate *candidates = scratch->reserve(scratch, n * (int64_t)sizeof *candidates);
  if (!candidates)
    return "no memory to sort the boxes";
  for (int64_t each = 0; each < batches * classes; each++) {
    const float *corners = boxes + each / classes * n * 4;
    int64_t left = 0, begin = found;
    for (int64_t i = 0; i < n; i++)
      if (!has_least || scores[each * n + i] > least_score)
        candidates[left++] = (candidate){scores[each * n + i], i};
    qsort(candidates, (size_t)left, sizeof *candidates, compare_candidates);
    for (int64_t i = 0; i < left && found - begin < most; i++) {
      box mine = box_at(corners + candidates[i].box * 4, is_centered);
      bool is_kept = true;
      for (int64_t k = begin; is_kept && k < found; k++)
        is_kept = !overlap_more(mine, box_at(corners + selected[k * 3 + 2] * 4, is_centered), most_overlap);
      if (!is_kept)
        continue;
      selected[found * 3] = each / classes;
      selected[found * 3 + 1] = each % classes;
      selected[found++ * 3 + 2] = candidates[i].box;
    }
  }
  *count = found;
  return NULL;
}
