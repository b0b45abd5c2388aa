// Every row on every dtype, as scalars and as vectors, against the rows' definition in Evaluate.h, bit for bit. A row
// is lowered in different ways by dtype, by width and by what the CPU has, and mistakes are in single combinations: so
// all are tried, on all pairs of values at which rows differ, as vectors for this machine's CPU, and as scalars for one
// without fma and conversions of f16.
#include "TextKernel.h"

#include "ir/base/ConvertElement.h"
#include "ir/base/Evaluate.h"

#include <catch2/catch.hpp>

using namespace kiln;
using kiln::test::TextKernel;

namespace {

/// Values at which rows differ, in every pair.
template <class T> std::vector<T> corners() {
  if constexpr (std::is_same_v<T, bool>)
    return {false, true};
  else if constexpr (isFloatElement<T>) {
    std::vector<T> values;
    for (double value : {0.0,
                         -0.0,
                         1.0,
                         -1.0,
                         0.5,
                         2.0,
                         -2.5,
                         7.0,
                         -7.5,
                         3.25,
                         0.1,
                         1e-3,
                         1e5,
                         -1e10,
                         3e38,
                         6e-8,
                         1e-40,
                         65504.0,
                         65519.0,
                         65520.0,
                         1.00048828125,
                         33.0,
                         2147483648.0,
                         1e300,
                         double(INFINITY),
                         -double(INFINITY),
                         double(NAN)})
      values.push_back(convertElement<T>(value));
    return values;
  } else {
    using Limits = std::numeric_limits<T>;
    return {0,
            1,
            T(-1),
            2,
            T(-2),
            3,
            7,
            T(-7),
            8,
            15,
            16,
            31,
            32,
            33,
            63,
            64,
            100,
            Limits::min(),
            T(Limits::min() + 1),
            Limits::max(),
            T(Limits::max() - 1),
            T(Limits::max() / 3)};
  }
}

/// All pairs of corners in the first two arrays, with a third operand; padded to a multiple of 8.
template <class T> std::array<std::vector<T>, 3> operandArrays() {
  std::vector<T> values = corners<T>();
  std::array<std::vector<T>, 3> arrays;
  size_t pairs = values.size() * values.size(), count = (pairs + 7) / 8 * 8;
  for (size_t i = 0; i < count; ++i) {
    arrays[0].push_back(values[i / values.size() % values.size()]);
    arrays[1].push_back(values[i % values.size()]);
    arrays[2].push_back(values[(i * 7 + 3) % values.size()]);
  }
  return arrays;
}

struct Row {
  std::string name, uop; // the operation with its operands and types
  AluLoop loop;
  DType result;
  std::vector<unsigned> operands; // of the three arrays; 3: the condition, 4: exponents
};

std::string typeName(DType dtype, unsigned lanes) {
  std::string name = dtypeName(dtype).str();
  return lanes == 1 ? name : "vector<" + std::to_string(lanes) + "x" + name + ">";
}

DType typeOf(unsigned operand, DType dtype) { return operand == 3 ? DType::Bool : operand == 4 ? DType::I32 : dtype; }

std::vector<Row> rowsOf(DType dtype, unsigned lanes) {
  std::vector<Row> rows;
  auto add = [&](Alu kind, DType result) {
    const AluInfo &info = aluInfo(kind);
    AluLoop loop = aluLoop(kind, info.rule == AluRule::Scale ? DType::I32 : dtype, result);
    if (!loop)
      return;
    std::vector<unsigned> operands = {0, 1, 2};
    if (info.rule == AluRule::Select)
      operands = {3, 0, 1};
    if (info.rule == AluRule::Scale)
      operands = {0, 4};
    operands.resize(info.arity);
    std::string uop = "uop.alu " + info.mnemonic.str() + " ", types;
    for (unsigned operand : operands) {
      uop += (types.empty() ? "%x" : ", %x") + std::to_string(operand);
      types += (types.empty() ? "" : ", ") + typeName(typeOf(operand, dtype), lanes);
    }
    rows.push_back({info.mnemonic.str() + " to " + dtypeName(result).str(),
                    uop + " : (" + types + ") -> " + typeName(result, lanes), loop, result, operands});
  };
  for (uint32_t kind = 0; kind <= uint32_t(Alu::MULACC); ++kind) {
    AluRule rule = aluInfo(Alu(kind)).rule;
    if (Alu(kind) == Alu::THREEFRY) // written as others before it is rendered
      continue;
    if (rule == AluRule::Convert)
      for (unsigned to = 0; to < kDTypes; ++to)
        add(Alu(kind), DType(to));
    else
      add(Alu(kind), rule == AluRule::Compare ? DType::Bool : dtype);
  }
  rows.push_back({"fma", "uop.fma %x0, %x1, %x2 : " + typeName(dtype, lanes), fmaLoop(dtype), dtype, {0, 1, 2}});
  return rows;
}

std::string loadText(unsigned index, DType dtype, unsigned lanes) {
  return "%x" + std::to_string(index) + " = uop.load %in" + std::to_string(index) + "[%at : i32] : !uop.ptr<" +
         dtypeName(dtype).str() + ", global> -> " + typeName(dtype, lanes) + "\n";
}

/// One kernel that computes all rows.
TextKernel makeKernel(const std::vector<Row> &rows, DType dtype, unsigned lanes, size_t count, llvm::StringRef cpu) {
  std::string arguments, body;
  for (size_t i = 0; i < rows.size(); ++i)
    arguments += "%out" + std::to_string(i) + ": " + dtypeName(rows[i].result).str() + ", ";
  for (unsigned i = 0; i < 5; ++i)
    arguments += (i ? ", %in" : "%in") + std::to_string(i) + ": " + typeName(typeOf(i, dtype), 1);
  body = "%zero = uop.const 0 : i32\n%n = uop.const " + std::to_string(count / lanes) + " : i32\n%w = uop.const " +
         std::to_string(lanes) + " : i32\nuop.range %i = %zero to %n : i32 attributes {axis = 0} {\n" +
         "%at = uop.alu mul %i, %w : (i32, i32) -> i32\n";
  for (unsigned i = 0; i < 5; ++i)
    body += loadText(i, typeOf(i, dtype), lanes);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string value = "%r" + std::to_string(i);
    body += value + " = " + rows[i].uop + "\nuop.store " + value + ", %out" + std::to_string(i) +
            "[%at : i32] : " + typeName(rows[i].result, lanes) + ", !uop.ptr<" + dtypeName(rows[i].result).str() +
            ", global>\n";
  }
  return TextKernel(arguments, body + "uop.yield\n}", cpu);
}

