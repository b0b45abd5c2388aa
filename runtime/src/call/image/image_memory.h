/*===- image_memory.h - What codecs of images work in --------------------===
 *
 * Libraries take memory and not all look whether they got it. Where a codec is one object with its library, these
 * functions take the place of libc's in it: where there is no memory they leave the codec, and what it had is freed as
 * a whole. A codec that is linked otherwise has libc's.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_SRC_CALL_IMAGE_IMAGE_MEMORY_H
#define KILN_SRC_CALL_IMAGE_IMAGE_MEMORY_H

#include <setjmp.h>
#include <stddef.h>

typedef struct kiln_image_memory {
  jmp_buf end; /* where to go when there is none */
  struct kiln_image_block *blocks;
} kiln_image_memory;

/* What this thread's allocations are of, until it leaves. */
void kiln_enter_codec(kiln_image_memory *memory);
/* Frees what is left of them. */
void kiln_leave_codec(kiln_image_memory *memory);

/* As libc's. */
void *kiln_image_malloc(size_t bytes);
void *kiln_image_calloc(size_t count, size_t bytes);
void *kiln_image_realloc(void *memory, size_t bytes);
int kiln_image_posix_memalign(void **memory, size_t alignment, size_t bytes);
void kiln_image_free(void *memory);

#endif
