/*===- buffers.c - OpenCL's buffers --------------------------------------===
 *
 * A kernel's argument is a whole buffer or a sub-buffer, and a sub-buffer begins only at certain multiples. A slice
 * that begins elsewhere is staged: the launch gets a copy, and the bytes that the kernel changed in it go back. These
 * are found by comparing, because nothing tells which part of the copy is the slice. Writing all of it back would undo
 * what the same launch wrote through its other arguments.
 *
 *===---------------------------------------------------------------------===*/
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* Sizes that change from run to run produce ever new offsets. */
enum { MOST_SUBS = 512 };

typedef struct sub_buffer {
  int64_t offset;
  cl_mem buffer;
  int64_t launch; /* the last that used it */
} sub_buffer;

/* The target of `memory`. */
typedef struct block {
  cl_mem buffer;
  int64_t bytes;
  sub_buffer *subs; /* sorted by offset */
  int sub_count, sub_room;
} block;

/* A slice that was copied for the launch being made. */
typedef struct staged {
  struct staged *next;
  kiln_slice slice;
  cl_mem copy;
  int64_t bytes;
  char *before, *after; /* the copy's bytes, before and after the launch, in one piece of memory */
} staged;

/* Keeps the launch's sub-buffers. From the last to the first: NVIDIA's driver 580 crashes if sub-buffers that overlap
 * are released by rising offset after a kernel used one of them as well as the whole buffer. */
static void release_subs(opencl_state *state, block *of, int64_t launch) {
  int kept = 0;
  for (int i = of->sub_count; i-- > 0;)
    if (of->subs[i].launch != launch)
      state->api.clReleaseMemObject(of->subs[i].buffer);
  for (int i = 0; i < of->sub_count; i++)
    if (of->subs[i].launch == launch)
      of->subs[kept++] = of->subs[i];
  of->sub_count = kept;
}

static void *buffer_alloc(opencl_state *state, int64_t bytes) {
  block *made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  cl_int code;
  made->bytes = bytes + state->alignment; /* so that an empty slice at the end has a byte to begin at */
  made->buffer = state->api.clCreateBuffer(state->context, CL_MEM_READ_WRITE, (size_t)made->bytes, NULL, &code);
  if (made->buffer)
    return made;
  kiln_opencl_check(state, code, "clCreateBuffer");
  free(made);
  return NULL;
}

static void buffer_free(opencl_state *state, void *memory) {
  block *freed = memory;
  release_subs(state, freed, -1);
  state->api.clReleaseMemObject(freed->buffer);
  free(freed->subs);
  free(freed);
}

static cl_mem buffer_of(kiln_slice slice) { return ((block *)slice.memory)->buffer; }

static kiln_status buffer_write(opencl_state *state, kiln_slice to, const void *from, int64_t bytes) {
  cl_int code = state->api.clEnqueueWriteBuffer(state->queue, buffer_of(to), CL_TRUE, (size_t)to.offset, (size_t)bytes,
                                                from, 0, NULL, NULL);
  return kiln_opencl_check(state, code, "clEnqueueWriteBuffer");
}

static kiln_status buffer_read(opencl_state *state, void *to, kiln_slice from, int64_t bytes) {
  cl_int code = state->api.clEnqueueReadBuffer(state->queue, buffer_of(from), CL_TRUE, (size_t)from.offset,
                                               (size_t)bytes, to, 0, NULL, NULL);
  return kiln_opencl_check(state, code, "clEnqueueReadBuffer");
}

static kiln_status buffer_copy(opencl_state *state, kiln_slice to, kiln_slice from, int64_t bytes) {
  cl_int code = state->api.clEnqueueCopyBuffer(state->queue, buffer_of(from), buffer_of(to), (size_t)from.offset,
                                               (size_t)to.offset, (size_t)bytes, 0, NULL, NULL);
  return kiln_opencl_check(state, code, "clEnqueueCopyBuffer");
}

/* ---- slices that begin where a sub-buffer can ---- */

