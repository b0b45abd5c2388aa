//===- Linear.h - A kernel as one list of uops --------------------------------===//
//
// The uop dialect nests: a range is an op with a body and carried values. tinygrad's form, which listings show and C
// follows, is flat: an accumulator is defined before its loop, PHI assigns it, ENDRANGE closes. This is that flat list,
// made from the uop.func itself, in the order in which it is printed and rendered:
//   pointers, sizes, memory, constants (by value, each once), specials, then the body.
// A carried value that an inner range only passes on through an outer one is one accumulator for both, so a reduction
// over two axes has one DEFINE_ACC that names two ranges. Values that no store, condition or bound needs are left out.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"

namespace kiln::render {

enum class LinearKind {
  DefineGlobal, // number: of the pointer
  DefineVar,    // number: of the entry of the function's sizes
  DefineLocal,
  DefineRegister,
  Const,
  Special,
  DefineAcc, // sources: the first value, then the ranges that it lives through; number counts accumulators
  Range,     // sources: from, to
  Load,      // sources: pointer, index[, otherwise, gate]
  Alu,
  Fma,
  Cast,
  Bitcast,
  Vectorize, // one source per lane, even if the uop has a single operand
  Gep,
  Phi, // sources: accumulator, value
  EndRange,
  If,
  Else, // sources: the if
  EndIf,
  Barrier,
  Shuffle,
  Prefetch,    // sources: pointer, index
  Store,       // sources: pointer, index, value[, gate]
  LoadMatrix,  // sources: pointer, index, pitch
  StoreMatrix, // sources: pointer, index, pitch, value
  Wmma,        // sources: rows, columns, sums
  Dot,         // sources: a, b, sums
  Lookup,      // sources: table, index
};

struct LinearUOp {
  LinearKind kind;
  mlir::Type type;                        ///< of the result; null where there is none
  llvm::SmallVector<unsigned, 4> sources; ///< rows; only DefineAcc names later ones
  mlir::Operation *op = nullptr;          ///< the uop; null for arguments
  unsigned number = 0;
};

struct LinearProgram {
  uop::FuncOp function;
  std::vector<LinearUOp> rows;
};

LinearProgram linearize(uop::FuncOp function);

/// Whether the kernel asks which chunk of its launch it runs.
bool usesChunk(const LinearProgram &program);

/// "gidx0", "lidx1", "chunk0": the name of a special, in listings and in source.
std::string specialName(uop::SpecialOp op);

} // namespace kiln::render
