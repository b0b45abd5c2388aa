/*===- image_memory.h - Memory of the codecs of images -------------------===
 *
 * Libraries allocate memory and some do not check whether they got it. If a codec is one object with its library, these
 * functions replace libc's in it: without memory they leave the codec, and all its blocks are freed together. A codec
 * that is linked otherwise has libc's.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_SRC_CALL_IMAGE_IMAGE_MEMORY_H
#define KILN_SRC_CALL_IMAGE_IMAGE_MEMORY_H

#include <setjmp.h>
#include <stddef.h>

typedef struct kiln_image_memory {
  jmp_buf end; /* where to go if there is none */
  struct kiln_image_block *blocks;
} kiln_image_memory;

/* The codec whose allocations this thread makes, until it leaves. */
void kiln_enter_codec(kiln_image_memory *memory);
/* Frees the rest of them. */
void kiln_leave_codec(kiln_image_memory *memory);

/* As libc's. */
void *kiln_image_malloc(size_t bytes);
void *kiln_image_calloc(size_t count, size_t bytes);
void *kiln_image_realloc(void *memory, size_t bytes);
int kiln_image_posix_memalign(void **memory, size_t alignment, size_t bytes);
void kiln_image_free(void *memory);

#endif
