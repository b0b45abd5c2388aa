/*===- staging.h - Copies of memory that is paged -------------------------===*/
#ifndef KILN_DEVICE_CUDA_STAGING_H
#define KILN_DEVICE_CUDA_STAGING_H

#include "api.h"

#include <stdbool.h>
#include <stddef.h>

struct cuda_state;

typedef struct cuda_staging {
  struct cuda_piece {
    void *memory; /* pinned; NULL: not made yet */
    cuda_event copied;
  } pieces[2];
  int turn;    /* the piece that is filled next */
  bool failed; /* the driver has no such memory: copies are left to it */
} cuda_staging;

/* Puts a copy to the GPU on the stream. All of `from` has been read when this returns; it waits for the stream only if
 * the copy is larger than two pieces. */
cuda_result kiln_cuda_stage_in(struct cuda_state *state, cuda_address to, const void *from, size_t bytes);

/* Copies from the GPU. The stream has nothing else to do; the last part may still be on it. */
cuda_result kiln_cuda_stage_out(struct cuda_state *state, void *to, cuda_address from, size_t bytes);

void kiln_cuda_staging_close(struct cuda_state *state);

#endif
