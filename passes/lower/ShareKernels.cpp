//===- ShareKernels.cpp - One kernel for all that differ in numbers alone ------------===//
// Stage: lower (uop → uop).
// A quantised model has the same layers again and again, each with other scales and zero points. As numbers in its code
// they would make every layer's kernel one of its own: as many to compile, to ship and to read. So kernels that are
// equal but for some numbers become one. It loads these numbers, and each launch passes its own as a weight
// of a few elements.
// Expects: uops as they will run, since rewriting goes by what numbers are.
// Guarantees: no two kernels that are launched differ in nothing but their names and their numbers.
// Position: last, so that no number is looked at any more.
//===---------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/lower/LaunchWeights.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kiln;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SHAREKERNELS
#include "passes/Passes.h.inc"
} // namespace kiln

/// All values that say where a kernel reads and writes, how often and whether.
static llvm::DenseSet<Value> addressesOf(uop::FuncOp func) {
  SmallVector<Value> open;
  func.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<uop::AluOp, uop::FmaOp, uop::VectorizeOp, uop::GepOp, uop::DotOp, uop::WmmaOp, uop::LookupOp,
              uop::YieldOp>([](auto) {}) // their readers say what their operands are
        .Case([&](uop::StoreOp store) {
          open.push_back(store.getIndex());
          if (store.getGate())
            open.push_back(store.getGate());
        })
        .Case([&](uop::RangeOp range) { open.append({range.getFrom(), range.getTo()}); })
        .Default([&](Operation *other) { open.append(other->operand_begin(), other->operand_end()); });
  });
  llvm::DenseSet<Value> addresses;
  auto carried = [&](uop::RangeOp range, unsigned index) {
    open.append({range.getInits()[index], range.getYield().getValues()[index]});
  };
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!addresses.insert(value).second)
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    auto range = dyn_cast_or_null<uop::RangeOp>(argument ? argument.getOwner()->getParentOp() : value.getDefiningOp());
    if (range && !argument)
      carried(range, cast<OpResult>(value).getResultNumber());
    else if (range && argument.getArgNumber() > 0)
      carried(range, argument.getArgNumber() - 1);
    else if (!argument && isa<uop::AluOp, uop::VectorizeOp, uop::GepOp>(value.getDefiningOp()))
      open.append(value.getDefiningOp()->operand_begin(), value.getDefiningOp()->operand_end());
  }
  return addresses;
}

/// A kernel's constants that are data: floats, and integers that say nothing of where it reads.
static SmallVector<uop::ConstOp> numbersOf(uop::FuncOp func) {
  llvm::DenseSet<Value> addresses = addressesOf(func);
  SmallVector<uop::ConstOp> numbers;
  func.walk([&](uop::ConstOp constant) {
    Type type = constant.getType();
    if (isa<FloatType>(type) || (isa<IntegerType>(type) && !type.isInteger(1) && !addresses.contains(constant)))
      numbers.push_back(constant);
  });
  return numbers;
}

static TypedAttr zeroOf(Type dtype) { return cast<TypedAttr>(Builder(dtype.getContext()).getZeroAttr(dtype)); }

