/*===- driver.h - What the tests' libcuda.so.1 counts, and when it fails ----===
 *
 * Threads may call it side by side, as they may NVIDIA's; what is to fail is set while none does.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef KILN_TEST_CUDA_DRIVER_H
#define KILN_TEST_CUDA_DRIVER_H

/* The library has one of them, named fake_cuda. */
typedef struct fake_driver {
  int launches;       /* of kernels, one by one */
  int graph_launches; /* of graphs */
  int copies, waits;
  int blocks; /* of its memory that it has given */
  int pinned; /* blocks of host memory that it has given */
  int events; /* that it has made */
  int fail_host_alloc;
  long long most_bytes; /* of its memory in a block; 0: what the machine has */
  int fail_launch;      /* the launch, counted down from here, that fails; 0: none */
  int fail_wait;
  int launch_error; /* what a launch that fails gives; 0: OUT_OF_RESOURCES */
  int lost_after;   /* the launch, counted down from here, after which every call fails; 0: none */
  int is_lost;
  int strays; /* calls of a thread in which no context was current */
} fake_driver;

#endif
