/*===- random.c - Inputs from a seed -------------------------------------===*/
#include "../dtype.h"
#include "kiln/cli.h"

/* SplitMix64: every element has a number of its own, so that order and threads cannot matter. */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

void kiln_random_fill(kiln_tensor *tensor, uint64_t seed, uint64_t stream, double mean) {
  int64_t count = kiln_element_count(tensor->dtype, tensor->rank, tensor->dims);
  size_t size = kiln_dtype_size(tensor->dtype);
  uint64_t start = mix(mix(seed) ^ stream);
  static const kiln_string words[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits = mix(start ^ (uint64_t)i);
    void *element = (char *)tensor->data + (size_t)i * size;
    if (tensor->dtype == KILN_STRING)
      *(kiln_string *)element = words[(bits >> 32) % (sizeof words / sizeof *words)];
    else if (kiln_dtype_is_float(tensor->dtype))
      kiln_store_float(element, tensor->dtype, mean + (double)(int32_t)(bits >> 32) * 0x1p-31 * (1 - 0x1p-24));
    else
      kiln_store_int(element, tensor->dtype, (int64_t)(bits >> 32) % (tensor->dtype == KILN_BOOL ? 2 : 10));
  }
}
