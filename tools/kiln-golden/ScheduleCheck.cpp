//===- ScheduleCheck.cpp - The classic policy against the reference's ----===//
//
// Each program goes through the compiler's own stages: after schedule its kernels, their order, names, buffers and ASTs
// must be the reference's; after optimize its arena no larger; after lower its estimates equal, the arithmetic counted
// on the uops that run, where kiln may need less.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/Ast.h"
#include "tools/kiln-golden/Movement.h"
#include "tools/kiln-golden/Program.h"

#include "ir/host/Host.h"
#include "ir/uop/UOp.h"
#include "kiln/program.h"
#include "passes/Pipeline.h"
#include "passes/lower/Estimate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"

#include <iostream>

using namespace kiln;
using namespace kiln::golden;

namespace {

/// Memory as the schedule names it: an input by its name, everything else bufN by first appearance.
struct Buffer {
  std::string name;
  int64_t bytes = 0;
  std::optional<int64_t> offset; // of a view of `base`
  std::string base;
};

class ScheduleComparison {
public:
  ScheduleComparison(const Json &program, Report &report) : program_(program), report_(report) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    options_.classic = true;
    options_.noOpt = true;
  }
  void run();

private:
  bool advance(Stage stage);
  host::ProgramOp host() { return *built_->module->getOps<host::ProgramOp>().begin(); }
  void checkItems();
  void checkLaunch(host::LaunchOp launch, const Json &item);
  void checkView(host::OffsetOp view, const Json &item);
  void checkBuffers(const char *what, mlir::ValueRange slices, const Json &want, const std::string &where);
  void checkOutputs();
  void checkPlan();
  void checkEstimates();
  const Buffer &bufferOf(mlir::Value slice);
  template <typename T> void expectEqual(const std::string &what, const T &got, const Json &want) {
    if (Json(got) != want)
      report_.mismatch(what + " is " + Json(got).dump() + ", not " + want.dump());
  }

  const Json &program_;
  Report &report_;
  mlir::MLIRContext context_;
  PipelineOptions options_;
  std::optional<Program> built_;
  llvm::DenseMap<mlir::Value, Buffer> buffers_;
  std::map<int64_t, std::string> outputBuffer_; // result of main → its buffer
  unsigned numbered_ = 0;
  int64_t totalBytes_ = 0;
};

} // namespace

static int64_t constantOf(mlir::Value value) {
  return llvm::cast<mlir::IntegerAttr>(value.getDefiningOp<mlir::arith::ConstantOp>().getValue()).getInt();
}

static int64_t bytesOf(mlir::RankedTensorType type) {
  return view::product(shapeOf(type)).constant() * byteSize(type.getElementType());
}

bool ScheduleComparison::advance(Stage stage) {
  mlir::PassManager passes(&context_);
  addStage(passes, stage, options_);
  if (mlir::succeeded(passes.run(*built_->module)))
    return true;
  report_.mismatch("stage " + stageName(stage).str() + " failed");
  return false;
}

const Buffer &ScheduleComparison::bufferOf(mlir::Value slice) {
  auto [slot, fresh] = buffers_.try_emplace(slice);
  Buffer &buffer = slot->second;
  if (!fresh)
    return buffer;
  if (auto input = slice.getDefiningOp<host::InputOp>()) {
    auto port = llvm::cast<host::PortAttr>(host().getInputs()[input.getIndex()]);
    return buffer = {port.getName().str(), bytesOf(port.getType()), std::nullopt, ""};
  }
  buffer.name = "buf" + std::to_string(numbered_++);
  if (auto output = slice.getDefiningOp<host::OutputOp>()) {
    buffer.bytes = bytesOf(llvm::cast<host::PortAttr>(host().getOutputs()[output.getIndex()]).getType());
    outputBuffer_[output.getIndex()] = buffer.name;
  } else if (auto alloc = slice.getDefiningOp<host::AllocOp>()) {
    buffer.bytes = constantOf(alloc.getBytes());
  }
  return buffer;
}

