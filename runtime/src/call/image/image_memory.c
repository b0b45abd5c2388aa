/*===- image_memory.c - Memory of the codecs of images -------------------===*/
#include "image_memory.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KILN_IMAGE_ALIGNMENT 32

typedef struct kiln_image_block {
  alignas(KILN_IMAGE_ALIGNMENT) struct kiln_image_block *next;
  struct kiln_image_block **link; /* what points here; NULL: nothing, it is a library's own thread's */
  size_t bytes;
} kiln_image_block;

static _Thread_local kiln_image_memory *kiln_codec_now;

void kiln_enter_codec(kiln_image_memory *memory) {
  memory->blocks = NULL;
  kiln_codec_now = memory;
}

void kiln_leave_codec(kiln_image_memory *memory) {
  for (kiln_image_block *block = memory->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  kiln_codec_now = NULL;
}

/* NULL if nothing is to be left. */
static void *no_image_memory(void) {
  if (kiln_codec_now)
    longjmp(kiln_codec_now->end, 1);
  return NULL;
}

void *kiln_image_malloc(size_t bytes) {
  kiln_image_block *block = NULL;
  if (bytes < SIZE_MAX / 2) {
    size_t room = (bytes + KILN_IMAGE_ALIGNMENT - 1) / KILN_IMAGE_ALIGNMENT * KILN_IMAGE_ALIGNMENT;
    block = aligned_alloc(KILN_IMAGE_ALIGNMENT, sizeof *block + room);
  }
  if (!block)
    return no_image_memory();
  *block = (kiln_image_block){NULL, NULL, bytes};
  if (kiln_codec_now) {
    block->next = kiln_codec_now->blocks;
    block->link = &kiln_codec_now->blocks;
    if (block->next)
      block->next->link = &block->next;
    kiln_codec_now->blocks = block;
  }
  return block + 1;
}

void kiln_image_free(void *memory) {
  if (!memory)
    return;
  kiln_image_block *block = (kiln_image_block *)memory - 1;
  if (block->link)
    *block->link = block->next;
  if (block->next)
    block->next->link = block->link;
  free(block);
}

void *kiln_image_calloc(size_t count, size_t bytes) {
  if (count && bytes > SIZE_MAX / count)
    return no_image_memory();
  void *memory = kiln_image_malloc(count * bytes);
  if (memory)
    memset(memory, 0, count * bytes);
  return memory;
}

void *kiln_image_realloc(void *memory, size_t bytes) {
  void *more = kiln_image_malloc(bytes);
  if (more && memory) {
    size_t had = ((kiln_image_block *)memory - 1)->bytes;
    memcpy(more, memory, had < bytes ? had : bytes);
    kiln_image_free(memory);
  }
  return more;
}

int kiln_image_posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = alignment <= KILN_IMAGE_ALIGNMENT ? kiln_image_malloc(bytes) : no_image_memory();
  return *memory ? 0 : ENOMEM;
}
