/*===- profile_table.c - Time by source node ------------------------------===
 *
 * A reader wants to know which of the model's nodes take the time, so launches are summed up by the nodes that they
 * compute. The first twenty nodes are shown, each in one row: a convolution may be 24 kernels. --profile-kernels opens
 * the rows. A time is the median of the runs, so that one run which waited does not count. Next to the time is how good
 * it is: the time that the compiler expected, and the share of the roofline, which is the time that the arithmetic or
 * the bytes alone take at the device's peak, whichever is longer; bytes that fit a cache take the cache's time.
 *
 *===---------------------------------------------------------------------===*/
#include "cli.h"
#include "json_text.h"
#include "median.h"
#include "spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_NODES = 20, WORDS_AFTER = 40 };

typedef struct total {
  double seconds, operations, bytes, expected, least; /* of all runs */
  int64_t launches;
} total;

/* A kernel as it computes some nodes. */
typedef struct kernel {
  const char *name, *nodes; /* "['dot']"; "": it computes none, as a copy */
  total sum;
  size_t group;
} kernel;

/* Kernels of the same nodes: kernels[first], and those of the same `group`. */
typedef struct group {
  total sum;
  size_t first, count;
} group;

typedef struct table {
  double *seconds;    /* of each launch */
  double run_seconds; /* of a run */
  int32_t runs;
  kernel *kernels;
  group *groups;
  size_t kernel_count, group_count;
} table;

static void add(total *sum, const total *more) {
  sum->seconds += more->seconds;
  sum->operations += more->operations;
  sum->bytes += more->bytes;
  sum->expected += more->expected;
  sum->least += more->least;
  sum->launches += more->launches;
}

static int by_time(double a, double b) { return (a < b) - (a > b); }

static int compare_kernels(const void *left, const void *right) {
  const kernel *a = left, *b = right;
  int order = by_time(a->sum.seconds, b->sum.seconds);
  return order ? order : strcmp(a->name, b->name);
}

static int compare_groups(const void *left, const void *right) {
  const group *a = left, *b = right;
  int order = by_time(a->sum.seconds, b->sum.seconds);
  return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* Whether every run launched the same kernels in the same order. */
static bool runs_are_alike(const span_list *list, size_t runs) {
  if (!runs || list->count % runs)
    return false;
  size_t launches = list->count / runs;
  for (size_t i = launches; i < list->count; i++)
    if (strcmp(list->spans[i].name, list->spans[i - launches].name) != 0)
      return false;
  return true;
}

/* The time of each launch: where runs are alike the median of the launches at its place in a run, else its own.
 * `times` has room for one of each run. */
static void time_launches(const kiln_profile *profile, double *times, double *seconds) {
  const span_list *list = &profile->launches;
  for (size_t i = 0; i < list->count; i++)
    seconds[i] = list->spans[i].end - list->spans[i].begin;
  if (!runs_are_alike(list, (size_t)profile->runs))
    return;
  size_t launches = list->count / (size_t)profile->runs;
  for (size_t place = 0; place < launches; place++) {
    for (int32_t run = 0; run < profile->runs; run++)
      times[run] = seconds[(size_t)run * launches + place];
    double typical = kiln_median(times, profile->runs);
    for (int32_t run = 0; run < profile->runs; run++)
      seconds[(size_t)run * launches + place] = typical;
  }
}

static size_t sum_kernels(const span_list *list, const double *seconds, kernel *kernels) {
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++) {
    const kiln_span *span = &list->spans[i];
    size_t found = 0;
    while (found < count &&
           (strcmp(kernels[found].name, span->name) != 0 || strcmp(kernels[found].nodes, span->origin) != 0))
      found++;
    if (found == count)
      kernels[count++] = (kernel){.name = span->name, .nodes = span->origin};
    total one = {.seconds = seconds[i],
                 .operations = (double)span->operations,
                 .bytes = (double)span->bytes,
                 .expected = span->expected,
                 .least = span->least,
                 .launches = 1};
    add(&kernels[found].sum, &one);
  }
  qsort(kernels, count, sizeof *kernels, compare_kernels);
  return count;
}

