/*===- cpu_count.c - How many CPUs the process may use -------------------===*/
#define _GNU_SOURCE /* sched_getaffinity */
#include "cpu_count.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512

/* Reads two numbers from a file of a group, or one that is followed by `second`; "max" is not a number. */
static bool read_numbers(const char *mount, const char *folder, const char *group, const char *file, int count,
                         long long *numbers) {
  char path[PATH_BYTES];
  int length = snprintf(path, sizeof path, "%s%s%s/%s", mount, folder, group, file);
  FILE *opened = length > 0 && length < PATH_BYTES ? fopen(path, "re") : NULL;
  if (!opened)
    return false;
  bool good = fscanf(opened, "%lld", &numbers[0]) == 1 && (count == 1 || fscanf(opened, "%lld", &numbers[1]) == 1);
  fclose(opened);
  return good;
}

/* Version 2 has both numbers in cpu.max; version 1 has a file for each, and -1 for no quota. */
static int32_t quota_of(const char *mount, const char *folder, const char *group) {
  long long numbers[2]; /* microseconds of CPU time in a period of so many */
  bool known = folder[0] ? read_numbers(mount, folder, group, "cpu.cfs_quota_us", 1, &numbers[0]) &&
                               read_numbers(mount, folder, group, "cpu.cfs_period_us", 1, &numbers[1])
                         : read_numbers(mount, folder, group, "cpu.max", 2, numbers);
  if (!known || numbers[0] <= 0 || numbers[1] <= 0)
    return INT32_MAX;
  long long cpus = numbers[0] / numbers[1] + (numbers[0] % numbers[1] != 0);
  return cpus < INT32_MAX ? (int32_t)cpus : INT32_MAX;
}

static bool lists(const char *controllers, const char *wanted) {
  size_t length = strlen(wanted);
  for (const char *at = controllers; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, wanted, length) == 0 && (at[length] == ',' || !at[length]))
      return true;
  }
  return false;
}

/* A line is "NUMBER:CONTROLLERS:GROUP"; version 2 has the number 0 and no controllers. */
int32_t kiln_cpu_quota(const char *groups, const char *mount) {
  int32_t least = INT32_MAX;
  char line[PATH_BYTES];
  FILE *file = fopen(groups, "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
      continue;
    *controllers++ = *group++ = 0;
    const char *folder = lists(controllers, "cpu") ? "/cpu" : "";
    if (controllers[0] && !folder[0])
      continue;
    for (;;) { /* "/a/b", "/a", "" */
      size_t length = strlen(group);
      while (length > 0 && group[length - 1] == '/')
        group[--length] = 0;
      int32_t quota = quota_of(mount, folder, group);
      least = quota < least ? quota : least;
      if (length == 0)
        break;
      *strrchr(group, '/') = 0;
    }
  }
  if (file)
    fclose(file);
  return least;
}

/* The system wants a set that is at least as long as its own, and does not tell its length. */
static int32_t affinity(void) {
#ifdef __linux__
  for (int cpus = 64; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    int count = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return count;
  }
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 && count < INT32_MAX ? (int32_t)count : 1;
}

int32_t kiln_cpu_count(void) {
  int32_t cpus = affinity(), quota = kiln_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota < cpus ? quota : cpus;
}
