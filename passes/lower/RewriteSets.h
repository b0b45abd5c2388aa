//===- RewriteSets.h - Named sets of patterns over uops ---------------------------===//
//
// A pattern is a row of a table: its name, the row of Alu.def that it takes, and a function. RewriteUOps applies the
// patterns of a set together.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "passes/lower/Lanes.h"

namespace kiln::lower {

/// Marks an addition to a running total: a product that it adds need not be rounded before.
inline constexpr llvm::StringLiteral kContract = "contract";

/// The context of patterns besides the op that they look at.
struct RewriteContext {
  Constants &constants;
  TargetAttr target;
};

void addFoldPatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addTranscendentalPatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addLegalisePatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addQuotientPatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addBytePatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addFmaPatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addGatePatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addSkipPatterns(mlir::RewritePatternSet &set, const RewriteContext &context);
void addVectorPatterns(mlir::RewritePatternSet &set, const RewriteContext &context);

/// A pattern on one row: `Rewrite` returns the value that replaces the op, or null if it does not apply.
class RowPattern final : public mlir::OpRewritePattern<uop::AluOp> {
public:
  using Rewrite = mlir::Value (*)(uop::AluOp, LanesWriter &);

  RowPattern(mlir::MLIRContext *context, const RewriteContext &rewriteContext, llvm::StringRef name, Alu kind,
             Rewrite rewrite)
      : OpRewritePattern(context), context_(rewriteContext), kind_(kind), rewrite_(rewrite) {
    setDebugName(name);
  }

  mlir::LogicalResult matchAndRewrite(uop::AluOp op, mlir::PatternRewriter &rewriter) const override;

private:
  const RewriteContext &context_;
  Alu kind_;
  Rewrite rewrite_;
};

/// A row of a table of such patterns.
struct NamedRow {
  llvm::StringLiteral name;
  Alu kind;
  RowPattern::Rewrite rewrite;
};
void addRows(mlir::RewritePatternSet &set, const RewriteContext &context, llvm::ArrayRef<NamedRow> rows);

/// The constant that a value is, in each of its lanes; null: none.
mlir::TypedAttr constantOf(mlir::Value value);
/// The op that makes a value, if it is this row.
uop::AluOp rowOf(mlir::Value value, Alu kind);

} // namespace kiln::lower
