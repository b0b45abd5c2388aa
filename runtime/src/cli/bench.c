/*===- bench.c - How long a run takes ------------------------------------===*/
#include "../clock.h"
#include "cli.h"
#include "json_text.h"
#include "median.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WARM_UPS 10
#define SECONDS_BETWEEN_DRAWINGS 0.2

void kiln_cli_print_sizes(const kiln_model *model, const int64_t *sizes) {
  for (int32_t i = 0; i < model->symbol_count; i++) {
    fputs(i ? ", " : " at ", stdout);
    kiln_cli_put(stdout, model->symbols[i].name);
    printf(" = %" PRId64, sizes[i]);
  }
}

/* Always in microseconds, so that scripts need not look for a unit. */
static void report(double *seconds, const kiln_model *model, const kiln_args *args, const int64_t *sizes) {
  int32_t runs = args->bench;
  double median = kiln_median(seconds, runs) * 1e6, least = seconds[0] * 1e6;
  if (args->json) {
    kiln_json_begin(stdout, model);
    printf(",\"runs\":%" PRId32 ",\"median_us\":%.3f,\"min_us\":%.3f", runs, median, least);
    kiln_json_sizes(stdout, model, sizes);
    puts("}");
    return;
  }
  printf("median %.3f us, min %.3f us over %" PRId32 " run%s", median, least, runs, runs == 1 ? "" : "s");
  kiln_cli_print_sizes(model, sizes);
  putchar('\n');
}

kiln_status kiln_cli_bench(kiln_context *context, const kiln_model *model, const kiln_args *args,
                           const kiln_tensor *inputs, const int64_t *sizes, kiln_text *cause) {
  int32_t runs = args->bench;
  double *seconds = calloc((size_t)runs, sizeof *seconds);
  kiln_tensor *outputs = calloc((size_t)model->output_count + 1, sizeof *outputs);
  kiln_status status = KILN_OK;
  if (!seconds || !outputs) {
    kiln_text_add(cause, "no memory to time %" PRId32 " runs", runs);
    status = KILN_OUT_OF_MEMORY;
  }
  int32_t warm_ups = runs < MOST_WARM_UPS ? runs : MOST_WARM_UPS;
  bool draws = !args->quiet && kiln_has_terminal();
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
    report(seconds, model, args, sizes);
  free(outputs);
  free(seconds);
  return status;
}
