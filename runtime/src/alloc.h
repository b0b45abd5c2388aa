/*===- alloc.h - The caller's memory, or the C library's -----------------===*/
#ifndef KILN_SRC_ALLOC_H
#define KILN_SRC_ALLOC_H

#include "kiln/types.h"

/* NULL if there is no memory or the size wraps. `from` may be NULL: the C library, whose large blocks lie in huge pages
 * if the system has them. Release the memory by kiln_release with the same `from`. */
void *kiln_allocate(const kiln_allocator *from, int64_t bytes, size_t alignment);
/* Zeroed room for `count` items, also for none. */
void *kiln_allocate_zeros(const kiln_allocator *from, int64_t count, size_t size);
void kiln_release(const kiln_allocator *from, void *memory);

#endif
