/*===- load.c - The binary that fits the GPU -----------------------------===*/
#include "image.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How well an image fits a GPU; 0: not at all. Machine code starts at once, and newer code uses more of the GPU. */
static uint32_t fitness(const cuda_image *image, uint32_t arch) {
  if (image->kind == CUDA_IMAGE_EXACT)
    return image->arch == arch ? 3000 : 0;
  if (image->kind == CUDA_IMAGE_CUBIN)
    return image->arch / 10 == arch / 10 && image->arch <= arch ? 2000 + image->arch : 0;
  return image->kind == CUDA_IMAGE_PTX && image->arch <= arch ? 1000 + image->arch : 0;
}

/* The image that fits best, and in `known` the names of all; `bytes` is 0 if none fits. */
static cuda_image choose(const cuda_state *state, const cuda_images *head, char *known, size_t known_bytes) {
  cuda_image best = {0};
  size_t used = 0;
  for (uint32_t i = 0; i < head->count; i++) {
    cuda_image image;
    memcpy(&image, (const char *)state->model->devices[state->place].code + sizeof *head + i * sizeof image,
           sizeof image);
    if (fitness(&image, (uint32_t)state->arch) > (best.bytes ? fitness(&best, (uint32_t)state->arch) : 0))
      best = image;
    if (used < known_bytes)
      used += (size_t)snprintf(known + used, known_bytes - used, "%s%s_%u%s", used ? ", " : "",
                               image.kind == CUDA_IMAGE_PTX ? "compute" : "sm", image.arch,
                               image.kind == CUDA_IMAGE_EXACT ? "a" : "");
  }
  return best;
}

static kiln_status load_image(cuda_state *state, const cuda_image *image) {
  /* A constant of the program may lie anywhere; the driver reads machine code at aligned addresses. */
  void *copy = malloc(image->bytes ? image->bytes : 1);
  if (!copy)
    return kiln_cuda_check(state, CUDA_OUT_OF_MEMORY, "kernels");
  memcpy(copy, (const char *)state->model->devices[state->place].code + image->offset, image->bytes);
  cuda_result code = state->api.module_load(&state->module, copy);
  free(copy);
  if (code == CUDA_UNSUPPORTED_PTX) {
    snprintf(
        state->error, sizeof state->error,
        "the NVIDIA driver is too old to compile for %s; install a newer one, or compile again with --gpu-arch=sm_%d",
        state->name, state->arch);
    return KILN_UNAVAILABLE;
  }
  return kiln_cuda_check(state, code, "cuModuleLoadData");
}

kiln_status kiln_cuda_load_kernels(cuda_state *state) {
  const kiln_model *model = state->model;
  const kiln_place *here = &model->devices[state->place];
  cuda_images head = {0};
  int driver = 0;
  char known[128] = "";
  state->kernels = calloc((size_t)model->kernel_count + 1, sizeof(cuda_function));
  if (!state->kernels)
    return kiln_cuda_check(state, CUDA_OUT_OF_MEMORY, "kernels");
  int32_t count = 0;
  for (int32_t i = 0; i < model->kernel_count; i++)
    count += model->kernels[i].device == state->place;
  if (count == 0)
    return KILN_OK;
  if (here->code && here->code_bytes >= (int64_t)sizeof head)
    memcpy(&head, here->code, sizeof head);
  if (head.magic != KILN_CUDA_MAGIC) {
    snprintf(state->error, sizeof state->error, "the model's kernels are not of this runtime; compile it again");
    return KILN_UNAVAILABLE;
  }
  state->api.driver_version(&driver);
  if (driver / 1000 < (int)head.toolkit / 1000) {
    snprintf(state->error, sizeof state->error,
             "the NVIDIA driver is too old: it knows CUDA %d.%d, this program needs %u.0; install a newer one",
             driver / 1000, driver % 1000 / 10, head.toolkit / 1000);
    return KILN_UNAVAILABLE;
  }
  cuda_image image = choose(state, &head, known, sizeof known);
  if (!image.bytes) {
    snprintf(state->error, sizeof state->error,
             "this program is for %s, and the GPU is %s; compile again with --gpu-arch=sm_%d", known, state->name,
             state->arch);
    return KILN_UNAVAILABLE;
  }
  kiln_status status = load_image(state, &image);
  for (int32_t i = 0; i < model->kernel_count && !status; i++)
    if (model->kernels[i].device == state->place)
      status =
          kiln_cuda_check(state, state->api.module_function(&state->kernels[i], state->module, model->kernels[i].name),
                          model->kernels[i].name);
  return status;
}
