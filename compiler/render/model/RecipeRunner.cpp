#include "render/model/RecipeRunner.h"

#include "ir/graph/Graph.h"
#include "support/Error.h"

#include "kiln/program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

using namespace kiln;
using namespace kiln::render;

using Memory = std::unique_ptr<llvm::WritableMemoryBuffer>;

/// For results that are made ahead of their turn, and the one before.
static constexpr int64_t kMostBytesAhead = int64_t(256) << 20;

/// A recipe and its results, or why it failed.
struct RecipeRunner::Made {
  explicit Made(mlir::ModuleOp recipe, int64_t bytes = 0) : recipe(recipe), bytes(bytes) {}
  ~Made() {
    if (error)
      llvm::consumeError(std::move(*error));
  }

  mlir::ModuleOp recipe;
  int64_t bytes; ///< of the weights that it makes
  std::vector<Memory> results;
  std::optional<llvm::Error> error; ///< there once it has run
  std::shared_future<void> isDone;  ///< of one that is made ahead
};

struct RecipeRunner::Kernel {
  std::mutex lock; ///< whoever wants it waits until it is compiled
  std::unique_ptr<target::LoadedKernel> code;
};

RecipeRunner::RecipeRunner(std::unique_ptr<target::KernelRunner> runner)
    : runner_(std::move(runner)), pool_(llvm::hardware_concurrency()) {}

RecipeRunner::~RecipeRunner() = default;

/// The number of the recipe's result that a weight is.
static size_t outputOf(const WeightEntry &weight) { return llvm::cast<graph::RecipeAttr>(weight.data).getOutput(); }

static int64_t numberOf(mlir::Value value) {
  llvm::APInt number;
  if (auto eval = value.getDefiningOp<host::EvalOp>())
    return eval.getExpr().getValue().constant();
  [[maybe_unused]] bool isConstant = mlir::matchPattern(value, mlir::m_ConstantInt(&number));
  assert(isConstant && "a recipe's sizes are fixed");
  return number.getSExtValue();
}

llvm::Expected<const target::LoadedKernel *> RecipeRunner::load(uop::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << kernel;
  // Recipes' kernels are often the same but for their names.
  text.erase(text.find('@') + 1, kernel.getSymName().size());
  Kernel *known;
  {
    std::lock_guard guard(lock_);
    std::unique_ptr<Kernel> &entry = kernels_[text];
    if (!entry)
      entry = std::make_unique<Kernel>();
    known = entry.get();
  }
  std::lock_guard guard(known->lock);
  if (!known->code) {
    llvm::Expected<std::unique_ptr<target::LoadedKernel>> loaded = runner_->load(kernel);
    if (!loaded)
      return loaded.takeError();
    known->code = std::move(*loaded);
  }
  return known->code.get();
}

llvm::Error RecipeRunner::readInto(const WeightEntry &weight, const WeightSource &source,
                                   llvm::MutableArrayRef<char> to, std::unique_ptr<Made> &other) {
  if (!weight.recipe)
    return readWeight(weight, source, to);
  if (!other || other->recipe != weight.recipe)
    other = run(weight.recipe, source);
  if (*other->error)
    return std::move(*other->error);
  llvm::copy(other->results[outputOf(weight)]->getBuffer(), to.begin());
  return llvm::Error::success();
}

std::unique_ptr<RecipeRunner::Made> RecipeRunner::run(mlir::ModuleOp recipe, const WeightSource &source) {
  auto made = std::make_unique<Made>(recipe);
  made->error.emplace(run(*made, source));
  return made;
}

