/*===- replay.h - Launches between two waits, as one graph ----------------===*/
#ifndef KILN_DEVICE_CUDA_REPLAY_H
#define KILN_DEVICE_CUDA_REPLAY_H

#include "api.h"

#include <stdbool.h>
#include <stdint.h>

enum { CUDA_MOST_GRAPHS = 16, CUDA_MOST_SEEN = 64 };

/* The launches and copies of an island, one after the other, as words: equal steps have equal words. */
typedef struct cuda_island {
  uint64_t *words;
  size_t count, room;
} cuda_island;

typedef struct cuda_graph_entry {
  cuda_island island;
  cuda_graph_exec exec;
  uint64_t used; /* when last, counted in islands */
} cuda_graph_entry;

typedef struct cuda_replay {
  cuda_island island; /* since the last wait */
  int32_t steps;      /* in it */
  size_t issued;      /* how many of its words the stream has */
  uint64_t islands;
  uint64_t seen[CUDA_MOST_SEEN]; /* hashes of islands that were launched one by one */
  cuda_graph_entry graphs[CUDA_MOST_GRAPHS];
  cuda_graph_entry *follows; /* its island begins as this one has so far; NULL: none */
} cuda_replay;

struct cuda_state;

/* Adds a step to the island. It is issued at once unless the island is one that a graph may be launched for. */
cuda_result kiln_cuda_replay_step(struct cuda_state *state, const uint64_t *words, size_t count);

/* Ends the island: all of it is on the stream when this returns. One that comes a second time becomes a graph. */
cuda_result kiln_cuda_replay_flush(struct cuda_state *state);

void kiln_cuda_replay_close(struct cuda_state *state);

/* Puts the step at `words` on the stream. Returns how many words it has; 0: *code is the failure. */
size_t kiln_cuda_issue(struct cuda_state *state, const uint64_t *words, cuda_result *code);

#endif
