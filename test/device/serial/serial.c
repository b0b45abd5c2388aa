/*===- serial.c - A device that runs the chunks of a launch one after another ===*/
#include "kiln/program.h"

#include <stdlib.h>
#include <string.h>

extern const kiln_device kiln_device_serial;

static kiln_status serial_open(const kiln_model *model, int32_t place, const kiln_options *options, void **state,
                               char *error, size_t error_bytes) {
  (void)place;
  (void)options;
  (void)error;
  (void)error_bytes;
  *state = (void *)model; /* all that a launch needs */
  return KILN_OK;
}

static void serial_close(void *state) { (void)state; }

static void *serial_alloc(void *state, int64_t bytes) {
  (void)state;
  if (bytes < 0 || bytes > PTRDIFF_MAX - KILN_ALIGNMENT)
    return NULL;
  return aligned_alloc(KILN_ALIGNMENT, ((size_t)bytes / KILN_ALIGNMENT + 1) * KILN_ALIGNMENT);
}

static void serial_free(void *state, void *memory) {
  (void)state;
  free(memory);
}

static char *bytes_of(kiln_slice slice) { return (char *)slice.memory + slice.offset; }

static kiln_status serial_write(void *state, kiln_slice to, const void *from, int64_t bytes) {
  (void)state;
  memcpy(bytes_of(to), from, (size_t)bytes);
  return KILN_OK;
}

static kiln_status serial_read(void *state, void *to, kiln_slice from, int64_t bytes) {
  (void)state;
  memcpy(to, bytes_of(from), (size_t)bytes);
  return KILN_OK;
}

static kiln_status serial_copy(void *state, kiln_slice to, kiln_slice from, int64_t bytes) {
  (void)state;
  memmove(bytes_of(to), bytes_of(from), (size_t)bytes);
  return KILN_OK;
}

static kiln_status serial_launch(void *state, const kiln_launch_info *info, const kiln_slice *buffers,
                                 const int64_t *sizes, const int64_t grid[KILN_MAX_GRID],
                                 const int64_t estimates[KILN_ESTIMATES], double *seconds) {
  (void)estimates;
  (void)seconds;
  const kiln_kernel *launched = &((const kiln_model *)state)->kernels[info->kernel];
  void **pointers = malloc(((size_t)launched->buffers + 1) * sizeof *pointers);
  if (!pointers)
    return KILN_OUT_OF_MEMORY;
  int32_t shared = launched->buffers - launched->scratch, i = 0;
  for (; i < shared; i++)
    pointers[i] = bytes_of(buffers[i]);
  while (i < launched->buffers && (pointers[i] = serial_alloc(state, buffers[i].offset)))
    i++;
  kiln_status status = i == launched->buffers ? KILN_OK : KILN_OUT_OF_MEMORY;
  for (int64_t chunk = 0; !status && chunk < grid[0] * grid[1] * grid[2]; chunk++)
    launched->entry(pointers, sizes, chunk);
  while (i-- > shared)
    serial_free(state, pointers[i]);
  free(pointers);
  return status;
}

const kiln_device kiln_device_serial = {
    .name = "serial",
    .open = serial_open,
    .close = serial_close,
    .alloc = serial_alloc,
    .free = serial_free,
    .write = serial_write,
    .read = serial_read,
    .copy = serial_copy,
    .launch = serial_launch,
};
