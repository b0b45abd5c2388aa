#include "ir/base/AluTraits.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/StringSwitch.h"

using namespace kiln;

const AluInfo &kiln::aluInfo(Alu kind) {
  static constexpr AluInfo rows[] = {
#define KILN_ALU(NAME, MNEMONIC, ARITY, RULE, CLASS, STEPS, ZERO, C) {#NAME, #MNEMONIC, ARITY, AluRule::RULE, C},
#include "ir/base/Alu.def"
  };
  return rows[static_cast<uint32_t>(kind)];
}

const AluTraits &kiln::aluTraits(Alu kind) {
  static constexpr AluTraits rows[] = {
#define KILN_ALU(NAME, MNEMONIC, ARITY, RULE, CLASS, STEPS, ZERO, C) {AluClass::CLASS, STEPS, ZERO},
#include "ir/base/Alu.def"
  };
  return rows[static_cast<uint32_t>(kind)];
}

std::string kiln::aluListingName(Alu kind) {
  static constexpr llvm::StringLiteral families[] = {"UnaryOps.", "BinaryOps.", "TernaryOps."};
  const AluInfo &info = aluInfo(kind);
  return (families[info.arity - 1] + info.name).str();
}

std::optional<Alu> kiln::symbolizeAlu(llvm::StringRef mnemonic) {
  return llvm::StringSwitch<std::optional<Alu>>(mnemonic)
#define KILN_ALU(NAME, MNEMONIC, ...) .Case(#MNEMONIC, Alu::NAME)
#include "ir/base/Alu.def"
      .Default(std::nullopt);
}

llvm::StringRef kiln::stringifyAlu(Alu kind) { return aluInfo(kind).mnemonic; }

llvm::LogicalResult kiln::verifyAlu(Alu kind, mlir::TypeRange operands, mlir::Type result,
                                    llvm::function_ref<mlir::InFlightDiagnostic()> emit) {
  const AluInfo &info = aluInfo(kind);
  if (operands.size() != info.arity)
    return emit() << info.mnemonic << " takes " << info.arity << " operands, not " << operands.size();
  mlir::Type boolean = mlir::IntegerType::get(result.getContext(), 1);
  auto expect = [&](mlir::Type type, mlir::Type wanted, llvm::StringRef what) -> llvm::LogicalResult {
    if (type == wanted)
      return mlir::success();
    return emit() << info.mnemonic << ": " << what << " is " << type << " where " << wanted << " is needed";
  };
  switch (info.rule) {
  case AluRule::Same:
    for (mlir::Type type : operands)
      if (failed(expect(type, result, "an operand")))
        return mlir::failure();
    return mlir::success();
  case AluRule::Compare:
    if (failed(expect(operands[1], operands[0], "the second operand")))
      return mlir::failure();
    return expect(result, boolean, "the result");
  case AluRule::Select:
    if (failed(expect(operands[0], boolean, "the condition")) ||
        failed(expect(operands[1], result, "the second operand")))
      return mlir::failure();
    return expect(operands[2], result, "the third operand");
  case AluRule::Scale:
    if (!llvm::isa<mlir::FloatType>(result))
      return emit() << info.mnemonic << ": the result is " << result << " where a float is needed";
    if (failed(expect(operands[0], result, "the first operand")))
      return mlir::failure();
    return expect(operands[1], mlir::IntegerType::get(result.getContext(), 32), "the second operand");
  case AluRule::Convert:
    return mlir::success();
  case AluRule::Reinterpret:
    if (operands[0].getIntOrFloatBitWidth() != result.getIntOrFloatBitWidth())
      return emit() << info.mnemonic << ": " << operands[0] << " and " << result << " differ in width";
    return mlir::success();
  }
  llvm_unreachable("every rule is handled");
}