bool isNan(DType dtype, const void *element) {
  return withElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T value = *static_cast<const T *>(element);
    if constexpr (isFloatElement<T>)
      return std::isnan(convertElement<double>(value));
    else
      return false;
  });
}

bool isZero(DType dtype, const void *element) {
  return withElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return convertElement<double>(*static_cast<const T *>(element)) == 0;
  });
}

template <class T> void checkAll(DType dtype, unsigned lanes, llvm::StringRef cpu) {
  auto arrays = operandArrays<T>();
  size_t count = arrays[0].size();
  std::unique_ptr<bool[]> condition(new bool[count]);
  for (size_t i = 0; i < count; ++i)
    condition[i] = i % 3 == 1;
  static constexpr int32_t kExponents[] = {0, 1, -1, 30, -30, 127, -126, -149, 300, -300, INT32_MAX, INT32_MIN};
  std::vector<int32_t> exponents(count);
  for (size_t i = 0; i < count; ++i)
    exponents[i] = kExponents[i % std::size(kExponents)];
  // vector<bool> has no data(); the arrays of bool are copied.
  std::array<std::unique_ptr<T[]>, 3> inputs;
  for (unsigned k = 0; k < 3; ++k) {
    inputs[k].reset(new T[count]);
    std::copy(arrays[k].begin(), arrays[k].end(), inputs[k].get());
  }
  const void *in[] = {inputs[0].get(), inputs[1].get(), inputs[2].get(), condition.get(), exponents.data()};

  std::vector<Row> rows = rowsOf(dtype, lanes);
  std::vector<std::vector<char>> made, wanted;
  std::vector<void *> buffers;
  for (const Row &row : rows) {
    made.emplace_back(count * byteSize(row.result));
    wanted.emplace_back(count * byteSize(row.result));
  }
  for (std::vector<char> &result : made)
    buffers.push_back(result.data());
  for (const void *input : in)
    buffers.push_back(const_cast<void *>(input));
  makeKernel(rows, dtype, lanes, count, cpu).run(buffers);

  for (auto [index, row] : llvm::enumerate(rows)) {
    const void *operands[3];
    for (size_t k = 0; k < row.operands.size(); ++k)
      operands[k] = in[row.operands[k]];
    row.loop(operands, wanted[index].data(), count);
    unsigned bytes = byteSize(row.result);
    // MAX and MIN leave open which zero they give.
    bool anyZero = llvm::StringRef(row.name).starts_with("m");
    for (size_t i = 0; i < count; ++i) {
      const char *got = made[index].data() + i * bytes, *want = wanted[index].data() + i * bytes;
      bool same = memcmp(got, want, bytes) == 0 || (isNan(row.result, got) && isNan(row.result, want)) ||
                  (anyZero && isZero(row.result, got) && isZero(row.result, want));
      if (same)
        continue;
      auto number = [&](const T &value) { return convertElement<double>(value); };
      CAPTURE(dtypeName(dtype).str(), lanes, cpu.str(), row.name, number(inputs[0][i]), number(inputs[1][i]),
              number(inputs[2][i]), i);
      withElement(row.result, [&](auto tag) {
        using R = typename decltype(tag)::Type;
        CHECK(convertElement<double>(*reinterpret_cast<const R *>(got)) ==
              convertElement<double>(*reinterpret_cast<const R *>(want)));
      });
      FAIL("the results differ in their bits");
    }
  }
}

} // namespace

TEST_CASE("every row as the definition computes it") {
  unsigned dtype = GENERATE(range(0u, kDTypes));
  withElement(DType(dtype), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    checkAll<T>(DType(dtype), 8, "");
    checkAll<T>(DType(dtype), 1, "x86-64"); // no conversions of f16, no fma, no vectors beyond SSE2
  });
}
