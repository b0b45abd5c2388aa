/*===- sequence_element.h - An element that is a list of tensors ----------===*/
#ifndef KILN_SRC_CALL_SEQUENCE_ELEMENT_H
#define KILN_SRC_CALL_SEQUENCE_ELEMENT_H

#include "../dtype.h"
#include "kiln/call.h"

#include <string.h>

#define KILN_NO_MEMORY_FOR_LIST "no memory for its sequence"
#define KILN_OUTSIDE_LIST "the position is outside the sequence"

/* Makes a position that may count from the end one from the front; false if there are not so many places. */
static inline bool kiln_find_place(int64_t *position, int64_t places) {
  if (*position < 0)
    *position += places;
  return *position >= 0 && *position < places;
}

static inline int64_t kiln_tensor_bytes(const kiln_tensor *tensor) {
  return kiln_element_count(tensor->dtype, tensor->rank, tensor->dims) * (int64_t)kiln_dtype_size(tensor->dtype);
}

/* Makes a tensor of the dtype, rank and sizes that the numbers of a call say. */
static inline kiln_tensor kiln_tensor_of(const int64_t *numbers, const void *data) {
  kiln_tensor tensor = {.data = (void *)data, .dtype = (kiln_dtype)numbers[0], .rank = (int32_t)numbers[1]};
  memcpy(tensor.dims, numbers + 2, (size_t)tensor.rank * sizeof *tensor.dims);
  return tensor;
}

/* Whether a tensor has the dtype, rank and sizes that the numbers of a call say. */
static inline bool kiln_is_like(const kiln_tensor *tensor, const int64_t *numbers) {
  return tensor->dtype == (kiln_dtype)numbers[0] && tensor->rank == numbers[1] &&
         memcmp(tensor->dims, numbers + 2, (size_t)tensor->rank * sizeof *tensor->dims) == 0;
}

/* Copies elements; bools that a caller gave become 0 or 1. */
static inline void kiln_copy_elements(void *to, const void *from, int64_t bytes, kiln_dtype dtype) {
  if (dtype == KILN_BOOL)
    for (int64_t i = 0; i < bytes; i++)
      ((uint8_t *)to)[i] = ((const uint8_t *)from)[i] != 0;
  else if (bytes > 0)
    memcpy(to, from, (size_t)bytes);
}

/* Memory for a tensor of a list. NULL: no memory is left. */
static inline void *kiln_keep_elements(kiln_scratch *scratch, int64_t bytes) {
  return scratch->keep(scratch, bytes > 0 ? bytes : 1);
}

/* A list with room for more, whose tensors the caller fills in; NULL: no memory. A free place has the rank -1.
 * */
static inline kiln_list *kiln_make_list(kiln_scratch *scratch, int64_t count, int64_t room) {
  if (room > INT64_MAX / 2 / (int64_t)sizeof(kiln_tensor))
    return NULL;
  kiln_list *list = scratch->keep(scratch, (int64_t)sizeof *list);
  kiln_tensor *tensors = list ? scratch->keep(scratch, (room > 0 ? room : 1) * (int64_t)sizeof *tensors) : NULL;
  if (!tensors)
    return NULL;
  for (int64_t i = count; i < room; i++)
    tensors[i].rank = -1;
  *list = (kiln_list){tensors, count, room};
  return list;
}

#endif
