/*===- dtype.c - Elements as numbers --------------------------------------===
 *
 * C has types for about half of the dtypes: halves, bfloat16, floats and integers of 8 bits and less are patterns of
 * bits, taken apart and rounded here (the floats of 8 bits and less in narrow.c). Rounding is to the nearest, ties to
 * even; a float that is read as an integer is truncated and saturates.
 * Sizes come from files and callers, so a product of them may overflow. A count is therefore -1 where its bytes do not
 * fit 63 bits.
 *
 *===----------------------------------------------------------------------===*/
#include "dtype.h"

#include "narrow.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "kiln's files and tables are little endian"
#endif

static const struct {
  const char *name;
  uint8_t size;
} dtypes[KILN_DTYPE_COUNT] = {
    {"bool", 1},
    {"int8", 1},
    {"uint8", 1},
    {"int16", 2},
    {"uint16", 2},
    {"int32", 4},
    {"uint32", 4},
    {"int64", 8},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e5m2", 1},
    {"float8_e5m2fnuz", 1},
    {"float8_e8m0fnu", 1},
    {"float6_e2m3fn", 1},
    {"float6_e3m2fn", 1},
    {"float4_e2m1fn", 1},
    {"int4", 1},
    {"uint4", 1},
    {"int2", 1},
    {"uint2", 1},
    {"string", 8},
    {"sequence", 8},
    {"optional", 8},
};

bool kiln_dtype_valid(kiln_dtype dtype) { return (unsigned)dtype < KILN_DTYPE_COUNT; }

bool kiln_dtype_is_float(kiln_dtype dtype) { return dtype >= KILN_FLOAT16 && dtype <= KILN_FLOAT4_E2M1FN; }

bool kiln_dtype_is_narrow(kiln_dtype dtype) { return dtype >= KILN_FLOAT8_E4M3FN && dtype <= KILN_UINT2; }

size_t kiln_dtype_size(kiln_dtype dtype) { return kiln_dtype_valid(dtype) ? dtypes[dtype].size : 0; }

const char *kiln_dtype_name(kiln_dtype dtype) { return kiln_dtype_valid(dtype) ? dtypes[dtype].name : "unknown"; }

static float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

float kiln_half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, mantissa = half & 0x3ff;
  if (exponent == 31)
    return float_of_bits(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    float magnitude = (float)mantissa * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t kiln_float_to_half(float value) {
  uint32_t bits = bits_of_float(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return (uint16_t)(sign | 0x7e00);
  if (magnitude >= 0x477ff000) /* 65520, the first that rounds to infinity */
    return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000) { /* below 2^-14: adding 0.5 leaves the subnormal's bits, rounded, at the bottom */
    uint32_t rounded = bits_of_float(float_of_bits(magnitude) + 0.5f) - bits_of_float(0.5f);
    return (uint16_t)(sign | rounded);
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return (uint16_t)(sign | ((magnitude >> 13) - (112 << 10)));
}

uint16_t kiln_float_to_bfloat16(float value) {
  uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double kiln_load_float(const void *data, kiln_dtype dtype) {
  uint16_t half = 0;
  float single = 0;
  double value = 0;
  switch (dtype) {
  case KILN_FLOAT16:
    memcpy(&half, data, sizeof half);
    return (double)kiln_half_to_float(half);
  case KILN_BFLOAT16:
    memcpy(&half, data, sizeof half);
    return (double)float_of_bits((uint32_t)half << 16);
  case KILN_FLOAT32:
    memcpy(&single, data, sizeof single);
    return (double)single;
  default:
    if (kiln_dtype_is_narrow(dtype))
      return kiln_narrow_to_double(*(const uint8_t *)data, dtype);
    memcpy(&value, data, sizeof value);
    return value;
  }
}

static int64_t truncate_float(double value) {
  if (value != value)
    return 0;
  if (value >= 0x1p63)
    return INT64_MAX;
  if (value < -0x1p63)
    return INT64_MIN;
  return (int64_t)value;
}

int64_t kiln_load_int(const void *data, kiln_dtype dtype) {
  if (kiln_dtype_is_float(dtype))
    return truncate_float(kiln_load_float(data, dtype));
  uint64_t bits = 0;
  memcpy(&bits, data, kiln_dtype_size(dtype));
  switch (dtype) {
  case KILN_BOOL:
    return bits != 0;
  case KILN_INT8:
    return (int8_t)bits;
  case KILN_INT16:
    return (int16_t)bits;
  case KILN_INT32:
    return (int32_t)bits;
  case KILN_INT4:
    return (int64_t)((bits & 15) ^ 8) - 8;
  case KILN_UINT4:
    return (int64_t)(bits & 15);
  case KILN_INT2:
    return (int64_t)((bits & 3) ^ 2) - 2;
  case KILN_UINT2:
    return (int64_t)(bits & 3);
  default:
    return (int64_t)bits;
  }
}

void kiln_store_float(void *data, kiln_dtype dtype, double value) {
  uint16_t half;
  float single = (float)value;
  switch (dtype) {
  case KILN_FLOAT16:
    half = kiln_float_to_half(single);
    memcpy(data, &half, sizeof half);
    break;
  case KILN_BFLOAT16:
    half = kiln_float_to_bfloat16(single);
    memcpy(data, &half, sizeof half);
    break;
  case KILN_FLOAT32:
    memcpy(data, &single, sizeof single);
    break;
  default:
    if (kiln_dtype_is_narrow(dtype))
      *(uint8_t *)data = kiln_double_to_narrow(value, dtype);
    else
      memcpy(data, &value, sizeof value);
    break;
  }
}

void kiln_store_int(void *data, kiln_dtype dtype, int64_t value) {
  if (kiln_dtype_is_float(dtype)) {
    kiln_store_float(data, dtype, (double)value);
    return;
  }
  if (dtype == KILN_BOOL)
    value = value != 0;
  if (dtype == KILN_INT4 || dtype == KILN_UINT4)
    value &= 15;
  if (dtype == KILN_INT2 || dtype == KILN_UINT2)
    value &= 3;
  memcpy(data, &value, kiln_dtype_size(dtype));
}

bool kiln_are_bools(const void *data, int64_t bytes) {
  const uint8_t *at = data;
  uint64_t bits = 0, words[4]; /* at once, as no compiler makes vectors of this where code is to be small */
  int64_t i = 0;
  for (; bytes - i >= (int64_t)sizeof words; i += (int64_t)sizeof words) {
    memcpy(words, at + i, sizeof words);
    bits |= words[0] | words[1] | words[2] | words[3];
  }
  for (; i < bytes; i++)
    bits |= at[i];
  return (bits & UINT64_C(0xfefefefefefefefe)) == 0;
}

int64_t kiln_element_count(kiln_dtype dtype, int32_t rank, const int64_t *dims) {
  int64_t count = 1, bytes = (int64_t)kiln_dtype_size(dtype);
  bool empty = false;
  for (int32_t axis = 0; axis < rank; axis++) {
    if (dims[axis] < 0)
      return -1;
    empty |= dims[axis] == 0;
  }
  if (empty)
    return 0;
  for (int32_t axis = 0; axis < rank; axis++)
    if (__builtin_mul_overflow(count, dims[axis], &count) || __builtin_mul_overflow(bytes, dims[axis], &bytes))
      return -1;
  return count;
}
