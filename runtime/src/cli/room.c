/*===- room.c - Tensors in memory with room for more ---------------------===
 *
 * A file has a tensor's elements without gaps. In memory with room along an axis, every row along that axis begins
 * where the room of the one before it ends.
 *
 *===---------------------------------------------------------------------===*/
#include "../alias.h"
#include "../alloc.h"
#include "../dtype.h"
#include "kiln/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct rows {
  int64_t count;
  int64_t used, room; /* bytes of each */
} rows;

static rows rows_of(const kiln_alias *alias, const kiln_tensor *tensor) {
  rows all = {1, (int64_t)kiln_dtype_size(tensor->dtype), 0};
  for (int32_t axis = 0; axis < tensor->rank; axis++)
    *(axis < alias->axis ? &all.count : &all.used) *= tensor->dims[axis];
  int64_t size = tensor->dims[alias->axis];
  all.room = (int64_t)kiln_dtype_size(tensor->dtype) * alias->capacity;
  for (int32_t axis = alias->axis + 1; axis < tensor->rank; axis++)
    all.room *= tensor->dims[axis];
  all.used = size ? all.used : 0;
  return all;
}

static void copy_rows(char *to, int64_t to_step, const char *from, int64_t from_step, const rows *all) {
  for (int64_t row = 0; row < all->count && all->used > 0; row++)
    memcpy(to + row * to_step, from + row * from_step, (size_t)all->used);
}

bool kiln_room_give(const kiln_alias *alias, kiln_tensor *tensor) {
  if (alias->axis < 0 || alias->axis >= tensor->rank || tensor->dims[alias->axis] > alias->capacity)
    return true;
  kiln_port port = {.dtype = tensor->dtype, .rank = tensor->rank};
  int64_t bytes = kiln_memory_bytes(&port, alias, tensor->dims);
  char *memory = bytes < 0 ? NULL : kiln_allocate(NULL, bytes, KILN_ALIGNMENT);
  if (!memory)
    return false;
  rows all = rows_of(alias, tensor);
  memset(memory, 0, (size_t)bytes);
  copy_rows(memory, all.room, tensor->data, all.used, &all);
  free(tensor->data);
  tensor->data = memory;
  tensor->capacity = bytes;
  return true;
}

bool kiln_room_take(const kiln_alias *alias, kiln_tensor *tensor) {
  if (alias->axis < 0)
    return true;
  rows all = rows_of(alias, tensor);
  char *memory = kiln_allocate(NULL, all.count * all.used, KILN_ALIGNMENT);
  if (!memory)
    return false;
  copy_rows(memory, all.used, tensor->data, all.room, &all);
  tensor->data = memory;
  return true;
}