namespace {
/// A kernel, its numbers in the order of the code, and their values.
struct Kernel {
  uop::FuncOp func;
  SmallVector<uop::ConstOp> numbers;
  SmallVector<TypedAttr> values;
};

/// Kernels that are equal but for their numbers, the one that stays first.
using Alike = SmallVector<Kernel, 1>;

/// Sets all numbers of some kernels to 0 for as long as it lives, so that they can be compared.
class WithoutNumbers {
public:
  explicit WithoutNumbers(MutableArrayRef<Kernel> kernels) : kernels_(kernels) {
    for (Kernel &kernel : kernels_)
      for (uop::ConstOp number : kernel.numbers)
        number.setValueAttr(zeroOf(number.getType()));
  }
  ~WithoutNumbers() {
    for (Kernel &kernel : kernels_)
      for (auto [number, value] : llvm::zip(kernel.numbers, kernel.values))
        number.setValueAttr(value);
  }

private:
  MutableArrayRef<Kernel> kernels_;
};

struct ShareKernels : kiln::impl::ShareKernelsBase<ShareKernels> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which kernels are alike
//===----------------------------------------------------------------------===//

/// The same for kernels that are alike; it says nothing of what their operations read.
static llvm::hash_code hashOf(uop::FuncOp func) {
  llvm::hash_code hash(0);
  func.walk([&](Operation *op) {
    if (op != func)
      hash = llvm::hash_combine(hash, op->getName(), op->hashProperties(), op->getDiscardableAttrDictionary());
  });
  return hash;
}

static bool isAlike(uop::FuncOp func, uop::FuncOp other) {
  StringAttr name = other.getSymNameAttr();
  other.setSymNameAttr(func.getSymNameAttr());
  bool isSame = OperationEquivalence::isEquivalentTo(func, other, OperationEquivalence::IgnoreLocations);
  other.setSymNameAttr(name);
  return isSame;
}

static SmallVector<Alike> alikeKernels(ModuleOp module) {
  SmallVector<Kernel> kernels;
  for (auto func : module.getOps<uop::FuncOp>()) {
    SmallVector<uop::ConstOp> numbers = numbersOf(func);
    auto values = llvm::map_to_vector(numbers, [](uop::ConstOp number) { return number.getValue(); });
    kernels.push_back({func, std::move(numbers), std::move(values)});
  }
  WithoutNumbers compared(kernels);
  SmallVector<Alike> groups;
  llvm::DenseMap<llvm::hash_code, SmallVector<size_t, 1>> byHash;
  for (const Kernel &kernel : kernels) {
    SmallVector<size_t, 1> &near = byHash[hashOf(kernel.func)];
    auto *known = llvm::find_if(near, [&](size_t group) { return isAlike(groups[group].front().func, kernel.func); });
    if (known != near.end()) {
      groups[*known].push_back(kernel);
      continue;
    }
    near.push_back(groups.size());
    groups.push_back({kernel});
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// One kernel for those that are alike
//===----------------------------------------------------------------------===//

/// The positions of the numbers that launches pass, by dtype: each dtype is a buffer. With `all` these are all but 0,
/// otherwise those that are not the same in all kernels.
static llvm::MapVector<Type, SmallVector<size_t>> loadedNumbers(const Alike &kernels, bool all) {
  llvm::MapVector<Type, SmallVector<size_t>> loaded;
  for (auto [position, value] : llvm::enumerate(kernels.front().values)) {
    TypedAttr number = value;
    bool differs = llvm::any_of(kernels, [&](const Kernel &kernel) { return kernel.values[position] != number; });
    if (differs || (all && number != zeroOf(number.getType())))
      loaded[number.getType()].push_back(position);
  }
  return loaded;
}

/// Has a kernel load numbers from a buffer.
static void loadNumbers(uop::FuncOp func, MutableArrayRef<uop::ConstOp> numbers, Value buffer) {
  OpBuilder builder(func.getContext());
  for (auto [index, constant] : llvm::enumerate(numbers)) {
    builder.setInsertionPoint(constant);
    auto place =
        uop::ConstOp::create(builder, constant.getLoc(), builder.getI32Type(), builder.getI32IntegerAttr(index));
    auto load = uop::LoadOp::create(builder, constant.getLoc(), constant.getType(), buffer, place, /*gate=*/Value(),
                                    /*otherwise=*/Value());
    constant.replaceAllUsesWith(load.getResult());
    constant.erase();
  }
}

void ShareKernels::runOnOperation() {
  lower::LaunchWeights weights(getOperation());
  for (Alike &kernels : alikeKernels(getOperation())) {
    uop::FuncOp first = kernels.front().func;
    auto isLaunched = [&](Kernel &kernel) { return !weights.launchesOf(kernel.func).empty(); };
    if ((kernels.size() == 1 && !all) || !llvm::all_of(kernels, isLaunched))
      continue;
    llvm::MapVector<Type, SmallVector<size_t>> loaded = loadedNumbers(kernels, all);
    for (Kernel &kernel : kernels)
      for (host::LaunchOp launch : weights.launchesOf(kernel.func)) {
        for (auto &[dtype, numbers] : loaded) {
          auto values = llvm::map_to_vector(numbers, [&](size_t number) -> Attribute { return kernel.values[number]; });
          auto type = RankedTensorType::get({int64_t(values.size())}, dtype);
          weights.pass(launch, DenseElementsAttr::get(type, values), "numbers");
        }
        launch.setKernel(first.getSymName());
      }
    for (auto &[dtype, numbers] : loaded) {
      auto replaced = llvm::map_to_vector(numbers, [&](size_t number) { return kernels.front().numbers[number]; });
      loadNumbers(first, replaced, weights.receive(first, dtype));
    }
    for (Kernel &kernel : MutableArrayRef(kernels).drop_front())
      kernel.func->erase();
  }
  weights.finish();
}