/* Where `offset` is, or belongs, in the sorted list. */
static int find_sub(const block *in, int64_t offset) {
  int low = 0, high = in->sub_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (in->subs[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static cl_mem make_sub(opencl_state *state, block *in, int64_t offset, cl_int *code) {
  if (in->sub_count >= MOST_SUBS)
    release_subs(state, in, state->launch);
  if (in->sub_count == in->sub_room) {
    int room = in->sub_room ? in->sub_room * 2 : 8;
    sub_buffer *grown = realloc(in->subs, (size_t)room * sizeof *grown);
    *code = CL_OUT_OF_HOST_MEMORY;
    if (!grown)
      return NULL;
    in->subs = grown;
    in->sub_room = room;
  }
  cl_buffer_region region = {(size_t)offset, (size_t)(in->bytes - offset)};
  cl_mem made =
      state->api.clCreateSubBuffer(in->buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, code);
  if (!made)
    return NULL;
  int place = find_sub(in, offset);
  memmove(&in->subs[place + 1], &in->subs[place], (size_t)(in->sub_count++ - place) * sizeof *in->subs);
  in->subs[place] = (sub_buffer){offset, made, state->launch};
  return made;
}

static cl_mem sub_of(opencl_state *state, kiln_slice slice, cl_int *code) {
  block *in = slice.memory;
  if (slice.offset == 0)
    return in->buffer;
  int place = find_sub(in, slice.offset);
  if (place == in->sub_count || in->subs[place].offset != slice.offset)
    return make_sub(state, in, slice.offset, code);
  in->subs[place].launch = state->launch;
  return in->subs[place].buffer;
}

/* ---- slices that do not ---- */

static void drop_staged(opencl_state *state, staged *dropped) {
  if (dropped->copy)
    state->api.clReleaseMemObject(dropped->copy);
  free(dropped->before);
  free(dropped);
}

static kiln_status stage(opencl_state *state, kiln_slice slice, cl_mem *buffer) {
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  int64_t bytes = ((block *)slice.memory)->bytes - slice.offset;
  staged *made = calloc(1, sizeof *made);
  if (!made)
    return kiln_opencl_check(state, code, "staging");
  made->slice = slice;
  made->bytes = bytes;
  made->next = state->staged;
  state->staged = made;
  made->before = malloc((size_t)bytes * 2);
  if (!made->before)
    return kiln_opencl_check(state, code, "staging");
  made->after = made->before + bytes;
  kiln_status status = buffer_read(state, made->before, slice, bytes);
  if (status)
    return status;
  *buffer = made->copy = state->api.clCreateBuffer(state->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                   (size_t)bytes, made->before, &code);
  return made->copy ? KILN_OK : kiln_opencl_check(state, code, "clCreateBuffer");
}

/* The bytes that the launch changed, run by run. */
static kiln_status write_changes(opencl_state *state, staged *changed) {
  cl_int code = state->api.clEnqueueReadBuffer(state->queue, changed->copy, CL_TRUE, 0, (size_t)changed->bytes,
                                               changed->after, 0, NULL, NULL);
  kiln_status status = kiln_opencl_check(state, code, "clEnqueueReadBuffer");
  for (int64_t i = 0, end; i < changed->bytes && !status; i = end) {
    bool differs = changed->before[i] != changed->after[i];
    for (end = i + 1; end < changed->bytes && (changed->before[end] != changed->after[end]) == differs;)
      end++;
    if (differs)
      status = buffer_write(state, (kiln_slice){changed->slice.memory, changed->slice.offset + i}, changed->after + i,
                            end - i);
  }
  return status;
}

static kiln_status buffer_after_launch(opencl_state *state) {
  kiln_status status = KILN_OK;
  while (state->staged) {
    staged *first = state->staged;
    state->staged = first->next;
    if (!status && first->copy)
      status = write_changes(state, first);
    drop_staged(state, first);
  }
  return status;
}

static kiln_status buffer_set_argument(opencl_state *state, cl_kernel kernel, cl_uint index, kiln_slice slice) {
  cl_int code = CL_SUCCESS;
  cl_mem buffer = NULL;
  kiln_status status = KILN_OK;
  if (slice.offset % state->alignment != 0)
    status = stage(state, slice, &buffer);
  else if (!(buffer = sub_of(state, slice, &code)))
    status = kiln_opencl_check(state, code, "clCreateSubBuffer");
  return status ? status
                : kiln_opencl_check(state, state->api.clSetKernelArg(kernel, index, sizeof buffer, &buffer),
                                    "clSetKernelArg");
}

const opencl_memory kiln_opencl_buffer_memory = {
    .alloc = buffer_alloc,
    .free = buffer_free,
    .write = buffer_write,
    .read = buffer_read,
    .copy = buffer_copy,
    .set_argument = buffer_set_argument,
    .after_launch = buffer_after_launch,
};
