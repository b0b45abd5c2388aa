/*===- heap.c - Memory that is released as a whole ------------------------===*/
#include "heap.h"

#include "alloc.h"

#define KILN_LEAST_CHUNK 4096
#define KILN_HEAP_ALIGNMENT 16

struct kiln_heap_chunk {
  struct kiln_heap_chunk *next;
  int64_t used, room; /* of `memory` */
  _Alignas(KILN_HEAP_ALIGNMENT) unsigned char memory[];
};

void *kiln_heap_alloc(kiln_heap *heap, const kiln_allocator *from, int64_t bytes) {
  struct kiln_heap_chunk *chunk = heap->chunks;
  if (bytes < 0 || bytes > INT64_MAX / 4)
    return NULL;
  bytes = (bytes + KILN_HEAP_ALIGNMENT - 1) / KILN_HEAP_ALIGNMENT * KILN_HEAP_ALIGNMENT;
  if (!chunk || chunk->room - chunk->used < bytes) {
    /* Each is twice as large as the last, so that there are few. */
    int64_t room = chunk && chunk->room < INT64_MAX / 4 ? chunk->room * 2 : KILN_LEAST_CHUNK;
    if (room < bytes)
      room = bytes;
    chunk = kiln_allocate(from, (int64_t)sizeof *chunk + room, KILN_HEAP_ALIGNMENT);
    if (!chunk)
      return NULL;
    chunk->next = heap->chunks;
    chunk->used = 0;
    chunk->room = room;
    heap->chunks = chunk;
  }
  void *memory = chunk->memory + chunk->used;
  chunk->used += bytes;
  return memory;
}

bool kiln_heap_has(const kiln_heap *heap, const void *memory) {
  uintptr_t at = (uintptr_t)memory;
  for (const struct kiln_heap_chunk *chunk = heap->chunks; chunk; chunk = chunk->next)
    if (at >= (uintptr_t)chunk->memory && at < (uintptr_t)(chunk->memory + chunk->used))
      return true;
  return false;
}

void kiln_heap_free(kiln_heap *heap, const kiln_allocator *from) {
  for (struct kiln_heap_chunk *chunk = heap->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    kiln_release(from, chunk);
  }
  heap->chunks = NULL;
}
