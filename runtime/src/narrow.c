/*===- narrow.c - Floats of 8 bits and less ------------------------------===*/
#include "narrow.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Zero and the numbers of one sign, ascending, have the codes from 0 to `largest`. */
typedef struct form {
  uint8_t exponent_bits, mantissa_bits, bias, largest;
  bool has_sign, has_minus_0;
  uint8_t infinity, not_a_number; /* 0: none */
} form;

static form form_of(kiln_dtype dtype) {
  switch (dtype) {
  case KILN_FLOAT8_E4M3FN:
    return (form){4, 3, 7, 0x7e, true, true, 0, 0x7f};
  case KILN_FLOAT8_E4M3FNUZ:
    return (form){4, 3, 8, 0x7f, true, false, 0, 0x80};
  case KILN_FLOAT8_E5M2:
    return (form){5, 2, 15, 0x7b, true, true, 0x7c, 0x7e};
  case KILN_FLOAT8_E5M2FNUZ:
    return (form){5, 2, 16, 0x7f, true, false, 0, 0x80};
  case KILN_FLOAT8_E8M0FNU:
    return (form){8, 0, 127, 0xfe, false, false, 0, 0xff};
  case KILN_FLOAT6_E2M3FN:
    return (form){2, 3, 1, 0x1f, true, true, 0, 0};
  case KILN_FLOAT6_E3M2FN:
    return (form){3, 2, 3, 0x1f, true, true, 0, 0};
  default: /* KILN_FLOAT4_E2M1FN */
    return (form){2, 1, 1, 0x7, true, true, 0, 0};
  }
}

/* 2 to this power, a normal double. Not ldexp: programs shall need no libm for it. */
static double power_of_2(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

static double magnitude_of(const form *f, unsigned code) {
  int exponent = (int)(code >> f->mantissa_bits), hidden = 1 << f->mantissa_bits;
  int mantissa = (int)code & (hidden - 1);
  if (!f->has_sign) /* no zero, and no subnormal number */
    return power_of_2(exponent - f->bias);
  if (exponent > 0)
    mantissa += hidden;
  else
    exponent = 1;
  return mantissa * power_of_2(exponent - f->bias - f->mantissa_bits);
}

double kiln_narrow_to_double(uint8_t code, kiln_dtype dtype) {
  form f = form_of(dtype);
  unsigned sign_bit = f.has_sign ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  unsigned magnitude = code & ((1u << (f.exponent_bits + f.mantissa_bits)) - 1);
  bool negative = (code & sign_bit) != 0;
  if (negative && magnitude == 0 && !f.has_minus_0)
    return NAN;
  if (magnitude > f.largest)
    return f.infinity && magnitude == f.infinity ? negative ? -INFINITY : INFINITY : NAN;
  double value = magnitude_of(&f, magnitude);
  return negative ? -value : value;
}

uint8_t kiln_double_to_narrow(double value, kiln_dtype dtype) {
  form f = form_of(dtype);
  if (value != value)
    return f.not_a_number;
  double wanted = fabs(value);
  unsigned low = 0, high = f.largest;
  /* The last code of a number that is not above the wanted one. */
  while (low < high) {
    unsigned middle = (low + high + 1) / 2;
    if (magnitude_of(&f, middle) <= wanted)
      low = middle;
    else
      high = middle - 1;
  }
  if (low < f.largest) {
    double below = wanted - magnitude_of(&f, low), above = magnitude_of(&f, low + 1) - wanted;
    low += above < below || (above == below && low % 2 == 1);
  }
  bool negative = f.has_sign && signbit(value) && (low > 0 || f.has_minus_0);
  return (uint8_t)(low | (negative ? 1u << (f.exponent_bits + f.mantissa_bits) : 0));
}
