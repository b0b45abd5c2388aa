/*===- devices.c - The devices of a program for OpenCL -------------------===*/
#include "opencl.h"

const kiln_device *const *kiln_devices(void) {
  static const kiln_device *const devices[] = {&kiln_device_opencl, NULL};
  return devices;
}
