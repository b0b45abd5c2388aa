/*===- devices.c - The devices of a program that needs the CPU alone -----===*/
#include "cpu.h"

const kiln_device *const *kiln_devices(void) {
  static const kiln_device *const devices[] = {&kiln_device_cpu, &kiln_device_c, NULL};
  return devices;
}
