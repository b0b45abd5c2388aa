//===- CLanguage.h - The spellings of one language of the C family -----------===//
//
// Every device that takes source text renders with CStyle; a device is one of these tables. Patterns use $c for the
// value that the comment on their line names.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "render/kernel/DTypeNames.h"

#include "llvm/ADT/ArrayRef.h"

namespace kiln::render {

/// A row of Alu.def that the language spells otherwise; the operands' placeholders are Alu.def's.
struct AluSpelling {
  Alu kind;
  llvm::StringLiteral pattern;
};

/// Vectors as values of the language. Without any, and for other lane counts, a vector is rendered as its lanes.
struct VectorSpelling {
  llvm::ArrayRef<unsigned> lanes; ///< the counts that there are types for; empty: the language has no vectors
  llvm::StringLiteral type = "";  ///< $t element, $n lanes
  llvm::StringLiteral make = "";  ///< $t type, $x the lanes, comma separated, or one for all
  llvm::StringLiteral lane = "";  ///< $x vector, $l lane in hexadecimal
  llvm::StringLiteral load = "";  ///< $n lanes, $p pointer to the first
  llvm::StringLiteral store = ""; ///< $n lanes, $p pointer to the first, $x value
  llvm::StringLiteral cast = "";  ///< $t type, $x value; for conversions that lose nothing but precision
};

/// A conversion that the language has an instruction for: the definition of a function, by Semantics.cpp's
/// placeholders.
struct CastSpelling {
  DType from, to;
  llvm::StringLiteral definition;
};

/// A row of Alu.def that the language has an instruction for in a dtype, likewise.
struct FunctionSpelling {
  Alu kind;
  DType dtype;
  llvm::StringLiteral definition;
};

struct CLanguage {
  /// The type of a value, and of an element in a buffer. Half and bfloat16 are their bits in both: arithmetic on them
  /// widens to float.
  std::array<llvm::StringLiteral, kDTypes> values, memory;

  llvm::StringLiteral fileHead;        ///< begins a file, after its comment
  llvm::StringLiteral doubleHead = ""; ///< follows if a kernel computes with doubles
  llvm::StringLiteral kernelPrefix = "";
  llvm::StringLiteral groupAttribute = ""; ///< follows the prefix; $0 $1 $2: the items of a group along each axis
  llvm::StringLiteral globalQualifier = "", localQualifier = ""; ///< of a pointer's target, with a space after
  llvm::StringLiteral restrictQualifier = "restrict";            ///< of a pointer
  llvm::StringLiteral assumeAligned = "";  ///< a statement: pointer $p of type $t is a multiple of kBufferAlignment
  llvm::StringLiteral alignedPointer = ""; ///< a statement: $n is pointer $p of type $t, a multiple of $b bytes
  llvm::StringLiteral aligned;             ///< of memory that a kernel defines, 64 bytes
  llvm::StringLiteral barrier = "";        ///< a statement; "" if a group has one item
  llvm::StringLiteral shuffle = "";        ///< value $x of the item whose index differs in $b; "" if there are no warps
  /// Whether both values of a selection are computed before it. If a branch left one out, items that run together would
  /// take both ways of it, one after the other.
  bool computesChoices = false;
  llvm::StringLiteral prefetch = "(void)($p);"; ///< a statement that prefetches the target of pointer $p, or uses it
  /// The expression for a special, by SpecialKind and axis; "" if the device has none.
  std::array<std::array<llvm::StringLiteral, 3>, 3> specials;
  llvm::StringLiteral chunkParameter = ""; ///< the parameter that a kernel with a chunk special takes
  llvm::StringLiteral gridParameters = ""; ///< those that a kernel takes with groups along more than one axis
  llvm::StringLiteral sizeParameter = "";  ///< the type of sizes as parameters; "" for the type in which they are used
  llvm::StringLiteral longSuffix;          ///< of a 64-bit literal
  llvm::StringLiteral floatMath;           ///< the ending of float's math functions
  llvm::ArrayRef<AluSpelling> alus;
  llvm::ArrayRef<CastSpelling> casts = {};
  llvm::ArrayRef<FunctionSpelling> functions = {};
  VectorSpelling vectors;

  llvm::StringRef value(DType dtype) const { return values[static_cast<unsigned>(dtype)]; }
  llvm::StringRef element(DType dtype) const { return memory[static_cast<unsigned>(dtype)]; }
  /// The pattern of an operation, its own or Alu.def's.
  llvm::StringRef alu(Alu kind) const;
  /// Whether the language has a type for vectors of this many lanes.
  bool hasVector(DType dtype, unsigned lanes) const;
};

/// C11, without vectors: any compiler's.
extern const CLanguage kC11;

} // namespace kiln::render
