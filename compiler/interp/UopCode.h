//===- UopCode.h - Uops as a flat list of instructions ------------------------===//
#pragma once

#include "interp/UopMatrices.h"
#include "ir/base/Evaluate.h"
#include "ir/uop/UOp.h"

#include <array>
#include <string>
#include <vector>

namespace kiln::interp {

/// The place of a value in an item's frame, in bytes.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

enum class Opcode : uint8_t {
  Alu,         // result = loop(a, b, c), lane by lane
  Copy,        // result = a, `bytes` long
  Fill,        // every lane of result = a
  PlainLoad,   // result = memory[a], of one lane, from global memory that the kernel only reads
  Load,        // result = memory[a …] if gate b holds, else c
  Store,       // memory[a …] = c if gate b holds
  Enter,       // result = a; to `target` unless result < b
  Next,        // ++result; to `target` if result < b
  Jump,        // to `target`
  JumpIfFalse, // to `target` unless a
  Barrier,
  Shuffle,     // result = a of the item whose number differs in the bit `bit`
  LoadMatrix,  // row after row of result = memory[a …], memory[a + b …] …
  StoreMatrix, // memory[a …], memory[a + b …] … = row after row of c
  Multiply,    // result = c + a × b, of matrices
  Dot,         // result = c + a × b, some terms per lane
  Lookup,      // result = memory[a], a byte by a byte in each lane
  End,
};

struct Instruction {
  Opcode op;
  bool isWide = false;   // Load, Store, Enter, Next: the index is i64, else i32; of matrices the pitch, too
  uint8_t gateLanes = 0; // Load, Store: 0 (no gate), 1, or one per lane
  uint32_t lanes = 1;
  uint32_t bytes = 0; // of one lane; of all for Copy
  uint32_t memory = 0, target = 0, bit = 0;
  uint32_t rows = 1;    // of a matrix that is loaded or stored; a row has `lanes` elements
  uint32_t product = 0; // Multiply: of UopCode::products; Dot: of UopCode::dots
  Slot result = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot;
  AluLoop loop = nullptr;
};

struct UopMemory {
  std::string name;
  uop::Memory kind;
  uint32_t elementBytes;
  int64_t elements; // not of global memory
  bool isWritten;   // by this kernel
};

struct UopProduct {
  MatrixLoop loop;
  MatrixSizes sizes;
};

struct UopDot {
  DotLoop loop;
  DotSizes sizes;
};

struct UopCode {
  struct SizeSlot {
    Slot slot;
    bool isWide;
  };
  struct SpecialSlot {
    Slot slot;
    bool isWide, isLocal;
    unsigned axis;
  };

  std::string name;
  std::vector<Instruction> instructions;
  std::vector<char> frame;         // an item's at its start: the constants
  std::vector<UopMemory> memories; // the buffers first, in order
  std::vector<SizeSlot> sizes;
  std::vector<SpecialSlot> specials;
  std::vector<UopProduct> products;
  std::vector<UopDot> dots;
  std::array<int64_t, 3> local = {1, 1, 1};
  size_t buffers = 0;
};

} // namespace kiln::interp
