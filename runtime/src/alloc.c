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

/* Of small pages a large block has thousands: the system enters each when it is first written to, a processor looks
 * ahead to its end at most, and what walks a matrix column by column misses the cache of the page table. */
static void *allocate_pages(size_t bytes, size_t alignment) {
  bool is_large = bytes >= 2 * HUGE_PAGE && alignment <= HUGE_PAGE;
  if (!is_large)
    return aligned_alloc(alignment, bytes);
  bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *memory = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
  if (memory)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void *kiln_allocate(const kiln_allocator *from, int64_t bytes, size_t alignment) {
  if (bytes < 0 || (uint64_t)bytes > PTRDIFF_MAX - 2 * HUGE_PAGE - alignment)
    return NULL;
  size_t rounded = ((size_t)bytes + alignment - 1) / alignment * alignment;
  if (!rounded)
    rounded = alignment;
  return from && from->allocate ? from->allocate(from->user, rounded, alignment) : allocate_pages(rounded, alignment);
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
