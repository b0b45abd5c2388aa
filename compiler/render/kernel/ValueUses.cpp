#include "render/kernel/ValueUses.h"

using namespace kiln;
using namespace kiln::render;

static void countUses(const LinearProgram &program, ValueUses &uses) {
  unsigned depth = 0;
  for (auto [index, uop] : llvm::enumerate(program.rows)) {
    if (uop.kind == LinearKind::EndRange)
      --depth;
    uses.depths[index] = depth;
    mlir::Type type = uop.kind == LinearKind::Store ? program.rows[uop.sources[2]].type : uop.type;
    bool repeats = type && uop::lanesOf(type) > 1 && uop.kind != LinearKind::Vectorize;
    auto alu = llvm::dyn_cast_or_null<uop::AluOp>(uop.op);
    bool isSelection = uop.kind == LinearKind::Alu && alu.getKind().getValue() == Alu::WHERE;
    for (auto [position, source] : llvm::enumerate(uop.sources)) {
      uses.areChosen[source] = uses.areChosen[source] || (isSelection && position > 0);
      mlir::Type sourceType = program.rows[source].type;
      bool isScalar = sourceType && uop::lanesOf(sourceType) == 1;
      uses.counts[source] += repeats && isScalar ? 2 : 1;
      uses.useDepths[source] = std::max(uses.useDepths[source], depth);
    }
    if (uop.kind == LinearKind::Range)
      ++depth;
  }
}

static bool isComputed(LinearKind kind) {
  switch (kind) {
  case LinearKind::Load:
  case LinearKind::Alu:
  case LinearKind::Fma:
  case LinearKind::Cast:
  case LinearKind::Bitcast:
  case LinearKind::Vectorize:
  case LinearKind::Gep:
  case LinearKind::Shuffle:
    return true;
  default:
    return false;
  }
}

/// Backwards, so that a lane is needed only by lanes that are.
static void findLanes(const LinearProgram &program, llvm::function_ref<bool(mlir::Type)> isWhole, ValueUses &uses) {
  for (const LinearUOp &uop : program.rows)
    uses.lanes.emplace_back(uop.type ? uop::lanesOf(uop.type) : 1, !isComputed(uop.kind));
  for (unsigned index = program.rows.size(); index-- > 0;) {
    const LinearUOp &uop = program.rows[index];
    llvm::BitVector &used = uses.lanes[index];
    if (used.none())
      continue;
    if (uop.type && isWhole(uop.type))
      used.set();
    for (auto [position, source] : llvm::enumerate(uop.sources)) {
      llvm::BitVector &needed = uses.lanes[source];
      if (uop.kind == LinearKind::Gep)
        for (unsigned lane : used.set_bits())
          needed.set(llvm::cast<uop::GepOp>(uop.op).getLane() + lane);
      else if (uop.kind == LinearKind::Vectorize && !used[position])
        continue;
      else if (isComputed(uop.kind) && needed.size() == used.size())
        needed |= used;
      else
        needed.set();
    }
  }
}

ValueUses render::findUses(const LinearProgram &program, llvm::function_ref<bool(mlir::Type)> isWhole) {
  size_t rows = program.rows.size();
  ValueUses uses{std::vector<unsigned>(rows),
                 std::vector<unsigned>(rows),
                 std::vector<unsigned>(rows),
                 std::vector<bool>(rows),
                 {}};
  countUses(program, uses);
  findLanes(program, isWhole, uses);
  return uses;
}
