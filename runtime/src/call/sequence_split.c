/*===- sequence_split.c - A tensor in parts -----------------------------===*/
#include "sequence_element.h"

typedef struct axis_of {
  const char *data;
  int64_t outer, inner; /* how often the axis is there, and the bytes of one place along it */
} axis_of;

static bool take_part(kiln_scratch *scratch, const axis_of *axis, const kiln_tensor *x, int64_t along, int64_t first,
                      int64_t size, kiln_tensor *part) {
  int64_t bytes = size * axis->inner, step = x->dims[along] * axis->inner;
  char *data = kiln_keep_elements(scratch, axis->outer * bytes);
  for (int64_t k = 0; data && bytes > 0 && k < axis->outer; k++)
    memcpy(data + k * bytes, axis->data + k * step + first * axis->inner, (size_t)bytes);
  *part = *x;
  part->data = data;
  part->dims[along] = size;
  return data != NULL;
}

static void drop_axis(kiln_tensor *tensor, int64_t along) {
  tensor->rank--;
  for (int64_t k = along; k < tensor->rank; k++)
    tensor->dims[k] = tensor->dims[k + 1];
}

const char *kiln_call_sequence_split(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch) {
  kiln_sequence *result = buffers[0];
  const int64_t *given = buffers[2];
  int64_t along = sizes[0], count = sizes[1], keeps = sizes[2];
  kiln_tensor x = kiln_tensor_of(sizes + 3, buffers[1]);
  int64_t whole = x.dims[along], total = 0, equal = count < 0 ? given[0] : 0;
  if (count < 0 && equal <= 0)
    return "the size of the parts is not positive";
  if (count < 0)
    count = whole / equal + (whole % equal != 0);
  for (int64_t i = 0; !equal && i < count; i++)
    if (given[i] < 0 || __builtin_add_overflow(total, given[i], &total))
      return "the size of a part is negative or too large";
  if (!equal && total != whole)
    return "the parts do not make up the axis";
  axis_of axis = {buffers[1], 1, (int64_t)kiln_dtype_size(x.dtype)};
  for (int64_t k = 0; k < along; k++)
    axis.outer *= x.dims[k];
  for (int64_t k = along + 1; k < x.rank; k++)
    axis.inner *= x.dims[k];
  kiln_list *list = kiln_make_list(scratch, count, count);
  if (!list)
    return KILN_NO_MEMORY_FOR_LIST;
  for (int64_t i = 0, first = 0; i < count; i++) {
    int64_t rest = whole - first, size = !equal ? given[i] : equal < rest ? equal : rest;
    kiln_tensor *part = (kiln_tensor *)&list->tensors[i];
    if (!take_part(scratch, &axis, &x, along, first, size, part))
      return KILN_NO_MEMORY_FOR_LIST;
    if (!keeps)
      drop_axis(part, along);
    first += size;
  }
  *result = list;
  return NULL;
}
