#include "Compare.h"

#include "RunModel.h"

#include "kiln/kiln.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;

std::string driver::describe(const HostTensor &tensor) {
  if (tensor.isList)
    return "sequence of " + std::to_string(tensorsOf(tensor).size());
  std::string text = kiln_dtype_name(tensor.objects ? KILN_STRING : static_cast<kiln_dtype>(tensor.dtype));
  llvm::raw_string_ostream out(text);
  out << " [";
  llvm::interleaveComma(tensor.dims, out);
  out << "]";
  return text;
}

/// The numbers of a float's dtype, counted from 0: neighbours differ by 1, and the zeros are one.
template <class Bits> static int64_t place(Bits bits) {
  constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  auto magnitude = static_cast<int64_t>(static_cast<Bits>(bits & ~sign));
  return bits & sign ? -magnitude : magnitude;
}

template <class T> static long double wide(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value;
  else
    return static_cast<float>(value);
}

template <class T> static double ulpsBetween(T got, T wanted) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<double>(std::abs(wide(got) - wide(wanted)));
  else {
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    return static_cast<double>(std::abs(static_cast<long double>(place(std::bit_cast<Bits>(got))) -
                                        static_cast<long double>(place(std::bit_cast<Bits>(wanted)))));
  }
}

static std::string indexText(int64_t position, llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> index(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; position /= dims[axis])
    index[axis] = position % dims[axis];
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "[";
  llvm::interleaveComma(index, out);
  out << "]";
  return text;
}

template <class T>
static void compareElements(const HostTensor &gotTensor, const HostTensor &wantedTensor, const VerifyOptions &options,
                            Comparison &result) {
  llvm::ArrayRef<T> got = gotTensor.elements<T>(), wanted = wantedTensor.elements<T>();
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    long double have = wide(got[i]), want = wide(wanted[i]);
    bool same = have == want || (std::isnan(have) && std::isnan(want));
    if (!same && std::isfinite(have) && std::isfinite(want)) {
      long double error = std::abs(have - want);
      result.absolute = std::max(result.absolute, static_cast<double>(error));
      if (want != 0)
        result.relative = std::max(result.relative, static_cast<double>(error / std::abs(want)));
      result.ulps = std::max(result.ulps, ulpsBetween(got[i], wanted[i]));
      same = error <= options.absolute + options.relative * std::abs(want);
    }
    if (!same && wrong++ == 0)
      first = static_cast<int64_t>(i);
  }
  if (wrong == 0) {
    result.equal = true;
    return;
  }
  llvm::raw_string_ostream(result.mismatch)
      << wrong << " of " << got.size() << " elements differ, first at " << indexText(first, gotTensor.dims) << ": got "
      << llvm::format("%.9Lg", wide(got[first])) << ", wanted " << llvm::format("%.9Lg", wide(wanted[first]));
}

static void compareStrings(const HostTensor &got, const HostTensor &wanted, Comparison &result) {
  auto have = got.elements<const char *>(), want = wanted.elements<const char *>();
  auto text = [](const char *string) { return llvm::StringRef(string ? string : ""); };
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < have.size(); ++i)
    if (text(have[i]) != text(want[i]) && wrong++ == 0)
      first = static_cast<int64_t>(i);
  result.equal = wrong == 0;
  if (wrong)
    llvm::raw_string_ostream(result.mismatch)
        << wrong << " of " << have.size() << " elements differ, first at " << indexText(first, got.dims) << ": got '"
        << text(have[first]) << "', wanted '" << text(want[first]) << "'";
}

/// Tensor by tensor; the errors are the largest of all.
static Comparison compareLists(const HostTensor &got, const HostTensor &wanted, const VerifyOptions &options) {
  std::vector<HostTensor> have = tensorsOf(got), want = tensorsOf(wanted);
  Comparison result;
  result.comparable = have.size() == want.size();
  if (!result.comparable) {
    result.mismatch = "wanted " + describe(wanted);
    return result;
  }
  result.equal = true;
  for (size_t i = 0; i < have.size(); ++i) {
    Comparison one = driver::compare(have[i], want[i], options);
    result.absolute = std::max(result.absolute, one.absolute);
    result.relative = std::max(result.relative, one.relative);
    result.ulps = std::max(result.ulps, one.ulps);
    if (!one.equal && result.equal)
      result.mismatch = "tensor " + std::to_string(i) + ": " + one.mismatch;
    result.equal &= one.equal;
  }
  return result;
}

Comparison driver::compare(const HostTensor &got, const HostTensor &wanted, const VerifyOptions &options) {
  // A stored optional is the tensor itself.
  if (got.isList)
    return compareLists(got, wanted.isList ? wanted : listOf({wanted}), options);
  Comparison result;
  if (got.isList != wanted.isList || got.dtype != wanted.dtype || got.dims != wanted.dims ||
      !got.objects != !wanted.objects) {
    result.comparable = false;
    result.mismatch = "wanted " + describe(wanted);
    return result;
  }
  if (got.objects) {
    compareStrings(got, wanted, result);
    return result;
  }
  withElement(got.dtype,
              [&](auto tag) { compareElements<typename decltype(tag)::Type>(got, wanted, options, result); });
  return result;
}
