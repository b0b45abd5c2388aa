//===- HalfFloat.h - The 16-bit floats as values ----------------------------===//
//
// f16 and bf16 hold numbers, they do not compute: arithmetic is float's, and each result is rounded to nearest, ties to
// even. Overflow gives an infinity, what is too small a subnormal or zero; every NaN becomes the quiet one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kiln {

/// A float of one sign bit, `ExponentBits` and `MantissaBits`, 16 in all.
template <int ExponentBits, int MantissaBits> struct SmallFloat {
  static_assert(1 + ExponentBits + MantissaBits == 16);
  static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr uint16_t kInfinity = ((1 << ExponentBits) - 1) << MantissaBits;
  static constexpr uint16_t kQuiet = 1 << (MantissaBits - 1);

  uint16_t bits = 0;

  SmallFloat() = default;
  /// One rounding; a float argument converts to double exactly.
  explicit SmallFloat(double value) {
    uint64_t wide = std::bit_cast<uint64_t>(value);
    int exponent = int(wide >> 52 & 0x7ff) - 1023;
    if (std::isnan(value)) {
      bits = kInfinity | kQuiet;
    } else if (exponent > kBias) {
      bits = kInfinity;
    } else {
      exponent = exponent < 1 - kBias ? 1 - kBias : exponent;
      double scale = std::bit_cast<double>(uint64_t(1023 + MantissaBits - exponent) << 52);
      // Beyond 2^52 a double has no fraction, so adding and subtracting it rounds to an integer.
      constexpr double kRound = 0x1p52;
      double quanta = (std::fabs(value) * scale + kRound) - kRound;
      // A mantissa that rounds up to the next power of two carries into the exponent, up to infinity.
      bits = uint16_t(int(quanta) + ((exponent + kBias - 1) << MantissaBits));
    }
    bits |= uint16_t(wide >> 63 << 15);
  }

  explicit operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t exponent = (bits & 0x7fff) >> MantissaBits, mantissa = bits & ((1 << MantissaBits) - 1);
    if (exponent == kInfinity >> MantissaBits)
      return std::bit_cast<float>(sign | 0x7f800000 | mantissa << (23 - MantissaBits));
    if constexpr (ExponentBits == 8)
      return std::bit_cast<float>(uint32_t(bits) << 16);
    if (exponent == 0) {
      float magnitude = float(mantissa) * std::bit_cast<float>(uint32_t(127 + 1 - kBias - MantissaBits) << 23);
      return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | (exponent + 127 - kBias) << 23 | mantissa << (23 - MantissaBits));
  }
};

using Half = SmallFloat<5, 10>;
using BFloat16 = SmallFloat<8, 7>;

} // namespace kiln
