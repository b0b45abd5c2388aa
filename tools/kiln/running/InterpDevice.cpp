//===- InterpDevice.cpp - The interpreter of uops as a device of the runtime -===//
//
// The interpreter of uops finds errors that hardware does not report: an access past the end, a race between items. It
// is wrapped in the table of functions that every device of the runtime has, so that the host program, the memory plan
// and the launches around the kernels run as they would on a GPU, and a model is checked as a whole. As with OpenCL,
// the model's code is text, here the kernels' uops, which is parsed when the device is opened. Each allocation keeps
// its size, so that the interpreter can check accesses against it.
//
//===-------------------------------------------------------------------------===//
#include "InterpDevice.h"

#include "interp/UopInterpreter.h"
#include "tools/kiln/model/Diagnostics.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstring>

using namespace kiln;
using namespace kiln::driver;

namespace {

/// The target of a slice's memory.
struct Block {
  std::vector<char> bytes;
};

struct State {
  std::vector<interp::UopProgram> programs;
  std::vector<size_t> programOf; ///< a kernel's number in the model; those of other devices have none
  const kiln_model *model;
  kiln_options options;
  std::string error;
};

} // namespace

std::string driver::interpSource(llvm::ArrayRef<uop::FuncOp> kernels) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (uop::FuncOp kernel : kernels) {
    kernel->print(out, mlir::OpPrintingFlags().useLocalScope());
    out << "\n";
  }
  return text;
}

static State &stateOf(void *opaque) { return *static_cast<State *>(opaque); }
static char *bytesOf(kiln_slice slice) { return static_cast<Block *>(slice.memory)->bytes.data() + slice.offset; }

static llvm::Error decode(const kiln_place &here, State &state) {
  if (here.code_bytes == 0) // the parser would make nothing of that
    return llvm::Error::success();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Diagnostics diagnostics(context, "kernels");
  llvm::StringRef text(static_cast<const char *>(here.code), here.code_bytes);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return diagnostics.take("kernels", "no module");
  llvm::Expected<std::vector<interp::UopProgram>> programs = interp::decodeUops(*module);
  if (!programs)
    return programs.takeError();
  state.programs = std::move(*programs);
  return llvm::Error::success();
}

static kiln_status open(const kiln_model *model, int32_t place, const kiln_options *options, void **opaque, char *error,
                        size_t errorBytes) {
  auto state = std::make_unique<State>();
  state->model = model;
  size_t count = 0;
  for (const kiln_kernel &kernel : llvm::ArrayRef(model->kernels, model->kernel_count))
    state->programOf.push_back(kernel.device == place ? count++ : 0);
  state->options = *options;
  if (llvm::Error failed = decode(model->devices[place], *state)) {
    snprintf(error, errorBytes, "%s", llvm::toString(std::move(failed)).c_str());
    return KILN_DEVICE_ERROR;
  }
  *opaque = state.release();
  return KILN_OK;
}

static void close(void *opaque) { delete &stateOf(opaque); }

static void *allocate(void *, int64_t bytes) {
  if (bytes < 0 || static_cast<size_t>(bytes) > std::vector<char>().max_size())
    return nullptr;
  return new Block{std::vector<char>(static_cast<size_t>(bytes))};
}

static void release(void *, void *memory) { delete static_cast<Block *>(memory); }

static kiln_status write(void *, kiln_slice to, const void *from, int64_t bytes) {
  memcpy(bytesOf(to), from, static_cast<size_t>(bytes));
  return KILN_OK;
}

static kiln_status read(void *, void *to, kiln_slice from, int64_t bytes) {
  memcpy(to, bytesOf(from), static_cast<size_t>(bytes));
  return KILN_OK;
}

static kiln_status copy(void *, kiln_slice to, kiln_slice from, int64_t bytes) {
  memmove(bytesOf(to), bytesOf(from), static_cast<size_t>(bytes));
  return KILN_OK;
}

/// How a GPU's banks would serve a kernel's local memory.
static void tell(const kiln_options &options, llvm::StringRef kernel, const interp::LocalTurns &local) {
  std::string line;
  llvm::raw_string_ostream out(line);
  out << kernel << " " << local.memory << ": reads take " << local.reads.taken << " turns, " << local.reads.least
      << " without conflicts of banks, writes " << local.writes.taken << ", " << local.writes.least;
  options.log(options.log_user, line.c_str());
}

static kiln_status launch(void *opaque, const kiln_launch_info *info, const kiln_slice *buffers, const int64_t *sizes,
                          const int64_t grid[KILN_MAX_GRID], const int64_t * /*estimates*/, double * /*seconds*/) {
  State &state = stateOf(opaque);
  const kiln_kernel &called = state.model->kernels[info->kernel];
  std::vector<interp::UopBuffer> memory;
  std::vector<std::vector<char>> scratch;
  for (const kiln_slice &slice : llvm::ArrayRef(buffers, called.buffers).take_back(called.scratch))
    scratch.emplace_back(static_cast<size_t>(slice.offset));
  for (const kiln_slice &slice : llvm::ArrayRef(buffers, called.buffers).drop_back(called.scratch))
    memory.push_back(
        {bytesOf(slice), static_cast<int64_t>(static_cast<Block *>(slice.memory)->bytes.size()) - slice.offset});
  for (std::vector<char> &own : scratch)
    memory.push_back({own.data(), static_cast<int64_t>(own.size()), /*isScratch=*/true});
  std::vector<interp::LocalTurns> turns;
  bool isTold = state.options.debug >= 2 && state.options.log;
  llvm::Error failed = state.programs[state.programOf[info->kernel]].launch(
      memory, llvm::ArrayRef(sizes, called.sizes), llvm::ArrayRef(grid, KILN_MAX_GRID), isTold ? &turns : nullptr);
  for (const interp::LocalTurns &local : turns)
    tell(state.options, called.name, local);
  if (!failed)
    return KILN_OK;
  state.error = llvm::toString(std::move(failed));
  return KILN_DEVICE_ERROR;
}

static const char *lastError(void *opaque) { return stateOf(opaque).error.c_str(); }

const kiln_device driver::kiln_device_interp = {
    .name = "interp",
    .open = open,
    .close = close,
    .alloc = allocate,
    .free = release,
    .write = write,
    .read = read,
    .copy = copy,
    .launch = launch,
    .synchronize = nullptr,
    .error = lastError,
    .map_host = nullptr,
    .owns = nullptr,
    .host_alloc = nullptr,
    .host_free = nullptr,
    .choose = nullptr,
    .is_host = 0,
    .receive = nullptr,
    .batch_sample = nullptr,
    .batch_end = nullptr,
    .list = nullptr,
};
