//===- Program.h - A program of the reference as kiln's graph ------------===//
#pragma once

#include "tools/kiln-golden/Report.h"

#include "ir/base/DType.h"
#include "ir/graph/Graph.h"

namespace kiln::golden {

/// nullopt for a name that the reference does not use.
std::optional<DType> dtypeByName(llvm::StringRef name);
/// The reference's name of a dtype: float32, int32, bool …
llvm::StringRef referenceName(mlir::Type element);

/// A number as the data write it ("inf", "nan" and truth values included) in a dtype.
mlir::TypedAttr numberOf(const Json &value, mlir::Type element);

/// An output: the elements of `base` (a primitive's id) through `tracker`. An output that is a mere view is not copied.
struct ProgramOutput {
  std::string name;
  int64_t base;
  view::ShapeTracker tracker;
};

struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ProgramOutput> outputs;
  /// The primitives that `main` returns, in order: what the outputs see, each once, inputs left out.
  std::vector<int64_t> results;
  /// The primitives that are inputs, or held where an input is: the inputs' names.
  std::map<int64_t, std::string> inputs;
};

/// Writes `main` from the program's primitives, one op per call. nullopt, with a mismatch, if that is not possible.
std::optional<Program> buildProgram(const Json &program, mlir::MLIRContext &context, Report &report);

} // namespace kiln::golden
