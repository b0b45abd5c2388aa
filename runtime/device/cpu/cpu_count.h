/*===- cpu_count.h - How many CPUs the process may use -------------------===*/
#ifndef KILN_DEVICE_CPU_CPU_COUNT_H
#define KILN_DEVICE_CPU_CPU_COUNT_H

#include <stdint.h>

/* The CPUs that the process may run on, or fewer if its control group gets less time than they have: a container with a
 * quota of two CPUs on a machine of 64 has 2. At least 1. */
int32_t kiln_cpu_count(void);

/* From a quota, in whole CPUs rounded up: the least of the process's control group and those around it. INT32_MAX:
 * none. `groups` is the file that lists the process's groups, /proc/self/cgroup; `mount` is the folder of their files,
 * /sys/fs/cgroup. */
int32_t kiln_cpu_quota(const char *groups, const char *mount);

#endif
