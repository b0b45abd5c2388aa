// The passes of LLVM that run, and those that kiln leaves out.

#include "target/Codegen.h"
#include "target/Cpu.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <catch2/catch.hpp>

using namespace kiln;

TEST_CASE("scalars next to each other are not made a vector") {
  // LLVM 22 subtracts -5 for the last one, and may keep `nuw`, which does not hold for it (llvm-project issue 209023).
  constexpr llvm::StringRef text = R"(
    define void @f(ptr noalias %to, ptr noalias %from, i32 %y) {
      %p1 = getelementptr inbounds i32, ptr %from, i64 1
      %p2 = getelementptr inbounds i32, ptr %from, i64 2
      %p3 = getelementptr inbounds i32, ptr %from, i64 3
      %x0 = load i32, ptr %from
      %x1 = load i32, ptr %p1
      %x2 = load i32, ptr %p2
      %x3 = load i32, ptr %p3
      %a0 = sub nuw i32 %x0, %y
      %a1 = sub nuw i32 %x1, %y
      %a2 = sub nuw i32 %x2, %y
      %a3 = add nuw i32 %x3, 5
      %q1 = getelementptr inbounds i32, ptr %to, i64 1
      %q2 = getelementptr inbounds i32, ptr %to, i64 2
      %q3 = getelementptr inbounds i32, ptr %to, i64 3
      store i32 %a0, ptr %to
      store i32 %a1, ptr %q1
      store i32 %a2, ptr %q2
      store i32 %a3, ptr %q3
      ret void
    })";
  target::OptLevel level = GENERATE(2U, 3U);
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  REQUIRE(module);
  target::Cpu cpu = llvm::cantFail(target::describeCpu("", "", "x86_64-unknown-linux-gnu"));
  std::unique_ptr<llvm::TargetMachine> machine = llvm::cantFail(target::makeTargetMachine(cpu, level));
  target::configure(*module, *machine);
  target::optimize(*module, *machine, level);
  for (const llvm::Instruction &op : llvm::instructions(module->getFunction("f")))
    CHECK_FALSE(op.getType()->isVectorTy());
}
