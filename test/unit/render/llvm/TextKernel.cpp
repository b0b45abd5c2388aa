#include "TextKernel.h"

#include "render/llvm/LlvmKernel.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <catch2/catch.hpp>

using namespace kiln;
using namespace kiln::test;

static std::string expand(llvm::StringRef arguments, llvm::StringRef body) {
  llvm::SmallVector<llvm::StringRef> list;
  arguments.split(list, ',', -1, /*KeepEmpty=*/false);
  std::string types, sizes;
  for (llvm::StringRef argument : list) {
    auto [name, type] = argument.trim().split(": ");
    types += (types.empty() ? "" : ", ") + name.str() + ": ";
    if (!type.starts_with("size")) {
      types += "!uop.ptr<" + type.str() + ", global>";
      continue;
    }
    types += "i32";
    sizes += (sizes.empty() ? "\"" : ", \"") + name.drop_front().str() + type.drop_front(4).str() + "\"";
  }
  return "uop.func @kernel(" + types + ") attributes {sizes = #kiln.dims<[" + sizes +
         "]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {\n" +
         body.str() + "\nuop.yield\n}\n";
}

TextKernel::TextKernel(llvm::StringRef arguments, llvm::StringRef body, llvm::StringRef cpu)
    : cpu_(llvm::cantFail(target::describeCpu(cpu))) {
  context_.loadDialect<uop::UOpDialect, KilnDialect>();
  module_ = mlir::parseSourceString<mlir::ModuleOp>(expand(arguments, body), &context_);
  REQUIRE(module_);
}

uop::FuncOp TextKernel::function() { return *module_->getOps<uop::FuncOp>().begin(); }

static void compile(uop::FuncOp function, const target::Cpu &cpu, target::OptLevel level,
                    llvm::function_ref<void(llvm::Module &, llvm::TargetMachine &)> use) {
  std::unique_ptr<llvm::TargetMachine> machine = llvm::cantFail(target::makeTargetMachine(cpu, level));
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  target::configure(module, *machine);
  render::renderKernel(function, cpu, module)->setLinkage(llvm::GlobalValue::ExternalLinkage);
  target::optimize(module, *machine, level);
  use(module, *machine);
}

std::string TextKernel::llvm(target::OptLevel level) {
  std::string text;
  compile(function(), cpu_, level,
          [&](llvm::Module &module, llvm::TargetMachine &) { llvm::raw_string_ostream(text) << module; });
  return text;
}

std::string TextKernel::assembly() {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  compile(function(), cpu_, 3, [&](llvm::Module &module, llvm::TargetMachine &machine) {
    target::emit(module, machine, target::MachineFile::Assembly, out);
  });
  return text.str().str();
}

void TextKernel::run(llvm::ArrayRef<void *> buffers, llvm::ArrayRef<int64_t> sizes, int64_t chunk) {
  if (!loaded_)
    loaded_ = llvm::cantFail(llvm::cantFail(render::Jit::create(cpu_, 3))->load(function()));
  loaded_->run(buffers.data(), sizes.data(), chunk);
}
