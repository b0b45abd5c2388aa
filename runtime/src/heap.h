/*===- heap.h - Memory that is given back as a whole ----------------------===*/
#ifndef KILN_SRC_HEAP_H
#define KILN_SRC_HEAP_H

#include "kiln/types.h"

#include <stdbool.h>

/* Where strings and sequences lie. A zeroed one is empty. */
typedef struct kiln_heap {
  struct kiln_heap_chunk *chunks; /* the newest first */
} kiln_heap;

/* At a multiple of 16. NULL where there is no memory. `from` is the same for all that is done with a heap. */
void *kiln_heap_alloc(kiln_heap *heap, const kiln_allocator *from, int64_t bytes);
/* Whether it has given this memory out. */
bool kiln_heap_has(const kiln_heap *heap, const void *memory);
/* Gives everything back; the heap is empty then. */
void kiln_heap_free(kiln_heap *heap, const kiln_allocator *from);

#endif
