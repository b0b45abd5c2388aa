#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace kiln;

test::Module::Module(llvm::StringRef text) : context_(std::make_unique<mlir::MLIRContext>()) {
  context_->loadDialect<uop::UOpDialect, host::HostDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect>();
  std::string message;
  mlir::ScopedDiagnosticHandler handler(context_.get(), [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream(message) << diagnostic.getLocation() << ": " << diagnostic << "\n";
  });
  module_ = mlir::parseSourceString<mlir::ModuleOp>(text, context_.get());
  INFO(message);
  REQUIRE(module_);
}

llvm::SmallVector<uop::FuncOp> test::Module::kernels() const {
  return llvm::to_vector((*module_).getOps<uop::FuncOp>());
}

host::ProgramOp test::Module::program() const { return *(*module_).getOps<host::ProgramOp>().begin(); }

std::string test::kernelText(llvm::StringRef name, llvm::StringRef arguments, llvm::StringRef body,
                             llvm::StringRef sizes) {
  return ("uop.func @" + name + "(" + arguments + ") attributes {sizes = #kiln.dims<[" + sizes +
          "]>, grid = #kiln.dims<[]>, local = array<i64>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {\n" +
          body + "\nuop.yield\n}\n")
      .str();
}

#define HEAD                                                                                                           \
  "attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[]>, local = array<i64>, "                                    \
  "operations = #kiln.expr<0>, bytes = #kiln.expr<0>}"

const llvm::StringLiteral test::kDot = R"(
uop.func @r_2(%0: !uop.ptr<i32, global>, %1: !uop.ptr<i32, global>, %2: !uop.ptr<i32, global>) )" HEAD R"( {
  %zero = uop.const 0 : i32
  %two = uop.const 2 : i32
  %sum = uop.range %i = %zero to %two : i32 init(%acc = %zero) : i32 attributes {axis = 0 : i64, reduce} {
    %a = uop.load %1[%i : i32] : !uop.ptr<i32, global> -> i32
    %b = uop.load %2[%i : i32] : !uop.ptr<i32, global> -> i32
    %product = uop.alu mul %a, %b : (i32, i32) -> i32
    %next = uop.alu add %acc, %product : (i32, i32) -> i32
    uop.yield %next : i32
  }
  uop.store %sum, %0[%zero : i32] : i32, !uop.ptr<i32, global>
  uop.yield
})";

const llvm::StringLiteral test::kSumOfMatrix = R"(
uop.func @r_2_3(%0: !uop.ptr<f32, global>, %1: !uop.ptr<f32, global>) )" HEAD R"( {
  %zero = uop.const 0 : i32
  %two = uop.const 2 : i32
  %three = uop.const 3 : i32
  %none = uop.const 0.0 : f32
  %sum = uop.range %i = %zero to %two : i32 init(%a = %none) : f32 attributes {axis = 0 : i64, reduce} {
    %row = uop.range %j = %zero to %three : i32 init(%b = %a) : f32 attributes {axis = 1 : i64, reduce} {
      %first = uop.alu mul %i, %three : (i32, i32) -> i32
      %index = uop.alu add %first, %j : (i32, i32) -> i32
      %x = uop.load %1[%index : i32] : !uop.ptr<f32, global> -> f32
      %next = uop.alu add %b, %x : (f32, f32) -> f32
      uop.yield %next : f32
    }
    uop.yield %row : f32
  }
  uop.store %sum, %0[%zero : i32] : f32, !uop.ptr<f32, global>
  uop.yield
})";

const llvm::StringLiteral test::kVariance = R"(
uop.func @r_4(%0: !uop.ptr<f32, global>, %1: !uop.ptr<f32, global>) )" HEAD R"( {
  %zero = uop.const 0 : i32
  %four = uop.const 4 : i32
  %none = uop.const 0.0 : f32
  %quarter = uop.const 0.25 : f32
  %third = uop.const 0.333333343 : f32
  %sum = uop.range %i = %zero to %four : i32 init(%a = %none) : f32 attributes {axis = 0 : i64, reduce} {
    %x = uop.load %1[%i : i32] : !uop.ptr<f32, global> -> f32
    %next = uop.alu add %a, %x : (f32, f32) -> f32
    uop.yield %next : f32
  }
  %mean = uop.alu mul %sum, %quarter : (f32, f32) -> f32
  %minus = uop.alu neg %mean : (f32) -> f32
  %squares = uop.range %i = %zero to %four : i32 init(%a = %none) : f32 attributes {axis = 1 : i64, reduce} {
    %x = uop.load %1[%i : i32] : !uop.ptr<f32, global> -> f32
    %difference = uop.alu add %x, %minus : (f32, f32) -> f32
    %square = uop.alu mul %difference, %difference : (f32, f32) -> f32
    %next = uop.alu add %a, %square : (f32, f32) -> f32
    uop.yield %next : f32
  }
  %variance = uop.alu mul %squares, %third : (f32, f32) -> f32
  uop.store %variance, %0[%zero : i32] : f32, !uop.ptr<f32, global>
  uop.yield
})";

const llvm::StringLiteral test::kPad = R"(
uop.func @E_5(%0: !uop.ptr<f32, global>, %1: !uop.ptr<f32, global>) )" HEAD R"( {
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %four = uop.const 4 : i32
  %five = uop.const 5 : i32
  %minus = uop.const -1 : i32
  %none = uop.const 0.0 : f32
  uop.range %i = %zero to %five : i32 attributes {axis = 0 : i64} {
    %index = uop.alu add %i, %minus : (i32, i32) -> i32
    %after = uop.alu cmplt %zero, %i : (i32, i32) -> i1
    %before = uop.alu cmplt %i, %four : (i32, i32) -> i1
    %inside = uop.alu and %after, %before : (i1, i1) -> i1
    %x = uop.load %1[%index : i32] gate %inside : i1 else %none : f32 : !uop.ptr<f32, global> -> f32
    uop.store %x, %0[%i : i32] : f32, !uop.ptr<f32, global>
    uop.yield
  }
  uop.yield
})";
