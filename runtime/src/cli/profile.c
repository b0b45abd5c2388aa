/*===- profile.c - Where the time of a program's runs goes ---------------===
 *
 * While a run is watched each launch is waited for, so the spans of launches follow one another and their sum is the
 * time of the kernels. The rest of a run is the host's: checks of inputs, sizes, copies of tensors that are not
 * aligned. Threads report their parts themselves, so each has a list of its own and none waits for another; the lists
 * are read when the threads have ended.
 *
 *===---------------------------------------------------------------------===*/
#include "../clock.h"
#include "file.h"
#include "json_text.h"
#include "spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 3 };

kiln_profile *kiln_profile_create(void) { return calloc(1, sizeof(kiln_profile)); }

void kiln_profile_destroy(kiln_profile *profile) {
  if (!profile)
    return;
  free(profile->launches.spans);
  for (int i = 0; i < WATCHED_THREADS; i++)
    free(profile->threads[i].spans);
  free(profile->run_seconds);
  free(profile);
}

void kiln_profile_span(void *user, const kiln_span *span) {
  kiln_profile *profile = user;
  if (!atomic_load(&profile->is_on) || span->thread >= WATCHED_THREADS)
    return;
  if (span->begin < profile->begin) /* of a run to warm up, told late */
    return;
  span_list *list = span->thread < 0 ? &profile->launches : &profile->threads[span->thread];
  if (list->count == list->room) {
    size_t room = list->room ? 2 * list->room : 256;
    kiln_span *grown = realloc(list->spans, room * sizeof *grown);
    list->is_cut |= !grown;
    if (!grown)
      return;
    list->spans = grown;
    list->room = room;
  }
  list->spans[list->count++] = *span;
}

kiln_status kiln_profile_runs(kiln_profile *profile, kiln_context *context, const kiln_model *model,
                              const kiln_tensor *inputs, int32_t runs, kiln_text *cause) {
  kiln_tensor *outputs = calloc((size_t)model->output_count + 1, sizeof *outputs);
  profile->run_seconds = calloc((size_t)runs + 1, sizeof *profile->run_seconds);
  if (!outputs || !profile->run_seconds) {
    free(outputs);
    kiln_text_add(cause, "no memory to profile");
    return KILN_OUT_OF_MEMORY;
  }
  kiln_status status = KILN_OK;
  for (int32_t i = -WARM_UPS; i < runs && !status; i++) {
    double begin = kiln_seconds();
    if (i == 0) {
      profile->begin = begin;
      atomic_store(&profile->is_on, true);
    }
    if ((status = kiln_run(context, inputs, model->input_count, outputs, model->output_count)))
      kiln_text_add(cause, "%s", kiln_context_error(context));
    if (i >= 0)
      profile->run_seconds[i] = kiln_seconds() - begin;
  }
  profile->runs = runs;
  free(outputs);
  return status;
}

kiln_status kiln_profile_check(const kiln_profile *profile, kiln_text *cause) {
  bool is_cut = profile->launches.is_cut;
  for (int i = 0; i < WATCHED_THREADS; i++)
    is_cut |= profile->threads[i].is_cut;
  if (is_cut)
    kiln_text_add(cause, "no memory to profile %" PRId32 " runs; give fewer with --bench=N", profile->runs);
  return is_cut ? KILN_OUT_OF_MEMORY : KILN_OK;
}

/* A row's name. Rows are threads to Chrome: 0 is that of the launches, 1 the caller's thread, and so on. */
static void write_row(FILE *file, int row, const char *name) {
  fprintf(file, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":", row);
  kiln_json_put(file, name);
  fputs("}},\n", file);
}

static void write_spans(const kiln_profile *profile, FILE *file, int row, const span_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    const kiln_span *span = &list->spans[i];
    fputs("{\"name\":", file);
    kiln_json_put(file, span->name);
    fprintf(file, ",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f", row,
            (span->begin - profile->begin) * 1e6, (span->end - span->begin) * 1e6);
    if (span->thread < 0) {
      fputs(",\"args\":{\"nodes\":", file);
      kiln_json_put(file, span->origin);
      fprintf(file, ",\"operations\":%" PRId64 ",\"bytes\":%" PRId64 "}", span->operations, span->bytes);
    }
    fputs("},\n", file);
  }
}

typedef struct trace {
  const kiln_profile *profile;
  const kiln_model *model;
} trace;

static bool write_trace(FILE *file, const void *user) {
  const kiln_profile *profile = ((const trace *)user)->profile;
  const kiln_model *model = ((const trace *)user)->model;
  char name[80];
  kiln_text text = kiln_text_in(name, sizeof name);
  for (int32_t i = 0; i < model->device_count; i++)
    kiln_text_add(&text, "%s%.20s", i ? ", " : "", model->devices[i].device->name);
  kiln_text_add(&text, ": launches");
  fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", file);
  write_row(file, 0, name);
  write_spans(profile, file, 0, &profile->launches);
  for (int i = 0; i < WATCHED_THREADS; i++) {
    if (!profile->threads[i].count)
      continue;
    snprintf(name, sizeof name, "thread %d", i);
    write_row(file, i + 1, name);
    write_spans(profile, file, i + 1, &profile->threads[i]);
  }
  fputs("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":", file);
  kiln_json_put(file, model->name);
  fputs("}}]}\n", file);
  return !ferror(file);
}

kiln_status kiln_profile_write(const kiln_profile *profile, const kiln_model *model, const char *path,
                               kiln_text *cause) {
  kiln_status status = kiln_profile_check(profile, cause);
  if (status)
    return status;
  kiln_text_add(cause, "%s: cannot be written: ", path);
  status = kiln_file_write(path, write_trace, &(trace){profile, model}, cause);
  if (status)
    kiln_text_add(cause, "; name another place with --profile=FILE");
  return status;
}