void ScheduleComparison::checkBuffers(const char *what, mlir::ValueRange slices, const Json &want,
                                      const std::string &where) {
  if (slices.size() != want.size())
    return report_.mismatch(where + ": " + std::to_string(slices.size()) + " " + what + ", not " +
                            std::to_string(want.size()));
  for (auto [slice, reference] : llvm::zip(slices, want)) {
    report_.expectFields(reference, {"buf", "dtype", "size", "nbytes", "offset", "base"});
    Buffer buffer = bufferOf(slice);
    expectEqual(where + ": a buffer of its " + what, buffer.name, reference.at("buf"));
    expectEqual(where + ": bytes of " + buffer.name, buffer.bytes, reference.at("nbytes"));
    std::optional<DType> dtype = dtypeByName(reference.at("dtype").get<std::string>());
    expectEqual(where + ": elements of " + buffer.name, buffer.bytes / int64_t(dtype ? byteSize(*dtype) : 1),
                reference.at("size"));
    if (buffer.offset.has_value() != reference.contains("offset"))
      report_.mismatch(where + ": " + buffer.name + (buffer.offset ? " is" : " is not") + " a view of another buffer");
    else if (buffer.offset) {
      expectEqual(where + ": offset of " + buffer.name, *buffer.offset, reference.at("offset"));
      expectEqual(where + ": base of " + buffer.name, buffer.base, reference.at("base"));
    }
  }
}

void ScheduleComparison::checkLaunch(host::LaunchOp launch, const Json &item) {
  std::string name = launch.getKernel().str();
  expectEqual("a kernel's name", name, item.at("name"));
  expectEqual(name + ": its function", name, item.at("function_name"));
  auto func = built_->module->lookupSymbol<kernel::FuncOp>(launch.getKernel());
  size_t outputs = llvm::range_size(func.getBody().getOps<kernel::StoreOp>());
  checkBuffers("outputs", launch.getBuffers().take_front(outputs), item.at("outputs"), name);
  checkBuffers("inputs", launch.getBuffers().drop_front(outputs), item.at("inputs"), name);
  checkAst(func, item.at("ast"), name, report_);
  int64_t bytes = lower::countBytes(func).constant();
  totalBytes_ += bytes;
  expectEqual(name + ": memory estimate", bytes, item.at("mem_estimate"));
}

/// Named by its bytes and offset, as the reference prints it.
void ScheduleComparison::checkView(host::OffsetOp view, const Json &item) {
  std::string bytes = item.at("outputs").at(0).at("nbytes").dump();
  Buffer &buffer = buffers_[view.getResult()];
  buffer = {"buf" + std::to_string(numbered_++), item.at("outputs").at(0).at("nbytes"), constantOf(view.getBytes()),
            bufferOf(view.getSlice()).name};
  std::string name = "view " + std::string(8 - std::min<size_t>(8, bytes.size()), ' ') + bytes + " @ " +
                     std::to_string(*buffer.offset);
  expectEqual("a view's name", name, item.at("name"));
  checkBuffers("outputs", view.getResult(), item.at("outputs"), name);
  checkBuffers("inputs", view.getSlice(), item.at("inputs"), name);
}

void ScheduleComparison::checkItems() {
  std::vector<mlir::Operation *> items;
  size_t launches = 0;
  for (mlir::Operation &op : host().getBody().front()) {
    if (llvm::isa<host::LaunchOp, host::OffsetOp>(op))
      items.push_back(&op);
    launches += llvm::isa<host::LaunchOp>(op);
  }
  expectEqual("the number of items", items.size(), program_.at("num_items"));
  expectEqual("the number of kernels", launches, program_.at("num_kernels"));
  const Json &want = program_.at("kernels");
  expectEqual("the number of items listed", want.size(), program_.at("num_items"));
  for (size_t i = 0; i < std::min(items.size(), want.size()); ++i) {
    report_.expectFields(want[i], {"type", "name", "function_name", "outputs", "inputs", "op_estimate", "mem_estimate",
                                   "lds_estimate", "globals", "uops", "ast"});
    auto launch = llvm::dyn_cast<host::LaunchOp>(items[i]);
    std::string kind = launch ? "kernel" : "view";
    if (want[i].at("type") != kind)
      report_.mismatch("item " + std::to_string(i) + " is a " + kind + ", not a " + want[i].at("type").dump());
    else if (launch)
      checkLaunch(launch, want[i]);
    else
      checkView(llvm::cast<host::OffsetOp>(items[i]), want[i]);
  }
  expectEqual("the total memory estimate", totalBytes_, program_.at("total_mem_estimate"));
}

void ScheduleComparison::checkOutputs() {
  // A part of given memory is not a kernel's output: the host copies it out.
  for (auto copy : host().getBody().getOps<host::CopyOp>())
    if (auto output = copy.getTo().getDefiningOp<host::OutputOp>())
      outputBuffer_[output.getIndex()] = bufferOf(copy.getFrom()).name;
  for (const ProgramOutput &output : built_->outputs) {
    const Json &want = program_.at("outputs_buf").at(output.name);
    report_.expectFields(want, {"buf", "contiguous", "views"});
    auto input = built_->inputs.find(output.base);
    std::string name = input != built_->inputs.end()
                           ? input->second
                           : outputBuffer_[llvm::find(built_->results, output.base) - built_->results.begin()];
    expectEqual("the buffer of output " + output.name, name, want.at("buf"));
    expectEqual("contiguity of output " + output.name, output.tracker.isContiguous(), want.at("contiguous"));
    const Json &views = want.at("views");
    bool same = views.size() == output.tracker.views().size();
    for (size_t i = 0; same && i < views.size(); ++i)
      same = isSameMap(output.tracker.views()[i], views[i]);
    if (!same)
      report_.mismatch("output " + output.name + " is seen through " + output.tracker.print());
  }
}

