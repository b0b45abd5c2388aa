/*===- alloc.c - The caller's memory, or the C library's -----------------===*/
#define _GNU_SOURCE /* madvise */
#include "alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#define HUGE_PAGE ((size_t)2 << 20)

void *kiln_allocate(const kiln_allocator *from, int64_t bytes, size_t alignment) {
  bool is_ours = !from || !from->allocate;
  /* A large block has thousands of small pages. The system enters each when it is first written to, a processor looks
   * ahead to its end at most, and a walk along a matrix' columns misses the cache of the page table. */
  bool is_large = is_ours && bytes >= 2 * (int64_t)HUGE_PAGE && alignment <= HUGE_PAGE;
  if (is_large)
    alignment = HUGE_PAGE;
  if (bytes < 0 || (uint64_t)bytes > PTRDIFF_MAX - alignment)
    return NULL;
  size_t rounded = ((size_t)bytes + alignment - 1) / alignment * alignment;
  if (!rounded)
    rounded = alignment;
  void *memory = is_ours ? aligned_alloc(alignment, rounded) : from->allocate(from->user, rounded, alignment);
#ifdef MADV_HUGEPAGE
  if (memory && is_large)
    madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
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