static kiln_status sum_up(const kiln_profile *profile, table *sums, kiln_text *cause) {
  const span_list *list = &profile->launches;
  kiln_status status = kiln_profile_check(profile, cause);
  if (status)
    return status;
  sums->kernels = calloc(list->count + 1, sizeof *sums->kernels);
  sums->groups = calloc(list->count + 1, sizeof *sums->groups);
  sums->seconds = calloc(list->count + 1, sizeof *sums->seconds);
  double *times = calloc((size_t)profile->runs + 1, sizeof *times);
  if (!sums->kernels || !sums->groups || !sums->seconds || !times) {
    free(times);
    kiln_text_add(cause, "no memory for the table of --profile");
    return KILN_OUT_OF_MEMORY;
  }
  sums->runs = profile->runs;
  time_launches(profile, times, sums->seconds);
  for (int32_t run = 0; run < profile->runs; run++)
    times[run] = profile->run_seconds[run];
  sums->run_seconds = kiln_median(times, profile->runs);
  free(times);
  sums->kernel_count = sum_kernels(list, sums->seconds, sums->kernels);
  for (size_t i = 0; i < sums->kernel_count; i++) {
    kernel *one = &sums->kernels[i];
    size_t found = one->nodes[0] ? 0 : sums->group_count;
    while (found < sums->group_count && strcmp(sums->kernels[sums->groups[found].first].nodes, one->nodes) != 0)
      found++;
    if (found == sums->group_count)
      sums->groups[sums->group_count++] = (group){.first = i};
    add(&sums->groups[found].sum, &one->sum);
    sums->groups[found].count++;
    one->group = sums->groups[found].first;
  }
  qsort(sums->groups, sums->group_count, sizeof *sums->groups, compare_groups);
  return KILN_OK;
}

