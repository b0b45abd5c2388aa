/*===- weights.c - From the model or a file to the device ----------------===*/
#include "alloc.h"
#include "context.h"

#include "dtype.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A weight's host bytes go to the device: in place if that is possible, else as a copy. */
static kiln_status place_weight(kiln_context *context, int32_t index, const void *data) {
  const kiln_weight *weight = &context->model->weights[index];
  const kiln_opened *opened = &context->devices[weight->device];
  const kiln_device *device = opened->device;
  kiln_slice *slice = &context->weights[index];
  if (device->map_host && (uintptr_t)data % KILN_HOST_ALIGNMENT == 0)
    slice->memory = device->map_host(opened->state, (void *)data);
  if (slice->memory)
    return KILN_OK;
  kiln_block *copy = &context->weight_copies[index];
  kiln_status status = kiln_block_reserve(context, opened, copy, weight->bytes, weight->name);
  if (status)
    return status;
  slice->memory = copy->memory;
  if (weight->bytes > 0)
    status = device->write(opened->state, *slice, data, weight->bytes);
  return status ? kiln_fail_device(context, opened, status, weight->name) : KILN_OK;
}

static kiln_status from_model(kiln_context *context) {
  const kiln_model *model = context->model;
  kiln_status status = KILN_OK;
  for (int32_t i = 0; i < model->weight_count && !status; i++)
    status = place_weight(context, i, (const char *)model->weight_data + model->weights[i].offset);
  return status;
}

typedef struct named_weight {
  const char *name;
  int32_t index;
} named_weight;

static int compare_names(const void *a, const void *b) {
  return strcmp(((const named_weight *)a)->name, ((const named_weight *)b)->name);
}

/* The state of a visit to a file: the model's weights sorted by name, so that each of the file's is found quickly. */
typedef struct file_visit {
  kiln_context *context;
  const char *path;
  named_weight *names;
} file_visit;

static kiln_status place_entry(file_visit *visit, const kiln_safetensors_entry *entry, int32_t index) {
  const kiln_weight *weight = &visit->context->model->weights[index];
  kiln_dtype dtype = KILN_BOOL;
  bool known = kiln_safetensors_dtype(entry->dtype, &dtype);
  bool same = known && dtype == weight->dtype && entry->rank == weight->rank && entry->bytes == weight->bytes;
  for (int32_t axis = 0; same && axis < weight->rank; axis++)
    same = entry->dims[axis] == weight->dims[axis];
  if (!same) {
    kiln_text cause = kiln_text_in(visit->context->error, sizeof visit->context->error);
    kiln_tensor want = {.dtype = weight->dtype, .rank = weight->rank}, has = {.dtype = dtype, .rank = entry->rank};
    memcpy(want.dims, weight->dims, (size_t)weight->rank * sizeof *want.dims);
    memcpy(has.dims, entry->dims, sizeof has.dims);
    kiln_text_add(&cause, "%s: weight '%s': wanted ", visit->path, weight->name);
    kiln_text_add_tensor(&cause, &want);
    kiln_text_add(&cause, ", given ");
    if (known)
      kiln_text_add_tensor(&cause, &has);
    else
      kiln_text_add(&cause, "the dtype %s", entry->dtype);
    kiln_text_add(&cause, " in %" PRId64 " bytes", entry->bytes);
    return KILN_IO_ERROR;
  }
  if (visit->context->weights[index].memory)
    return kiln_fail(visit->context, KILN_IO_ERROR, "%s: weight '%s' is there twice", visit->path, weight->name);
  if (weight->dtype == KILN_BOOL && !kiln_are_bools(entry->data, entry->bytes))
    return kiln_fail(visit->context, KILN_IO_ERROR, "%s: weight '%s': a bool is neither 0 nor 1", visit->path,
                     weight->name);
  return place_weight(visit->context, index, entry->data);
}

static kiln_status visit_entry(void *user, const kiln_safetensors_entry *entry) {
  file_visit *visit = user;
  int32_t count = visit->context->model->weight_count;
  named_weight key = {entry->name, 0};
  const named_weight *found = bsearch(&key, visit->names, (size_t)count, sizeof key, compare_names);
  if (!found)
    return KILN_OK; /* a file may hold more than a model needs */
  while (found > visit->names && compare_names(found - 1, &key) == 0)
    found--;
  kiln_status status = KILN_OK;
  for (; !status && found < visit->names + count && compare_names(found, &key) == 0; found++)
    status = place_entry(visit, entry, found->index); /* on each device that reads it */
  return status;
}

static kiln_status from_file(kiln_context *context, const char *path) {
  const kiln_model *model = context->model;
  const kiln_allocator *memory = &context->options.memory;
  kiln_text cause = kiln_text_in(context->error, sizeof context->error);
  kiln_status status = kiln_safetensors_open(path, memory, &context->file, &cause);
  if (status)
    return status;
  char digest[80] = "";
  if (model->weights_digest && (!kiln_safetensors_metadata(&context->file, KILN_DIGEST_KEY, digest, sizeof digest) ||
                                strcmp(digest, model->weights_digest) != 0))
    return kiln_fail(
        context, KILN_IO_ERROR,
        "%s: these are not the weights that were written with this program; name that file, or compile the "
        "model again",
        path);
  file_visit visit = {context, path, kiln_allocate_zeros(memory, model->weight_count, sizeof(named_weight))};
  if (!visit.names)
    return kiln_fail(context, KILN_OUT_OF_MEMORY, "no memory for %" PRId32 " weights", model->weight_count);
  for (int32_t i = 0; i < model->weight_count; i++)
    visit.names[i] = (named_weight){model->weights[i].name, i};
  qsort(visit.names, (size_t)model->weight_count, sizeof *visit.names, compare_names);
  status = kiln_safetensors_each(&context->file, visit_entry, &visit, &cause);
  kiln_release(memory, visit.names);
  for (int32_t i = 0; i < model->weight_count && !status; i++)
    if (!context->weights[i].memory)
      status = kiln_fail(context, KILN_IO_ERROR, "%s: weight '%s' is missing", path, model->weights[i].name);
  return status;
}

kiln_status kiln_weights_open(kiln_context *context) {
  const kiln_model *model = context->model;
  if (model->weight_count == 0)
    return KILN_OK;
  if (context->options.weights_path)
    return from_file(context, context->options.weights_path);
  if (model->weight_data)
    return from_model(context);
  return kiln_fail(context, KILN_INVALID_ARGUMENT, "the weights are not part of this program; name their file");
}

void kiln_weights_close(kiln_context *context) {
  for (int32_t i = 0; i < context->model->weight_count; i++)
    kiln_block_release(context, &context->devices[context->model->weights[i].device], &context->weight_copies[i]);
  kiln_safetensors_close(&context->file);
}
