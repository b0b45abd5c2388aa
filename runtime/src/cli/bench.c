/*===- bench.c - How long a run takes ------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "../clock.h"
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_WARM_UPS 10
#define SECONDS_BETWEEN_DRAWINGS 0.2

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

typedef struct unit {
  const char *name;
  double per_second;
} unit;

/* In which a time has digits before the point. */
static unit unit_of(double seconds) {
  return seconds < 1e-3 ? (unit){"us", 1e6} : seconds < 1 ? (unit){"ms", 1e3} : (unit){"s", 1};
}

static void report(double *seconds, int32_t runs) {
  qsort(seconds, (size_t)runs, sizeof *seconds, compare);
  double median = (seconds[(runs - 1) / 2] + seconds[runs / 2]) / 2;
  unit shown = unit_of(median);
  printf("median %.3f %s, min %.3f %s over %" PRId32 " runs\n", median * shown.per_second, shown.name,
         seconds[0] * shown.per_second, shown.name, runs);
}

static bool has_terminal(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

kiln_status kiln_cli_bench(kiln_context *context, const kiln_model *model, const kiln_tensor *inputs, int32_t runs,
                           bool quiet, kiln_text *cause) {
  double *seconds = calloc((size_t)runs, sizeof *seconds);
  kiln_tensor *outputs = calloc((size_t)model->output_count + 1, sizeof *outputs);
  kiln_status status = KILN_OK;
  if (!seconds || !outputs) {
    kiln_text_add(cause, "no memory to time %" PRId32 " runs", runs);
    status = KILN_OUT_OF_MEMORY;
  }
  int32_t warm_ups = runs < MOST_WARM_UPS ? runs : MOST_WARM_UPS;
  bool draws = !quiet && has_terminal();
  double drawn = 0;
  for (int32_t i = -warm_ups; i < runs && !status; i++) {
    double begin = kiln_seconds();
    if (draws && (i == -warm_ups || begin - drawn > SECONDS_BETWEEN_DRAWINGS)) {
      fprintf(stderr, "\r\033[K%s: run %" PRId32 " of %" PRId32, i < 0 ? "warming up" : "timing",
              i < 0 ? i + warm_ups + 1 : i + 1, i < 0 ? warm_ups : runs);
      drawn = begin = kiln_seconds();
    }
    if ((status = kiln_run(context, inputs, model->input_count, outputs, model->output_count)))
      kiln_text_add(cause, "%s", kiln_context_error(context));
    if (i >= 0)
      seconds[i] = kiln_seconds() - begin;
  }
  if (draws)
    fputs("\r\033[K", stderr);
  if (!status)
    report(seconds, runs);
  free(outputs);
  free(seconds);
  return status;
}
