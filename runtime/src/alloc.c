/*===- alloc.c - The caller's memory, or the C library's -----------------===*/
#include "alloc.h"

#include <stdlib.h>
#include <string.h>

void *kiln_allocate(const kiln_allocator *from, int64_t bytes, size_t alignment) {
  if (bytes < 0 || (uint64_t)bytes > PTRDIFF_MAX - alignment)
    return NULL;
  size_t rounded = ((size_t)bytes + alignment - 1) / alignment * alignment;
  if (!rounded)
    rounded = alignment;
  return from && from->allocate ? from->allocate(from->user, rounded, alignment) : aligned_alloc(alignment, rounded);
}

void *kiln_allocate_zeros(const kiln_allocator *from, int64_t count, size_t size) {
  if (count < 0 || (uint64_t)count > PTRDIFF_MAX / size)
    return NULL;
  size_t bytes = count ? (size_t)count * size : 1;
  void *memory = kiln_allocate(from, (int64_t)bytes, _Alignof(max_align_t));
  if (memory)
    memset(memory, 0, bytes);
  return memory;
}

void kiln_release(const kiln_allocator *from, void *memory) {
  if (!memory)
    return;
  if (from && from->allocate)
    from->release(from->user, memory);
  else
    free(memory);
}
