/*===- affine.c - A model written by hand --------------------------------===*/
#include "affine.h"

#include "kiln/cli.h"

extern const kiln_device kiln_device_cpu;

static void product(void *const *buffers, const int64_t *sizes, int64_t chunk) {
  float *restrict data0 = buffers[0];
  const float *restrict data1 = buffers[1], *restrict data2 = buffers[2];
  (void)sizes;
  for (int j = 0; j < 3; j++)
    data0[chunk * 3 + j] = data1[chunk * 3 + j] * data2[j];
}

static void sum(void *const *buffers, const int64_t *sizes, int64_t chunk) {
  float *restrict data0 = buffers[0], acc0 = 0;
  const float *restrict data1 = buffers[1], *restrict data2 = buffers[2];
  (void)sizes;
  for (int j = 0; j < 3; j++)
    acc0 += data1[chunk * 3 + j] + data2[j];
  data0[chunk] = acc0;
}

static kiln_status run(kiln_context *context, const int64_t *sizes) {
  static const kiln_launch_info infos[2] = {{0, "['mul']"}, {1, "['add', 'sum']"}};
  int64_t batch = sizes[0];
  int64_t grid[3] = {batch, 1, 1}, estimates[KILN_ESTIMATES] = {3 * batch, 28 * batch};
  kiln_slice x, bias, weight, arena, y;
  kiln_status status;
  if ((status = kiln_rt_input(context, 0, &x)) || (status = kiln_rt_input(context, 1, &bias)) ||
      (status = kiln_rt_weight(context, 0, &weight)) || (status = kiln_rt_output(context, 0, &batch, &y)) ||
      (status = kiln_rt_arena(context, 0, 256 + 12 * batch, NULL, &arena)))
    return status;
  arena.offset += 256;
  if ((status = kiln_rt_launch(context, &infos[0], (kiln_slice[]){arena, x, weight}, sizes, grid, estimates)))
    return status;
  return kiln_rt_launch(context, &infos[1], (kiln_slice[]){y, arena, bias}, sizes, grid, estimates);
}

static const kiln_place devices[] = {{&kiln_device_cpu, NULL, 0, 0, 0, {{0, 0}, {0, 0}}}};
static const kiln_dim x_dims[] = {{"batch", -1, 0}, {"3", 3, -1}};
static const kiln_dim bias_dims[] = {{"3", 3, -1}};
static const kiln_dim y_dims[] = {{"batch", -1, 0}};
static const float bias_value[] = {1, 2, 3};
static const kiln_port inputs[] = {{"x", KILN_FLOAT32, 2, x_dims, NULL, NULL, 0, 0},
                                   {"bias", KILN_FLOAT32, 1, bias_dims, bias_value, NULL, 0, 0}};
static const kiln_port outputs[] = {{"y", KILN_FLOAT32, 1, y_dims, NULL, NULL, 0, 0}};
static const kiln_symbol symbols[] = {{"batch", 1, 64, 2}};
static const int64_t weight_dims[] = {3};
static const kiln_weight weights[] = {{"layer.weight", KILN_FLOAT32, 1, weight_dims, 128, 12, 0}};
static const _Alignas(KILN_ALIGNMENT) float weight_data[35] = {[32] = 1, [33] = 10, [34] = 100};
static const kiln_kernel kernels[] = {{"E_3", 3, 1, product, {1, 1, 1}, 0, 0, NULL},
                                      {"r_3", 3, 1, sum, {1, 1, 1}, 0, 0, NULL}};

#define AFFINE(DATA)                                                                                                   \
  {                                                                                                                    \
      .abi = KILN_ABI_VERSION,                                                                                         \
      .name = "affine",                                                                                                \
      .devices = devices,                                                                                              \
      .features = "",                                                                                                  \
      .inputs = inputs,                                                                                                \
      .outputs = outputs,                                                                                              \
      .symbols = symbols,                                                                                              \
      .weights = weights,                                                                                              \
      .kernels = kernels,                                                                                              \
      .device_count = 1,                                                                                               \
      .input_count = 2,                                                                                                \
      .output_count = 1,                                                                                               \
      .symbol_count = 1,                                                                                               \
      .weight_count = 1,                                                                                               \
      .kernel_count = 2,                                                                                               \
      .weight_data = DATA,                                                                                             \
      .weight_bytes = sizeof weight_data,                                                                              \
      .run = run,                                                                                                      \
  }

const kiln_model affine_model = AFFINE(weight_data);
const kiln_model affine_model_without_weights = AFFINE(NULL);
const kiln_model kiln_the_model = AFFINE(weight_data);
