//===- Lanes.h - Uops written as formulas --------------------------------------===//
//
// Code that replaces a uop is arithmetic on its operands, for as many lanes as they have: Lanes gives it C++'s
// operators. A number combined with Lanes has their element type.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln::lower {

/// Constants of a function, each once, at its head.
class Constants {
public:
  explicit Constants(uop::FuncOp func) : func_(func) {}
  /// A scalar, or a vector of `lanes` that holds it in each.
  mlir::Value get(mlir::OpBuilder &builder, mlir::TypedAttr number, unsigned lanes);
  void forget(mlir::Operation *erased);

private:
  uop::FuncOp func_;
  llvm::DenseMap<std::pair<mlir::Attribute, unsigned>, mlir::Value> known_;
};

/// The place for formulas and the operations that they may use.
struct LanesWriter {
  mlir::RewriterBase &rewriter;
  mlir::Location loc;
  Constants &constants;
  bool fma;    ///< whether mulAdd is one operation
  bool scales; ///< whether a float times a power of 2 is

  mlir::Value alu(Alu kind, mlir::ValueRange operands, mlir::Type element);
};

/// A scalar or vector value.
class Lanes {
public:
  Lanes(LanesWriter &writer, mlir::Value value) : writer_(&writer), value_(value) {}

  mlir::Value value() const { return value_; }
  LanesWriter &writer() const { return *writer_; }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value_.getType()); }
  /// A constant with these lanes, of this element type or another.
  Lanes like(double number) const { return like(number, element()); }
  Lanes like(double number, mlir::Type element) const;
  Lanes apply(Alu kind) const { return apply(kind, element()); }
  Lanes apply(Alu kind, mlir::Type element) const { return {*writer_, writer_->alu(kind, value_, element)}; }
  Lanes castTo(mlir::Type element) const { return apply(Alu::CAST, element); }
  /// The same bits as another type of the same width.
  Lanes bitsAs(mlir::Type element) const { return apply(Alu::BITCAST, element); }
  /// As integers of the width, and as floats.
  Lanes bits() const;
  Lanes asFloat() const;

private:
  LanesWriter *writer_;
  mlir::Value value_;
};

/// Lanes, or a number that takes the type of the Lanes that it is combined with.
class LanesOrNumber {
public:
  LanesOrNumber(Lanes lanes) : lanes_(lanes) {}
  LanesOrNumber(double number) : number_(number) {}
  Lanes beside(Lanes other) const { return lanes_ ? *lanes_ : other.like(number_); }

private:
  std::optional<Lanes> lanes_;
  double number_ = 0;
};

Lanes binary(Alu kind, Lanes a, LanesOrNumber b);
inline Lanes operator-(Lanes a) { return a.apply(Alu::NEG); }
inline Lanes operator+(Lanes a, LanesOrNumber b) { return binary(Alu::ADD, a, b); }
inline Lanes operator-(Lanes a, Lanes b) { return a + -b; }
inline Lanes operator-(Lanes a, double b) { return a + -b; }
inline Lanes operator*(Lanes a, LanesOrNumber b) { return binary(Alu::MUL, a, b); }
inline Lanes operator/(Lanes a, LanesOrNumber b) { return binary(Alu::FDIV, a, b); }
inline Lanes operator&(Lanes a, LanesOrNumber b) { return binary(Alu::AND, a, b); }
inline Lanes operator|(Lanes a, LanesOrNumber b) { return binary(Alu::OR, a, b); }
inline Lanes operator^(Lanes a, LanesOrNumber b) { return binary(Alu::XOR, a, b); }
inline Lanes operator<<(Lanes a, LanesOrNumber b) { return binary(Alu::SHL, a, b); }
inline Lanes operator>>(Lanes a, LanesOrNumber b) { return binary(Alu::SHR, a, b); }

/// a·b + c; with one rounding if the target has that.
Lanes mulAdd(Lanes a, LanesOrNumber b, LanesOrNumber c);
/// By Horner's rule, the lowest power first.
Lanes polynomial(Lanes x, llvm::ArrayRef<float> coefficients);
Lanes polynomial(Lanes x, llvm::ArrayRef<double> coefficients);

/// Lanes of bools; false if an operand is NaN.
Lanes less(LanesOrNumber a, Lanes b);
Lanes less(Lanes a, double b);
Lanes equal(Lanes a, LanesOrNumber b);
Lanes where(Lanes condition, Lanes a, Lanes b);
inline Lanes where(Lanes condition, double a, Lanes b) { return where(condition, b.like(a), b); }
inline Lanes where(Lanes condition, Lanes a, double b) { return where(condition, a, a.like(b)); }

} // namespace kiln::lower
