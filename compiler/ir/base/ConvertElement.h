//===- ConvertElement.h - CAST of one element ----------------------------------===//
#pragma once

#include "ir/base/HalfFloat.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace kiln {

template <class T> inline constexpr bool isSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T> inline constexpr bool isFloatElement = std::is_floating_point_v<T> || isSmallFloat<T>;

/// Truncates, and saturates at T's ends; NaN gives 0.
template <class T> T saturate(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value))
    return 0;
  if (value >= std::ldexp(1.0, Limits::digits))
    return Limits::max();
  if (value <= double(Limits::min()))
    return Limits::min();
  return T(value);
}

template <class To, class From> To convertElement(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (isSmallFloat<From>)
    return convertElement<To>(float(value));
  else if constexpr (std::is_same_v<To, bool>)
    return value != From(0);
  else if constexpr (isSmallFloat<To>)
    return To(double(std::conditional_t<std::is_same_v<From, double>, double, float>(value)));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturate<To>(value);
  else
    return To(value);
}

} // namespace kiln
