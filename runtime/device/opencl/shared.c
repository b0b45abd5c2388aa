/*===- shared.c - OpenCL's shared virtual memory -------------------------===
 *
 * Memory is an address, so a slice is one too and no alignment matters. The queue is in order: a copy that is enqueued
 * after a launch sees its result.
 *
 *===---------------------------------------------------------------------===*/
#include "state.h"

static char *address(kiln_slice slice) { return (char *)slice.memory + slice.offset; }

static void *shared_alloc(opencl_state *state, int64_t bytes) {
  return state->api.clSVMAlloc(state->context, CL_MEM_READ_WRITE, (size_t)bytes, KILN_ALIGNMENT);
}

static void shared_free(opencl_state *state, void *memory) {
  state->api.clFinish(state->queue); /* clSVMFree waits for nothing */
  state->api.clSVMFree(state->context, memory);
}

static kiln_status shared_write(opencl_state *state, kiln_slice to, const void *from, int64_t bytes) {
  cl_int code = state->api.clEnqueueSVMMemcpy(state->queue, CL_TRUE, address(to), from, (size_t)bytes, 0, NULL, NULL);
  return kiln_opencl_check(state, code, "clEnqueueSVMMemcpy");
}

static kiln_status shared_read(opencl_state *state, void *to, kiln_slice from, int64_t bytes) {
  cl_int code = state->api.clEnqueueSVMMemcpy(state->queue, CL_TRUE, to, address(from), (size_t)bytes, 0, NULL, NULL);
  return kiln_opencl_check(state, code, "clEnqueueSVMMemcpy");
}

static kiln_status shared_copy(opencl_state *state, kiln_slice to, kiln_slice from, int64_t bytes) {
  cl_int code =
      state->api.clEnqueueSVMMemcpy(state->queue, CL_FALSE, address(to), address(from), (size_t)bytes, 0, NULL, NULL);
  return kiln_opencl_check(state, code, "clEnqueueSVMMemcpy");
}

static kiln_status shared_set_argument(opencl_state *state, cl_kernel kernel, cl_uint index, kiln_slice slice) {
  return kiln_opencl_check(state, state->api.clSetKernelArgSVMPointer(kernel, index, address(slice)),
                           "clSetKernelArgSVMPointer");
}

const opencl_memory kiln_opencl_shared_memory = {
    .alloc = shared_alloc,
    .free = shared_free,
    .write = shared_write,
    .read = shared_read,
    .copy = shared_copy,
    .set_argument = shared_set_argument,
};
