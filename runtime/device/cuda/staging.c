/*===- staging.c - Copies of memory that is paged -------------------------===
 *
 * The GPU reads and writes memory of the host by itself only if that is pinned, so that it never moves. Paged memory
 * goes through two pinned pieces in turn: while the GPU copies one, the host fills or empties the other.
 *
 *===---------------------------------------------------------------------===*/
#include "staging.h"

#include "state.h"

#include <stdint.h>
#include <string.h>

/* The bytes of a piece, and the fewest that are worth it: the driver sends fewer along with the command. */
#define PIECE ((size_t)1 << 21)
#define FEWEST ((size_t)1 << 16)

static bool is_pinned(const cuda_state *state, const void *data) {
  static const int attribute = CUDA_POINTER_MEMORY_TYPE;
  unsigned type = 0;
  void *values[] = {&type};
  return state->api.pointer_attributes(1, &attribute, values, (cuda_address)(uintptr_t)data) == 0 &&
         type == CUDA_MEMORY_HOST;
}

static bool has_pieces(cuda_state *state) {
  cuda_staging *staging = &state->staging;
  for (int i = 0; i < 2 && !staging->failed; i++) {
    struct cuda_piece *piece = &staging->pieces[i];
    if (!piece->memory && state->api.host_alloc(&piece->memory, PIECE, 0))
      piece->memory = NULL;
    if (piece->memory && !piece->copied && state->api.event_create(&piece->copied, CUDA_EVENT_DISABLE_TIMING))
      piece->copied = NULL;
    staging->failed = !piece->copied;
  }
  return !staging->failed;
}

cuda_result kiln_cuda_stage_in(cuda_state *state, cuda_address to, const void *from, size_t bytes) {
  bool pinned = is_pinned(state, from);
  /* A run on a caller's stream may return before pinned memory has been read, and the caller may then write to it. */
  bool direct = pinned ? !state->callers_stream : bytes < FEWEST;
  if (direct || !has_pieces(state)) {
    cuda_result code = state->api.copy(to, (cuda_address)(uintptr_t)from, bytes, state->stream);
    return code || direct || !pinned ? code : state->api.stream_synchronize(state->stream);
  }
  cuda_result code = 0;
  for (size_t done = 0; done < bytes && !code; done += PIECE) {
    struct cuda_piece *piece = &state->staging.pieces[state->staging.turn];
    size_t count = bytes - done < PIECE ? bytes - done : PIECE;
    code = state->api.event_synchronize(piece->copied);
    if (!code) {
      memcpy(piece->memory, (const char *)from + done, count);
      code = state->api.copy(to + done, (cuda_address)(uintptr_t)piece->memory, count, state->stream);
    }
    if (!code)
      code = state->api.event_record(piece->copied, state->stream);
    state->staging.turn = !state->staging.turn;
  }
  return code;
}

cuda_result kiln_cuda_stage_out(cuda_state *state, void *to, cuda_address from, size_t bytes) {
  if (bytes < FEWEST || is_pinned(state, to) || !has_pieces(state))
    return state->api.copy((cuda_address)(uintptr_t)to, from, bytes, state->stream);
  cuda_result code = 0;
  for (size_t asked = 0, done = 0; done < bytes && !code;) {
    for (; asked < bytes && asked - done < 2 * PIECE && !code; asked += PIECE) {
      struct cuda_piece *piece = &state->staging.pieces[asked / PIECE % 2];
      size_t count = bytes - asked < PIECE ? bytes - asked : PIECE;
      code = state->api.copy((cuda_address)(uintptr_t)piece->memory, from + asked, count, state->stream);
      if (!code)
        code = state->api.event_record(piece->copied, state->stream);
    }
    struct cuda_piece *piece = &state->staging.pieces[done / PIECE % 2];
    size_t count = bytes - done < PIECE ? bytes - done : PIECE;
    if (!code)
      code = state->api.event_synchronize(piece->copied);
    if (!code)
      memcpy((char *)to + done, piece->memory, count);
    done += count;
  }
  return code;
}

void kiln_cuda_staging_close(cuda_state *state) {
  for (int i = 0; i < 2; i++) {
    struct cuda_piece *piece = &state->staging.pieces[i];
    if (piece->copied)
      state->api.event_destroy(piece->copied);
    if (piece->memory)
      state->api.host_free(piece->memory);
  }
}
