// Random arithmetic, rendered to C and run by the uop interpreter: the bits must be the same. Rows interact in ways
// that no list of cases has: a C compiler that may assume that nothing overflows uses that several expressions later.
// So kernels are drawn from most rows and dtypes, on random bits and on the numbers at which arithmetic has corners.
// The seed is fixed, so a failure comes again.
#include "CompiledC.h"
#include "Kernels.h"

#include "interp/UopInterpreter.h"
#include "render/kernel/CStyle.h"
#include "render/kernel/DTypeNames.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

using namespace kiln;

namespace {

constexpr unsigned kElements = 24, kInputs = 4, kOutputs = 3, kSteps = 14, kKernels = 60;

constexpr llvm::StringLiteral kInteger[] = {"add",  "mul", "idiv",  "mod",  "floordiv", "floormod", "max",
                                            "min",  "and", "or",    "xor",  "shl",      "shr",      "pow",
                                            "fdiv", "neg", "recip", "sqrt", "floor"};
constexpr llvm::StringLiteral kFloat[] = {"add", "mul", "fdiv",  "idiv", "floordiv", "floormod", "mod",   "max",
                                          "min", "neg", "recip", "sqrt", "floor",    "ceil",     "round", "trunc"};
constexpr llvm::StringLiteral kBool[] = {"add", "mul",  "max", "min", "and", "or",
                                         "xor", "idiv", "mod", "pow", "neg", "shl"};
constexpr llvm::StringLiteral kCompare[] = {"cmplt", "cmpne", "cmpeq"};

/// Writes a kernel of kOutputs + kInputs pointers; remembers their dtypes.
class Generator {
public:
  Generator(std::mt19937 &random, std::string name) : random_(random) {
    for (unsigned i = 0; i < kInputs; ++i)
      inputs.push_back(anyDType());
    std::string arguments;
    for (unsigned i = 0; i < kInputs; ++i) {
      std::string number = std::to_string(kOutputs + i);
      add(inputs[i], "uop.load %" + number + "[%i : i32] : " + pointer(inputs[i]) + " -> " + type(inputs[i]));
    }
    for (unsigned step = 0; step < kSteps; ++step)
      addStep();
    std::string stores;
    for (unsigned i = 0; i < kOutputs; ++i) {
      auto &[dtype, value] = values_[values_.size() - 1 - i];
      outputs.push_back(dtype);
      stores += "uop.store " + value + ", %" + std::to_string(i) + "[%i : i32] : " + type(dtype) + ", " +
                pointer(dtype) + "\n";
    }
    for (unsigned i = 0; i < kOutputs + kInputs; ++i)
      arguments +=
          (i ? ", %" : "%") + std::to_string(i) + ": " + pointer(i < kOutputs ? outputs[i] : inputs[i - kOutputs]);
    text = test::kernelText(name, arguments,
                            "%from = uop.const 0 : i32\n%to = uop.const " + std::to_string(kElements) +
                                " : i32\nuop.range %i = %from to %to : i32 attributes {axis = 0 : i64} {\n" + body_ +
                                stores + "uop.yield\n}");
  }

  std::string text;
  std::vector<DType> inputs, outputs;

private:
  unsigned below(size_t limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }
  DType anyDType() { return DType(below(kDTypes)); }
  static std::string type(DType dtype) { return dtypeName(dtype).str(); }
  static std::string pointer(DType dtype) { return "!uop.ptr<" + type(dtype) + ", global>"; }

  void add(DType dtype, const std::string &operation) {
    std::string name = "%v" + std::to_string(values_.size());
    body_ += name + " = " + operation + "\n";
    values_.emplace_back(dtype, name);
  }
  void alu(llvm::StringRef kind, llvm::ArrayRef<std::pair<DType, std::string>> operands, DType result) {
    std::string names, types;
    for (auto &[dtype, name] : operands) {
      names += (names.empty() ? "" : ", ") + name;
      types += (types.empty() ? "" : ", ") + type(dtype);
    }
    add(result, "uop.alu " + kind.str() + " " + names + " : (" + types + ") -> " + type(result));
  }
  /// A value of the dtype, converted where there is none yet.
  std::pair<DType, std::string> valueOf(DType dtype) {
    std::vector<unsigned> fitting;
    for (unsigned i = 0; i < values_.size(); ++i)
      if (values_[i].first == dtype)
        fitting.push_back(i);
    if (fitting.empty())
      alu("cast", values_[below(values_.size())], dtype);
    return values_[fitting.empty() ? values_.size() - 1 : fitting[below(fitting.size())]];
  }

