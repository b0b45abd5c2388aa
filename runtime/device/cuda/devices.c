/*===- devices.c - The devices of a program for CUDA ---------------------===*/
#include "cuda.h"

const kiln_device *const *kiln_devices(void) {
  static const kiln_device *const devices[] = {&kiln_device_cuda, NULL};
  return devices;
}