llvm::Error RecipeRunner::run(Made &made, const WeightSource &source) {
  ModelTables tables = modelTables(made.recipe);
  std::vector<Memory> held;
  std::unique_ptr<Made> other;
  made.results.resize(tables.outputs.size());
  llvm::DenseMap<mlir::Value, char *> slices;
  auto allocate = [&](mlir::Value slice, int64_t bytes, Memory &memory) -> llvm::Error {
    memory = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes, "recipe", llvm::Align(KILN_ALIGNMENT));
    // A packed weight may have elements that no point of its domain stores.
    if (memory)
      std::memset(memory->getBufferStart(), 0, bytes);
    if (!memory)
      return failure("no memory for " + llvm::Twine(bytes) + " bytes of constants");
    slices[slice] = memory->getBufferStart();
    return llvm::Error::success();
  };
  auto launch = [&](host::LaunchOp op) -> llvm::Error {
    llvm::Expected<const target::LoadedKernel *> kernel =
        load(tables.kernels[tables.kernelIndex.at(op.getKernel())].function);
    if (!kernel)
      return kernel.takeError();
    std::vector<void *> buffers;
    for (mlir::Value buffer : op.getBuffers())
      buffers.push_back(slices.at(buffer));
    int64_t chunks = 1;
    for (mlir::Value size : op.getGrid())
      chunks *= numberOf(size);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      (*kernel)->run(buffers.data(), nullptr, chunk);
    return llvm::Error::success();
  };
  // A model without inputs has no symbols and no control flow: its program is a list.
  for (mlir::Operation &op : tables.program.getBody().front()) {
    llvm::Error error =
        llvm::TypeSwitch<mlir::Operation *, llvm::Error>(&op)
            .Case([&](host::WeightOp weight) {
              const WeightEntry &entry = tables.weights[weight.getIndex()];
              Memory &memory = held.emplace_back();
              if (llvm::Error error = allocate(weight, entry.bytes, memory))
                return error;
              return readInto(entry, source, memory->getBuffer(), other);
            })
            .Case([&](host::OutputOp output) {
              auto port = llvm::cast<host::PortAttr>(tables.program.getOutputs()[output.getIndex()]);
              int64_t bytes = port.getType().getNumElements() * byteSize(port.getType().getElementType());
              return allocate(output, bytes, made.results[output.getIndex()]);
            })
            .Case<host::AllocOp, host::ArenaOp, host::ScratchOp>(
                [&](auto room) { return allocate(room, numberOf(room.getBytes()), held.emplace_back()); })
            .Case([&](host::OffsetOp offset) {
              slices[offset] = slices.at(offset.getSlice()) + numberOf(offset.getBytes());
              return llvm::Error::success();
            })
            .Case(launch)
            .Case<mlir::arith::ConstantOp, host::EvalOp, host::FreeOp, host::DoneOp>(
                [](mlir::Operation *) { return llvm::Error::success(); })
            .Default([](mlir::Operation *) -> llvm::Error { llvm_unreachable("no op of a recipe's program"); });
    if (error)
      return error;
  }
  return llvm::Error::success();
}

void RecipeRunner::expect(llvm::ArrayRef<WeightEntry> weights) {
  pool_.wait();
  ahead_.clear();
  expected_.clear();
  for (const WeightEntry &weight : weights) {
    if (!weight.recipe || weight.isShared)
      continue;
    if (expected_.empty() || expected_.back().recipe != weight.recipe)
      expected_.push_back({weight.recipe, 0});
    expected_.back().bytes += weight.bytes;
  }
}

void RecipeRunner::runAhead(const WeightSource &source) {
  int64_t bytes = made_ ? made_->bytes : 0;
  for (const std::unique_ptr<Made> &made : ahead_)
    bytes += made->bytes;
  while (!expected_.empty() && ahead_.size() < pool_.getMaxConcurrency()) {
    auto [recipe, more] = expected_.front();
    bytes += more;
    if (bytes > kMostBytesAhead && !ahead_.empty())
      return;
    expected_.pop_front();
    Made &made = *ahead_.emplace_back(std::make_unique<Made>(recipe, more));
    made.isDone = pool_.async([this, &made, source] { made.error.emplace(run(made, source)); });
  }
}

llvm::Expected<llvm::ArrayRef<char>> RecipeRunner::make(const WeightEntry &weight, const WeightSource &source) {
  if (!made_ || made_->recipe != weight.recipe) {
    made_ = nullptr;
    // If a context has one thread, asking it from several is not safe.
    if (weight.data.getContext()->isMultithreadingEnabled())
      runAhead(source);
    auto begun = llvm::find_if(ahead_, [&](const auto &made) { return made->recipe == weight.recipe; });
    if (begun != ahead_.end()) {
      made_ = std::move(*begun);
      ahead_.erase(begun);
      made_->isDone.wait();
      runAhead(source);
    } else {
      // It is asked for early: its turn is dropped.
      auto turn = llvm::find_if(expected_, [&](const Turn &turn) { return turn.recipe == weight.recipe; });
      if (turn != expected_.end())
        expected_.erase(turn);
      made_ = run(weight.recipe, source);
    }
    if (*made_->error) {
      llvm::Error error = std::move(*made_->error);
      made_ = nullptr;
      return error;
    }
  }
  return made_->results[outputOf(weight)]->getBuffer();
}
