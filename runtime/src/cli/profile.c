/*===- profile.c - Where the time of a program's runs goes ---------------===
 *
 * While a run is watched each launch is waited for, so the spans of launches follow one another and their sum is the
 * time that kernels take; the rest of a run is the host's: checks of inputs, sizes, copies of what lies askew. Threads
 * tell of their parts from where they are, so each has a list of its own and none waits for another; the lists are read
 * when the threads have ended.
 *
 *===---------------------------------------------------------------------===*/
#include "profile.h"

#include "../clock.h"
#include "cli.h"
#include "file.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHED_THREADS = 1024, WARM_UPS = 3 };

typedef struct span_list {
  kiln_span *spans;
  size_t count, room;
  bool is_cut; /* there was no memory for more */
} span_list;

struct kiln_profile {
  _Atomic bool is_on;
  int32_t runs;
  double begin, seconds; /* of all runs */
  span_list launches, threads[WATCHED_THREADS];
};

kiln_profile *kiln_profile_create(void) { return calloc(1, sizeof(kiln_profile)); }

void kiln_profile_destroy(kiln_profile *profile) {
  if (!profile)
    return;
  free(profile->launches.spans);
  for (int i = 0; i < WATCHED_THREADS; i++)
    free(profile->threads[i].spans);
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
  if (!outputs) {
    kiln_text_add(cause, "no memory to profile");
    return KILN_OUT_OF_MEMORY;
  }
  kiln_status status = KILN_OK;
  for (int32_t i = -WARM_UPS; i < runs && !status; i++) {
    if (i == 0) {
      profile->begin = kiln_seconds();
      atomic_store(&profile->is_on, true);
    }
    if ((status = kiln_run(context, inputs, model->input_count, outputs, model->output_count)))
      kiln_text_add(cause, "%s", kiln_context_error(context));
  }
  profile->seconds = kiln_seconds() - profile->begin;
  profile->runs = runs;
  free(outputs);
  return status;
}

static kiln_status check_whole(const kiln_profile *profile, kiln_text *cause) {
  bool is_cut = profile->launches.is_cut;
  for (int i = 0; i < WATCHED_THREADS; i++)
    is_cut |= profile->threads[i].is_cut;
  if (is_cut)
    kiln_text_add(cause, "no memory to profile %" PRId32 " runs; give fewer with --bench=N", profile->runs);
  return is_cut ? KILN_OUT_OF_MEMORY : KILN_OK;
}

/* ---- the table ---- */

typedef struct row {
  const char *name, *origin;
  double seconds, operations, bytes; /* of all runs */
  int64_t launches;
} row;

static int compare_shares(const void *left, const void *right) {
  const row *a = left, *b = right;
  if (a->seconds != b->seconds)
    return a->seconds < b->seconds ? 1 : -1;
  return strcmp(a->name, b->name);
}

static size_t sum_up(const span_list *list, row *rows) {
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++) {
    const kiln_span *span = &list->spans[i];
    size_t found = 0;
    while (found < count &&
           (strcmp(rows[found].name, span->name) != 0 || strcmp(rows[found].origin, span->origin) != 0))
      found++;
    if (found == count)
      rows[count++] = (row){.name = span->name, .origin = span->origin};
    rows[found].seconds += span->end - span->begin;
    rows[found].operations += (double)span->operations;
    rows[found].bytes += (double)span->bytes;
    rows[found].launches++;
  }
  qsort(rows, count, sizeof *rows, compare_shares);
  return count;
}

/* "12.3 us", of four digits or so. */
static void print_time(double seconds) {
  if (seconds < 1e-3)
    printf(" %8.2f us", seconds * 1e6);
  else if (seconds < 1)
    printf(" %8.2f ms", seconds * 1e3);
  else
    printf(" %8.2f s ", seconds);
}

static void print_share(const kiln_profile *profile, double seconds) {
  printf("%5.1f %%", profile->seconds > 0 ? 100 * seconds / profile->seconds : 0);
  print_time(seconds / profile->runs);
}

kiln_status kiln_profile_print(const kiln_profile *profile, kiln_text *cause) {
  const span_list *list = &profile->launches;
  kiln_status status = check_whole(profile, cause);
  if (status)
    return status;
  row *rows = calloc(list->count + 1, sizeof *rows);
  if (!rows) {
    kiln_text_add(cause, "no memory for the table of --profile");
    return KILN_OUT_OF_MEMORY;
  }
  size_t count = sum_up(list, rows);
  double rest = profile->seconds;
  printf("  share    a run  launches       each   GFLOPS     GB/s  kernel\n");
  for (size_t i = 0; i < count; i++) {
    double seconds = rows[i].seconds > 0 ? rows[i].seconds : 1e-12;
    print_share(profile, rows[i].seconds);
    printf(" %8.0f ", (double)rows[i].launches / profile->runs);
    print_time(rows[i].seconds / (double)rows[i].launches);
    printf(" %8.2f %8.2f  ", rows[i].operations / seconds * 1e-9, rows[i].bytes / seconds * 1e-9);
    kiln_cli_put(stdout, rows[i].name);
    printf("%s", rows[i].origin[0] ? " " : "");
    kiln_cli_put(stdout, rows[i].origin);
    putchar('\n');
    rest -= rows[i].seconds;
  }
  print_share(profile, rest);
  printf("%41sbetween them\n", "");
  print_share(profile, profile->seconds);
  printf("%41sa run, of %" PRId32 "\n", "", profile->runs);
  free(rows);
  return KILN_OK;
}

/* ---- the file ---- */

static void write_string(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fputc('\\', file);
    if (c < 0x20)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}

/* A row's name. Rows are threads to Chrome: 0 is that of the launches, 1 the caller's thread, and so on. */
static void write_row(FILE *file, int row, const char *name) {
  fprintf(file, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":", row);
  write_string(file, name);
  fputs("}},\n", file);
}

static void write_spans(const kiln_profile *profile, FILE *file, int row, const span_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    const kiln_span *span = &list->spans[i];
    fputs("{\"name\":", file);
    write_string(file, span->name);
    fprintf(file, ",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f", row,
            (span->begin - profile->begin) * 1e6, (span->end - span->begin) * 1e6);
    if (span->thread < 0) {
      fputs(",\"args\":{\"nodes\":", file);
      write_string(file, span->origin);
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
  write_string(file, model->name);
  fputs("}}]}\n", file);
  return !ferror(file);
}

kiln_status kiln_profile_write(const kiln_profile *profile, const kiln_model *model, const char *path,
                               kiln_text *cause) {
  kiln_status status = check_whole(profile, cause);
  if (status)
    return status;
  kiln_text_add(cause, "%s: cannot be written: ", path);
  status = kiln_file_write(path, write_trace, &(trace){profile, model}, cause);
  if (status)
    kiln_text_add(cause, "; name another place with --profile=FILE");
  return status;
}
