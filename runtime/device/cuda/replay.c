/*===- replay.c - Launches between two waits, as one graph ----------------===
 *
 * A launch costs the host a few microseconds, and the device a pause before it. A model launches the same kernels with
 * the same arguments in every run of the same sizes, so the work between two waits, an island, is recorded. The second
 * time that an island ends, it is captured into a CUDA graph. From then on its launches are held back while they match
 * the graph's, and the graph is launched in their place. If an island takes another turn, the launches held back run as
 * they came: only time depends on the guess.
 *
 *===---------------------------------------------------------------------===*/
#include "replay.h"

#include "state.h"

#include <stdlib.h>
#include <string.h>

/* Fewer are as fast one by one. */
enum { FEWEST_STEPS = 3 };

static bool add(cuda_island *island, const uint64_t *words, size_t count) {
  if (island->count + count > island->room) {
    size_t room = 2 * (island->count + count);
    uint64_t *grown = realloc(island->words, room * sizeof *grown);
    if (!grown)
      return false;
    island->words = grown;
    island->room = room;
  }
  memcpy(island->words + island->count, words, count * sizeof *words);
  island->count += count;
  return true;
}

/* Whether the island from word `from` on equals a graph's at that place. */
static bool begins(const cuda_replay *replay, const cuda_graph_entry *graph, size_t from) {
  return graph->exec && graph->island.count >= replay->island.count &&
         memcmp(graph->island.words + from, replay->island.words + from,
                (replay->island.count - from) * sizeof(uint64_t)) == 0;
}

static cuda_graph_entry *find(cuda_replay *replay, bool whole) {
  for (int i = 0; i < CUDA_MOST_GRAPHS; i++)
    if (begins(replay, &replay->graphs[i], 0) && !(whole && replay->graphs[i].island.count > replay->island.count))
      return &replay->graphs[i];
  return NULL;
}

static void clear(cuda_replay *replay) {
  replay->island.count = replay->issued = 0;
  replay->steps = 0;
  replay->follows = NULL;
}

/* Puts the steps that were held back on the stream; nothing is left of an island that fails. */
static cuda_result issue_rest(cuda_state *state) {
  cuda_replay *replay = &state->replay;
  cuda_result code = 0;
  replay->follows = NULL;
  while (replay->issued < replay->island.count) {
    size_t words = kiln_cuda_issue(state, replay->island.words + replay->issued, &code);
    if (!words) {
      clear(replay);
      return code;
    }
    replay->issued += words;
  }
  return 0;
}

cuda_result kiln_cuda_replay_step(cuda_state *state, const uint64_t *words, size_t count) {
  cuda_replay *replay = &state->replay;
  size_t before = replay->island.count;
  if (!add(&replay->island, words, count))
    return CUDA_OUT_OF_MEMORY;
  replay->steps++;
  if (before == 0 || (replay->follows && !begins(replay, replay->follows, before)))
    replay->follows = find(replay, /*whole=*/false);
  return replay->follows ? 0 : issue_rest(state);
}

static uint64_t hash_of(const cuda_island *island) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325) + island->count;
  for (size_t i = 0; i < island->count; i++)
    hash = (hash ^ island->words[i]) * UINT64_C(0x100000001b3) ^ hash >> 29;
  return hash;
}

static void drop(cuda_state *state, cuda_graph_entry *graph) {
  if (graph->exec)
    state->api.graph_exec_destroy(graph->exec);
  free(graph->island.words);
  *graph = (cuda_graph_entry){0};
}

/* Captures the island, which has run, for the next time. A driver that refuses leaves things as they are. */
static void capture(cuda_state *state) {
  cuda_replay *replay = &state->replay;
  cuda_graph_entry *oldest = &replay->graphs[0], made = {.used = replay->islands};
  for (int i = 1; i < CUDA_MOST_GRAPHS; i++)
    if (replay->graphs[i].used < oldest->used)
      oldest = &replay->graphs[i];
  cuda_graph graph = NULL;
  if (!add(&made.island, replay->island.words, replay->island.count) ||
      state->api.stream_begin_capture(state->stream, CUDA_CAPTURE_THREAD_LOCAL)) {
    free(made.island.words);
    return;
  }
  cuda_result code = 0;
  for (size_t at = 0, words = 1; at < replay->island.count && words; at += words)
    words = kiln_cuda_issue(state, replay->island.words + at, &code);
  cuda_result ended = state->api.stream_end_capture(state->stream, &graph);
  if (!code && !ended && graph && state->api.graph_instantiate(&made.exec, graph, 0) == 0) {
    drop(state, oldest);
    *oldest = made;
  } else {
    free(made.island.words);
  }
  if (graph)
    state->api.graph_destroy(graph);
}

cuda_result kiln_cuda_replay_flush(cuda_state *state) {
  cuda_replay *replay = &state->replay;
  if (replay->island.count == 0)
    return 0;
  replay->islands++;
  cuda_result code = 0;
  cuda_graph_entry *graph = replay->follows;
  if (graph && graph->island.count != replay->island.count)
    graph = find(replay, /*whole=*/true);
  if (graph) {
    graph->used = replay->islands;
    code = state->api.graph_launch(graph->exec, state->stream);
  } else {
    code = issue_rest(state);
  }
  if (!graph && !code && replay->steps >= FEWEST_STEPS) {
    uint64_t hash = hash_of(&replay->island), *seen = &replay->seen[hash % CUDA_MOST_SEEN];
    if (*seen == hash)
      capture(state);
    *seen = hash;
  }
  clear(replay);
  return code;
}

void kiln_cuda_replay_close(cuda_state *state) {
  for (int i = 0; i < CUDA_MOST_GRAPHS; i++)
    drop(state, &state->replay.graphs[i]);
  free(state->replay.island.words);
}
