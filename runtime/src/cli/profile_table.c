/*===- profile_table.c - Time by source node ------------------------------===
 *
 * A reader wants to know which of the model's nodes take the time, so launches are summed up by the nodes that they
 * compute. The first twenty nodes are shown, each in one row: a convolution may be 24 kernels. --profile-kernels opens
 * the rows. Next to the time is how good it is: the time that the compiler expected, and the share of the roofline,
 * which is the time that the arithmetic or the bytes alone take at the device's peak, whichever is longer.
 *
 *===---------------------------------------------------------------------===*/
#include "cli.h"
#include "json_text.h"
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

static size_t sum_kernels(const span_list *list, kernel *kernels) {
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++) {
    const kiln_span *span = &list->spans[i];
    size_t found = 0;
    while (found < count &&
           (strcmp(kernels[found].name, span->name) != 0 || strcmp(kernels[found].nodes, span->origin) != 0))
      found++;
    if (found == count)
      kernels[count++] = (kernel){.name = span->name, .nodes = span->origin};
    total one = {.seconds = span->end - span->begin,
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
  if (!sums->kernels || !sums->groups) {
    kiln_text_add(cause, "no memory for the table of --profile");
    return KILN_OUT_OF_MEMORY;
  }
  sums->kernel_count = sum_kernels(list, sums->kernels);
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

/* Whether it took less than its bytes take from memory, so that a cache had them. */
static bool beats_memory(const total *sum) { return sum->seconds > 0 && sum->least > sum->seconds; }

/* How good a time is, or blanks. */
static void print_expected(const kiln_profile *profile, const total *sum) {
  if (sum->expected > 0)
    print_time(sum->expected / profile->runs);
  else
    printf("%12s", "");
  if (sum->least > 0 && sum->seconds > 0)
    printf(" %6.1f %%%c", 100 * sum->least / sum->seconds, beats_memory(sum) ? '*' : ' ');
  else
    printf("%10s", "");
}

static void print_total(const kiln_profile *profile, const total *sum) {
  double seconds = sum->seconds > 0 ? sum->seconds : 1e-12;
  print_share(profile, sum->seconds);
  print_expected(profile, sum);
  printf("%8.0f ", (double)sum->launches / profile->runs);
  print_time(sum->seconds / (double)sum->launches);
  printf(" %8.2f %8.2f  ", sum->operations / seconds * 1e-9, sum->bytes / seconds * 1e-9);
}

static void print_kernel(const kiln_profile *profile, const kernel *one) {
  print_total(profile, &one->sum);
  fputs("  ", stdout);
  kiln_cli_put(stdout, one->name);
  putchar('\n');
}

/* A row for a node, with its kernel's name if it has one, and below it those of several if they are wanted. */
static void print_group(const kiln_profile *profile, const table *sums, const group *one, bool with_kernels) {
  const kernel *first = &sums->kernels[one->first];
  print_total(profile, &one->sum);
  if (one->count == 1)
    kiln_cli_put(stdout, first->name);
  else
    printf("%zu kernels", one->count);
  printf("%s", first->nodes[0] ? " " : "");
  kiln_cli_put(stdout, first->nodes);
  putchar('\n');
  for (size_t i = 0; with_kernels && one->count > 1 && i < sums->kernel_count; i++)
    if (sums->kernels[i].group == one->first)
      print_kernel(profile, &sums->kernels[i]);
}

kiln_status kiln_profile_print(const kiln_profile *profile, bool with_kernels, kiln_text *cause) {
  table sums = {0};
  kiln_status status = sum_up(profile, &sums, cause);
  if (!status) {
    double rest = profile->seconds;
    bool is_cached = false;
    total hidden = {0}, all = {0};
    printf("  share      a run    expected roofline launches        each   GFLOPS     GB/s  kernel\n");
    for (size_t i = 0; i < sums.group_count; i++) {
      bool is_shown = with_kernels || i < SHOWN_NODES;
      if (is_shown)
        print_group(profile, &sums, &sums.groups[i], with_kernels);
      if (!is_shown)
        add(&hidden, &sums.groups[i].sum);
      add(&all, &sums.groups[i].sum);
      is_cached |= is_shown && beats_memory(&sums.groups[i].sum);
      rest -= sums.groups[i].sum.seconds;
    }
    if (!with_kernels && sums.group_count > SHOWN_NODES) {
      print_share(profile, hidden.seconds);
      print_expected(profile, &hidden);
      printf("%*sand %zu more; --profile-kernels shows all\n", WORDS_AFTER, "", sums.group_count - SHOWN_NODES);
    }
    print_share(profile, rest);
    printf("%*sbetween them\n", 22 + WORDS_AFTER, "");
    all.seconds = profile->seconds;
    print_share(profile, profile->seconds);
    print_expected(profile, &all);
    printf("%*sa run, of %" PRId32 "\n", WORDS_AFTER, "", profile->runs);
    if (is_cached)
      printf("* over 100 %%: from cache, or on several threads; the roofline counts one core and data in memory\n");
  }
  free_table(&sums);
  return status;
}

static void put_total(const kiln_profile *profile, const total *sum) {
  printf("\"us\":%.3f,\"launches\":%.0f,\"operations\":%.0f,\"bytes\":%.0f", sum->seconds / profile->runs * 1e6,
         (double)sum->launches / profile->runs, sum->operations / profile->runs, sum->bytes / profile->runs);
  if (sum->expected > 0)
    printf(",\"expected_us\":%.3f", sum->expected / profile->runs * 1e6);
  if (sum->least > 0 && sum->seconds > 0)
    printf(",\"roofline\":%.4f", sum->least / sum->seconds);
}

kiln_status kiln_profile_print_json(const kiln_profile *profile, const kiln_model *model, const int64_t *sizes,
                                    kiln_text *cause) {
  table sums = {0};
  kiln_status status = sum_up(profile, &sums, cause);
  if (!status) {
    kiln_json_begin(stdout, model);
    printf(",\"runs\":%" PRId32 ",\"run_us\":%.3f", profile->runs, profile->seconds / profile->runs * 1e6);
    kiln_json_sizes(stdout, model, sizes);
    fputs(",\"nodes\":[", stdout);
    for (size_t i = 0; i < sums.group_count; i++) {
      const group *one = &sums.groups[i];
      fputs(i ? ",{\"nodes\":" : "{\"nodes\":", stdout);
      kiln_json_put_nodes(stdout, sums.kernels[one->first].nodes);
      putchar(',');
      put_total(profile, &one->sum);
      const char *before = ",\"kernels\":[{\"name\":";
      for (size_t k = 0; k < sums.kernel_count; k++) {
        if (sums.kernels[k].group != one->first)
          continue;
        fputs(before, stdout);
        kiln_json_put(stdout, sums.kernels[k].name);
        putchar(',');
        put_total(profile, &sums.kernels[k].sum);
        before = "},{\"name\":";
      }
      fputs("}]}", stdout);
    }
    puts("]}");
  }
  free_table(&sums);
  return status;
}
