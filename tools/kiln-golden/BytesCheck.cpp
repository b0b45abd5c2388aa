//===- BytesCheck.cpp - Bytes that the default policy moves, compared with the classic one -===//
//
// One line per program: launches and estimated bytes as scheduled, before any opt, under both policies. A program for
// which the default moves more is a mismatch.
//
//===----------------------------------------------------------------------------===//
#include "tools/kiln-golden/Program.h"

#include "ir/host/Host.h"
#include "passes/Pipeline.h"
#include "passes/lower/Estimate.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::golden;

namespace {
struct Moved {
  int64_t launches = 0, bytes = 0;
};
} // namespace

/// nullopt if the program cannot be built or scheduled; the report says why.
static std::optional<Moved> schedule(const Json &json, bool classic, mlir::MLIRContext &context, Report &report) {
  std::optional<Program> program = buildProgram(json, context, report);
  if (!program)
    return std::nullopt;
  PipelineOptions options;
  options.classic = classic;
  mlir::PassManager passes(&context);
  addStage(passes, Stage::View, options);
  addStage(passes, Stage::Schedule, options);
  if (mlir::failed(passes.run(*program->module))) {
    report.mismatch("cannot be scheduled");
    return std::nullopt;
  }
  Moved moved;
  // Recipes are modules of their own, and run before the program does.
  for (auto host : program->module->getOps<host::ProgramOp>())
    host.walk([&](host::LaunchOp launch) {
      auto func = program->module->lookupSymbol<kernel::FuncOp>(launch.getKernel());
      ++moved.launches;
      moved.bytes += lower::countBytes(func).constant();
    });
  return moved;
}

void golden::compareBytes(const Json &file, Report &report) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const char *row = "{0,-36}{1,8}{2,14}{3,8}{4,14}\n";
  llvm::outs() << llvm::formatv(row, "program", "classic", "bytes", "default", "bytes");
  for (const Json &json : file.at("programs")) {
    std::string name = json.at("name");
    report.begin(name);
    std::optional<Moved> classic = schedule(json, true, context, report),
                         other = schedule(json, false, context, report);
    if (classic && other) {
      llvm::outs() << llvm::formatv(row, name, classic->launches, classic->bytes, other->launches, other->bytes);
      llvm::outs().flush();
      if (other->bytes > classic->bytes)
        report.mismatch("moves " + std::to_string(other->bytes) + " bytes by default, " +
                        std::to_string(classic->bytes) + " under the classic policy");
    }
    report.end();
  }
}
