/*===- heap.h - Memory that is released as a whole ------------------------===*/
#ifndef KILN_SRC_HEAP_H
#define KILN_SRC_HEAP_H

#include "kiln/types.h"

#include <stdbool.h>

/* Holds strings and sequences. A zeroed one is empty. */
typedef struct kiln_heap {
  struct kiln_heap_chunk *chunks; /* the newest first */
} kiln_heap;

/* At a multiple of 16. NULL if there is no memory. `from` is the same in all calls for a heap. */
void *kiln_heap_alloc(kiln_heap *heap, const kiln_allocator *from, int64_t bytes);
/* Whether it has given this memory out. */
bool kiln_heap_has(const kiln_heap *heap, const void *memory);
/* Releases everything; the heap is empty then. */
void kiln_heap_free(kiln_heap *heap, const kiln_allocator *from);

#endif
