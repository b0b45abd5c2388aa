#include "render/kernel/Listing.h"

#include "render/kernel/Number.h"
#include "support/Quote.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::render;

static llvm::StringRef nameOf(LinearKind kind) {
  static constexpr llvm::StringLiteral names[] = {
      "DEFINE_GLOBAL", "DEFINE_VAR", "DEFINE_LOCAL", "DEFINE_REG", "CONST",   "SPECIAL",   "DEFINE_ACC", "RANGE",
      "LOAD",          "ALU",        "ALU",          "CAST",       "BITCAST", "VECTORIZE", "GEP",        "PHI",
      "ENDRANGE",      "IF",         "ELSE",         "ENDIF",      "BARRIER", "SHUFFLE",   "PREFETCH",   "STORE",
      "LOAD",          "STORE",      "WMMA",         "DOT",        "LOOKUP"};
  static_assert(std::size(names) == static_cast<size_t>(LinearKind::Lookup) + 1);
  return names[static_cast<size_t>(kind)];
}

static std::string dtypeText(mlir::Type type) {
  if (!type)
    return "";
  if (auto pointer = llvm::dyn_cast<uop::PtrType>(type))
    return "PtrDType(" + dtypeText(pointer.getElement()) + ")";
  std::string element = listingName(mlir::getElementTypeOrSelf(type)).str();
  unsigned lanes = uop::lanesOf(type);
  return lanes == 1 ? element : element + ".vec(" + std::to_string(lanes) + ")";
}

static std::string variableText(view::Expr size) {
  if (size.kind() != view::Expr::Kind::Var)
    return plainText(size.render());
  return llvm::formatv("Variable('{0}', {1}, {2})", plainText(size.name()), size.min(), size.max());
}

static std::string argumentText(const LinearProgram &program, const LinearUOp &uop) {
  switch (uop.kind) {
  case LinearKind::DefineGlobal:
    return std::to_string(uop.number);
  case LinearKind::DefineVar:
    return variableText(uop::FuncOp(program.function).getSizes().getSizes()[uop.number]);
  case LinearKind::DefineLocal:
  case LinearKind::DefineRegister: {
    auto op = llvm::cast<uop::DefineOp>(uop.op);
    return llvm::formatv("('{0}', {1})", op.getName(), op.getElements());
  }
  case LinearKind::Const: {
    mlir::TypedAttr value = llvm::cast<uop::ConstOp>(uop.op).getValue();
    auto matrix = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
    return pythonText(matrix ? llvm::cast<mlir::TypedAttr>(matrix.getSplatValue<mlir::Attribute>()) : value);
  }
  case LinearKind::Special: {
    auto op = llvm::cast<uop::SpecialOp>(uop.op);
    return llvm::formatv("('{0}', {1})", specialName(op), plainText(op.getSize().getValue().render()));
  }
  case LinearKind::DefineAcc:
    return llvm::formatv("({0},)", uop.number);
  case LinearKind::Range: {
    auto op = llvm::cast<uop::RangeOp>(uop.op);
    return llvm::formatv("({0}, {1})", op.getAxis(), op.getReduce() ? "True" : "False");
  }
  case LinearKind::Alu:
    return aluListingName(llvm::cast<uop::AluOp>(uop.op).getKind().getValue());
  case LinearKind::Fma:
    return "TernaryOps.FMA";
  case LinearKind::Gep:
    return std::to_string(llvm::cast<uop::GepOp>(uop.op).getLane());
  case LinearKind::Wmma:
    return ("'" + llvm::cast<uop::WmmaOp>(uop.op).getName() + "'").str();
  case LinearKind::Dot:
    return ("'" + llvm::cast<uop::DotOp>(uop.op).getName() + "'").str();
  case LinearKind::Shuffle:
    return std::to_string(llvm::cast<uop::ShuffleOp>(uop.op).getBit());
  default:
    return "None";
  }
}

std::string render::listing(const LinearProgram &program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [row, uop] : llvm::enumerate(program.rows)) {
    std::string sources;
    for (unsigned source : uop.sources) {
      const LinearUOp &parent = program.rows[source];
      std::string name =
          parent.kind == LinearKind::Const ? "'" + argumentText(program, parent) + "'" : std::to_string(source);
      sources += (sources.empty() ? "" : ", ") + name;
    }
    os << llvm::formatv("{0,4} UOps.{1,-15}: {2,-25} {3,-32} {4}\n", row, nameOf(uop.kind), dtypeText(uop.type),
                        "[" + sources + "]", argumentText(program, uop));
  }
  return text;
}