  void addStep() {
    auto a = values_[below(values_.size())];
    DType dtype = a.first;
    switch (below(8)) {
    case 0: {
      auto b = valueOf(dtype);
      if (b.second == a.second && !isFloat(dtype)) // lowering folds it; compilers warn of it
        return;
      return alu(kCompare[below(std::size(kCompare))], {a, b}, DType::Bool);
    }
    case 1:
      return alu("where", {valueOf(DType::Bool), a, valueOf(dtype)}, dtype);
    case 2:
      return alu("cast", a, anyDType());
    case 3: {
      auto b = valueOf(dtype), c = valueOf(dtype);
      if (below(2))
        return alu("mulacc", {a, b, c}, dtype);
      return add(dtype, "uop.fma " + a.second + ", " + b.second + ", " + c.second + " : " + type(dtype));
    }
    default: {
      llvm::ArrayRef<llvm::StringLiteral> kinds = dtype == DType::Bool ? llvm::ArrayRef(kBool)
                                                  : isFloat(dtype)     ? llvm::ArrayRef(kFloat)
                                                                       : llvm::ArrayRef(kInteger);
      llvm::StringRef kind = kinds[below(kinds.size())];
      if (aluInfo(*symbolizeAlu(kind)).arity == 1)
        return alu(kind, a, dtype);
      return alu(kind, {a, valueOf(dtype)}, dtype);
    }
    }
  }

  std::mt19937 &random_;
  std::string body_;
  std::vector<std::pair<DType, std::string>> values_;
};

/// Random bits, and the numbers at which arithmetic has corners.
std::vector<char> randomElements(DType dtype, std::mt19937 &random) {
  std::vector<char> bytes;
  withElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (unsigned i = 0; i < kElements; ++i) {
      uint64_t bits = std::uniform_int_distribution<uint64_t>()(random);
      if (dtype == DType::Bool)
        bits &= 1;
      else if (i % 2 && !isFloat(dtype))
        bits = int64_t(bits % 9) - 4;
      else if (i % 2) {
        double number = (int64_t(bits % 33) - 16) / 4.0;
        bits = 0;
        if (dtype == DType::F64)
          std::memcpy(&bits, &number, sizeof number);
        else if (dtype == DType::F32) {
          float small = number;
          std::memcpy(&bits, &small, sizeof small);
        } else {
          bits = dtype == DType::F16 ? 0x3c00 + 0x80 * (i % 8) : 0xbf80 + 0x10 * (i % 8);
        }
      }
      if (i == 2 && !isFloat(dtype) && dtype != DType::Bool)
        bits = uint64_t(1) << (8 * sizeof(T) - 1);
      char element[8];
      std::memcpy(element, &bits, sizeof element);
      bytes.insert(bytes.end(), element, element + sizeof(T));
    }
  });
  return bytes;
}

bool isNan(DType dtype, const char *element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, byteSize(dtype));
  switch (dtype) {
  case DType::F16:
    return (bits & 0x7fff) > 0x7c00;
  case DType::BF16:
    return (bits & 0x7fff) > 0x7f80;
  case DType::F32:
    return (bits & 0x7fffffff) > 0x7f800000;
  case DType::F64:
    return (bits & ~(uint64_t(1) << 63)) > 0x7ff0000000000000;
  default:
    return false;
  }
}

} // namespace

TEST_CASE("random arithmetic has the interpreter's bits") {
  std::mt19937 random(7);
  std::vector<Generator> kernels;
  std::string text;
  for (unsigned k = 0; k < kKernels; ++k)
    text += kernels.emplace_back(random, "E_" + std::to_string(k)).text;
  test::Module module(text);
  auto functions = module.kernels();
  std::string source = render::renderSource(render::kC11, functions);
  std::vector<interp::UopProgram> programs = llvm::cantFail(interp::decodeUops(*module));
  for (llvm::StringRef compiler : test::kCompilers) {
    test::CompiledC compiled(compiler, source);
    for (unsigned k = 0; k < kKernels; ++k) {
      const Generator &kernel = kernels[k];
      std::vector<std::vector<char>> wanted, made, given;
      for (DType dtype : kernel.outputs)
        wanted.emplace_back(kElements * byteSize(dtype));
      made = wanted;
      for (DType dtype : kernel.inputs)
        given.push_back(randomElements(dtype, random));
      std::vector<interp::UopBuffer> buffers;
      for (auto *group : {&wanted, &given})
        for (auto &bytes : *group)
          buffers.push_back({bytes.data(), int64_t(bytes.size())});
      llvm::Error error = programs[k].launch(buffers, {}, {});
      INFO(kernel.text);
      REQUIRE_FALSE(static_cast<bool>(error));
      std::string name = "E_" + std::to_string(k);
      compiled.function<void(void *, void *, void *, void *, void *, void *, void *)>(name.c_str())(
          made[0].data(), made[1].data(), made[2].data(), given[0].data(), given[1].data(), given[2].data(),
          given[3].data());
      for (unsigned output = 0; output < kOutputs; ++output) {
        DType dtype = kernel.outputs[output];
        unsigned width = byteSize(dtype);
        for (unsigned i = 0; i < kElements; ++i) {
          const char *want = wanted[output].data() + i * width, *got = made[output].data() + i * width;
          bool agrees = std::memcmp(want, got, width) == 0 || (isNan(dtype, want) && isNan(dtype, got));
          if (agrees)
            continue;
          uint64_t wantBits = 0, gotBits = 0;
          std::memcpy(&wantBits, want, width);
          std::memcpy(&gotBits, got, width);
          render::SemanticFunctions noted(render::kC11);
          INFO(compiler.str() << ", output " << output << ", element " << i << ": got " << std::hex << gotBits
                              << ", want " << wantBits << "\n"
                              << render::renderKernel(render::kC11, render::linearize(functions[k]), noted));
          CHECK(agrees);
          break;
        }
      }
    }
  }
}
