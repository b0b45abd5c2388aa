/*===- devices.c - The devices of a program for "serial" -----------------===*/
#include "kiln/program.h"

extern const kiln_device kiln_device_serial;

const kiln_device *const *kiln_devices(void) {
  static const kiln_device *const devices[] = {&kiln_device_serial, NULL};
  return devices;
}
