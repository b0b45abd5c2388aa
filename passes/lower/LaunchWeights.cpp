#include "passes/lower/LaunchWeights.h"

#include "ir/base/Devices.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

LaunchWeights::LaunchWeights(ModuleOp module) {
  for (auto program : module.getOps<host::ProgramOp>()) {
    Program &made = programs_[program];
    made.first = &program.getBody().front().front();
    made.weights.append(program.getWeights().begin(), program.getWeights().end());
    for (auto weight : program.getWeights().getAsRange<host::WeightAttr>())
      made.names.insert(weight.getName());
    program.walk([&](host::LaunchOp launch) { launches_[launch.getKernel()].push_back(launch); });
  }
}

ArrayRef<host::LaunchOp> LaunchWeights::launchesOf(uop::FuncOp kernel) const {
  auto known = launches_.find(kernel.getSymName());
  return known == launches_.end() ? ArrayRef<host::LaunchOp>() : known->second;
}

/// Scratch memory is the last of a launch's buffers.
static unsigned countBeforeScratch(ValueRange buffers) {
  return buffers.size() -
         llvm::count_if(buffers, [](Value buffer) { return buffer.getDefiningOp<host::ScratchOp>() != nullptr; });
}

void LaunchWeights::pass(host::LaunchOp launch, DenseElementsAttr data, StringRef name) {
  auto program = launch->getParentOfType<host::ProgramOp>();
  Program &made = programs_[program];
  OpBuilder builder(made.first);
  auto [known, isNew] = made.indexOf.try_emplace(data, made.weights.size());
  if (isNew) {
    std::string own = name.str();
    for (unsigned repeats = 1; !made.names.insert(own).second; ++repeats)
      own = name.str() + std::to_string(repeats);
    made.weights.push_back(
        host::WeightAttr::get(builder.getContext(), own, cast<RankedTensorType>(data.getType()), data));
  }
  SmallVector<Value> buffers(launch.getBuffers());
  int64_t device = host::deviceOf(buffers.front());
  Value &memory = made.memory[{known->second, device}];
  if (!memory)
    memory = host::WeightOp::create(builder, program.getLoc(), host::SliceType::get(builder.getContext(), device),
                                    builder.getI64IntegerAttr(known->second));
  buffers.insert(buffers.begin() + countBeforeScratch(buffers), memory);
  launch.getBuffersMutable().assign(buffers);
}

Value LaunchWeights::receive(uop::FuncOp kernel, Type element) {
  ArrayRef<host::LaunchOp> launches = launchesOf(kernel);
  unsigned scratch = 0;
  if (!launches.empty()) {
    host::LaunchOp launch = launches.front();
    scratch = launch.getBuffers().size() - countBeforeScratch(launch.getBuffers());
  }
  unsigned position = kernel.getBufferCount() - scratch;
  auto type = uop::PtrType::get(kernel.getContext(), element, uop::Memory::Global);
  (void)kernel.insertArgument(position, type, {}, kernel.getLoc());
  return kernel.getArgument(position);
}

void LaunchWeights::finish() {
  for (auto &[op, made] : programs_) {
    auto program = cast<host::ProgramOp>(op);
    program.setWeightsAttr(ArrayAttr::get(program.getContext(), made.weights));
  }
}
