/*===- spans.h - The spans of a program's runs ---------------------------===*/
#ifndef KILN_CLI_SPANS_H
#define KILN_CLI_SPANS_H

#include "profile.h"

#include <stdatomic.h>

enum { WATCHED_THREADS = 1024 };

typedef struct span_list {
  kiln_span *spans;
  size_t count, room;
  bool is_cut; /* there was no memory for more */
} span_list;

struct kiln_profile {
  _Atomic bool is_on;
  int32_t runs;
  double begin;
  double *run_seconds; /* of each run */
  span_list launches, threads[WATCHED_THREADS];
};

/* Whether all spans are kept; if not, KILN_OUT_OF_MEMORY with one line in `cause`. */
kiln_status kiln_profile_check(const kiln_profile *profile, kiln_text *cause);

#endif