static void free_table(table *sums) {
  free(sums->kernels);
  free(sums->groups);
  free(sums->seconds);
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

/* Of all runs, as a total has them. */
static void print_share(const table *sums, double seconds) {
  double all = sums->run_seconds * sums->runs;
  printf("%5.1f %%", all > 0 ? 100 * seconds / all : 0);
  print_time(seconds / sums->runs);
}

/* Whether the roofline is one for this time. It is not for a time below it, as that of several threads, or on another
 * CPU than the compiler counted with. */
static bool has_roofline(const total *sum) { return sum->least > 0 && sum->least <= sum->seconds; }

/* How good a time is, or blanks. */
static void print_expected(const table *sums, const total *sum) {
  if (sum->expected > 0)
    print_time(sum->expected / sums->runs);
  else
    printf("%12s", "");
  if (has_roofline(sum))
    printf(" %6.1f %% ", 100 * sum->least / sum->seconds);
  else
    printf("%10s", "");
}

static void print_total(const table *sums, const total *sum) {
  double seconds = sum->seconds > 0 ? sum->seconds : 1e-12;
  print_share(sums, sum->seconds);
  print_expected(sums, sum);
  printf("%8.0f ", (double)sum->launches / sums->runs);
  print_time(sum->seconds / (double)sum->launches);
  printf(" %8.2f %8.2f  ", sum->operations / seconds * 1e-9, sum->bytes / seconds * 1e-9);
}

static void print_kernel(const table *sums, const kernel *one) {
  print_total(sums, &one->sum);
  fputs("  ", stdout);
  kiln_cli_put(stdout, one->name);
  putchar('\n');
}

/* Whether --kernel lets a kernel of the group be shown. */
static bool is_chosen(const table *sums, const group *one, const kiln_args *args) {
  for (size_t i = 0; i < sums->kernel_count; i++)
    if (sums->kernels[i].group == one->first && kiln_args_show(args, sums->kernels[i].name))
      return true;
  return false;
}

/* A row for a node, with its kernel's name if it has one, and below it those of several if they are wanted. */
static void print_group(const table *sums, const group *one, const kiln_args *args) {
  const kernel *first = &sums->kernels[one->first];
  print_total(sums, &one->sum);
  if (one->count == 1)
    kiln_cli_put(stdout, first->name);
  else
    printf("%zu kernels", one->count);
  printf("%s", first->nodes[0] ? " " : "");
  kiln_cli_put(stdout, first->nodes);
  putchar('\n');
  for (size_t i = 0; args->profile_kernels && one->count > 1 && i < sums->kernel_count; i++)
    if (sums->kernels[i].group == one->first && kiln_args_show(args, sums->kernels[i].name))
      print_kernel(sums, &sums->kernels[i]);
}

kiln_status kiln_profile_print(const kiln_profile *profile, const kiln_model *model, const kiln_args *args,
                               const int64_t *sizes, kiln_text *cause) {
  table sums = {0};
  kiln_status status = sum_up(profile, &sums, cause);
  if (!status) {
    double run = sums.run_seconds, rest = run * sums.runs;
    total hidden = {0}, all = {0};
    printf("  share      a run    expected roofline launches        each   GFLOPS     GB/s  kernel\n");
    for (size_t i = 0; i < sums.group_count; i++) {
      bool is_listed = args->profile_kernels || i < SHOWN_NODES;
      bool is_shown = is_listed && is_chosen(&sums, &sums.groups[i], args);
      if (is_shown)
        print_group(&sums, &sums.groups[i], args);
      if (!is_listed)
        add(&hidden, &sums.groups[i].sum);
      add(&all, &sums.groups[i].sum);
      rest -= sums.groups[i].sum.seconds;
    }
    if (!args->profile_kernels && sums.group_count > SHOWN_NODES) {
      print_share(&sums, hidden.seconds);
      print_expected(&sums, &hidden);
      printf("%*sand %zu more; --profile-kernels shows all\n", WORDS_AFTER, "", sums.group_count - SHOWN_NODES);
    }
    print_share(&sums, rest > 0 ? rest : 0);
    printf("%*sbetween them\n", 22 + WORDS_AFTER, "");
    all.seconds = run * sums.runs;
    print_share(&sums, all.seconds);
    print_expected(&sums, &all);
    printf("%*sa run, the median of %" PRId32, WORDS_AFTER, "", sums.runs);
    kiln_cli_print_sizes(model, sizes);
    putchar('\n');
  }
  free_table(&sums);
  return status;
}

static void put_total(const table *sums, const total *sum) {
  printf("\"us\":%.3f,\"launches\":%.0f,\"operations\":%.0f,\"bytes\":%.0f", sum->seconds / sums->runs * 1e6,
         (double)sum->launches / sums->runs, sum->operations / sums->runs, sum->bytes / sums->runs);
  if (sum->expected > 0)
    printf(",\"expected_us\":%.3f", sum->expected / sums->runs * 1e6);
  if (has_roofline(sum))
    printf(",\"roofline\":%.4f", sum->least / sum->seconds);
}

kiln_status kiln_profile_print_json(const kiln_profile *profile, const kiln_model *model, const kiln_args *args,
                                    const int64_t *sizes, kiln_text *cause) {
  table sums = {0};
  kiln_status status = sum_up(profile, &sums, cause);
  if (!status) {
    kiln_json_begin(stdout, model);
    printf(",\"runs\":%" PRId32 ",\"run_us\":%.3f", sums.runs, sums.run_seconds * 1e6);
    kiln_json_sizes(stdout, model, sizes);
    fputs(",\"nodes\":[", stdout);
    bool is_first = true;
    for (size_t i = 0; i < sums.group_count; i++) {
      const group *one = &sums.groups[i];
      if (!is_chosen(&sums, one, args))
        continue;
      fputs(is_first ? "{\"nodes\":" : ",{\"nodes\":", stdout);
      is_first = false;
      kiln_json_put_nodes(stdout, sums.kernels[one->first].nodes);
      putchar(',');
      put_total(&sums, &one->sum);
      const char *before = ",\"kernels\":[{\"name\":";
      for (size_t k = 0; k < sums.kernel_count; k++) {
        if (sums.kernels[k].group != one->first || !kiln_args_show(args, sums.kernels[k].name))
          continue;
        fputs(before, stdout);
        kiln_json_put(stdout, sums.kernels[k].name);
        putchar(',');
        put_total(&sums, &sums.kernels[k].sum);
        before = "},{\"name\":";
      }
      fputs("}]}", stdout);
    }
    puts("]}");
  }
  free_table(&sums);
  return status;
}