/// The reference allocates each buffer by itself; in one arena each begins at an aligned offset.
void ScheduleComparison::checkPlan() {
  const Json &plan = program_.at("memory_planner");
  report_.expectFields(plan, {"before_bytes", "after_bytes", "before_bufs", "after_bufs", "reuse"});
  std::map<std::string, int64_t> temporaries;
  for (const auto &[slice, buffer] : buffers_)
    if (slice.getDefiningOp<host::AllocOp>())
      temporaries[buffer.name] = buffer.bytes;
  int64_t before = 0, after = 0, aligned = 0;
  for (const auto &[name, bytes] : temporaries) {
    before += bytes;
    if (plan.at("reuse").contains(name))
      continue;
    after += bytes;
    aligned += int64_t(llvm::alignTo(bytes, KILN_ALIGNMENT));
  }
  expectEqual("bytes of temporaries", before, plan.at("before_bytes"));
  expectEqual("the number of temporaries", temporaries.size(), plan.at("before_bufs"));
  expectEqual("bytes of the reference's buffers after planning", after, plan.at("after_bytes"));
  if (!advance(Stage::Optimize))
    return;
  int64_t arena = 0;
  for (auto op : host().getBody().getOps<host::ArenaOp>())
    arena += constantOf(op.getBytes());
  if (arena > aligned)
    report_.mismatch("the arena has " + std::to_string(arena) + " bytes, the reference's buffers " +
                     std::to_string(aligned));
}

void ScheduleComparison::checkEstimates() {
  std::vector<std::string> names;
  for (auto launch : host().getBody().getOps<host::LaunchOp>())
    names.push_back(launch.getKernel().str());
  if (!advance(Stage::Lower))
    return;
  const Json &cuda = program_.at("cuda_noopt");
  expectEqual("the number of kernels with estimates", names.size(), cuda.size());
  for (size_t i = 0; i < std::min(names.size(), cuda.size()); ++i) {
    report_.expectFields(cuda[i], {"name", "function_name", "op_estimate", "mem_estimate", "lds_estimate",
                                   "global_size", "local_size", "uops"});
    expectEqual("the kernel with estimates", names[i], cuda[i].at("name"));
    auto func = built_->module->lookupSymbol<uop::FuncOp>(names[i]);
    int64_t ops = func.getOperations().getValue().constant();
    int64_t want = cuda[i].at("op_estimate");
    if (ops > want)
      report_.mismatch(names[i] + ": op estimate is " + std::to_string(ops) + ", not " + std::to_string(want));
    else if (ops < want)
      report_.note(names[i] + ": " + std::to_string(ops) + " operations where the reference has " +
                   std::to_string(want));
  }
}

void ScheduleComparison::run() {
  report_.expectFields(program_,
                       {"name", "inputs", "nodes", "outputs", "notes", "family", "primitives", "primitive_outputs",
                        "shapes", "outputs_buf", "memory_planner", "num_items", "num_kernels", "kernels",
                        "total_op_estimate", "total_mem_estimate", "cuda_noopt", "opt"});
  for (const Json &node : program_.at("nodes"))
    report_.expectFields(node, {"op", "inputs", "output", "attrs"});
  for (const Json &tensor : program_.at("shapes"))
    report_.expectFields(tensor, {"shape", "dtype"});
  built_ = buildProgram(program_, context_, report_);
  if (!built_)
    return;
  if (mlir::failed(mlir::verify(*built_->module)))
    return report_.mismatch("its graph does not verify");
  if (!advance(Stage::View) || !advance(Stage::Schedule))
    return;
  checkItems();
  checkOutputs();
  checkPlan();
  checkEstimates();
}

void golden::checkSchedules(const Json &file, Report &report) {
  report.begin("file");
  report.expectFields(file, {"source", "commit", "op_definitions", "programs"});
  if (report.isBad())
    report.end();
  for (const Json &program : file.value("programs", Json::array())) {
    report.begin(program.value("name", "a program without a name"));
    try {
      ScheduleComparison(program, report).run();
    } catch (const Json::exception &e) {
      report.mismatch(std::string("malformed: ") + e.what());
    }
    report.end();
  }
}
