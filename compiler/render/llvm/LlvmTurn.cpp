//===- LlvmTurn.cpp - Vectors of rows made vectors of columns ---------------------===//
// Turning n vectors of n lanes takes log n rounds, and each makes two vectors out of two. CPUs have instructions of one
// step for two kinds of rounds, so all are one of these:
// - inside each 128 bits of two vectors, lanes, pairs of lanes and so on are taken from both in turn;
// - parts of 128 bits of two vectors are exchanged.
// Lane by lane, a vector of eight would take seven steps of its own, and eight of them 56 instead of 24.
//===----------------------------------------------------------------------------===//

#include "render/llvm/LlvmTurn.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/IR/DerivedTypes.h"

using namespace kiln;
using llvm::Value;

static unsigned lanesOf(Value *vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

/// Lanes of two vectors: `from(lane)` counts through both.
static Value *shuffle(llvm::IRBuilderBase &builder, Value *a, Value *b, unsigned lanes,
                      llvm::function_ref<unsigned(unsigned)> from) {
  llvm::SmallVector<int> mask;
  for (unsigned lane = 0; lane < lanes; ++lane)
    mask.push_back(int(from(lane)));
  return builder.CreateShuffleVector(a, b, mask);
}

/// As many vectors as each has lanes.
static llvm::SmallVector<Value *> turnSquare(llvm::IRBuilderBase &builder, llvm::SmallVector<Value *> rows) {
  constexpr unsigned kPartBits = 128;
  unsigned lanes = rows.size(), bits = rows.front()->getType()->getScalarSizeInBits();
  unsigned inPart = std::min(lanes, kPartBits / bits), parts = lanes / inPart;
  // For two vectors so many rows apart: the first halves of their parts in turn, and the second halves.
  for (unsigned apart = 1; apart < inPart; apart *= 2)
    for (unsigned row = 0; row < lanes; ++row) {
      if (row & apart)
        continue;
      auto half = [&](unsigned second) {
        return shuffle(builder, rows[row], rows[row + apart], lanes, [&](unsigned lane) {
          unsigned part = lane / inPart * inPart, in = lane % inPart, taken = in / apart;
          return part + second * (inPart / 2) + taken / 2 * apart + in % apart + (taken % 2 ? lanes : 0);
        });
      };
      Value *first = half(0), *second = half(1);
      rows[row] = first, rows[row + apart] = second;
    }
  // A vector now has in each part one column of as many rows as a part has lanes; these rows belong together.
  for (unsigned apart = inPart; apart < lanes; apart *= 2)
    for (unsigned row = 0; row < lanes; ++row) {
      if (row & apart)
        continue;
      auto parted = [&](unsigned second) {
        return shuffle(builder, rows[row], rows[row + apart], lanes, [&](unsigned lane) {
          return lane & apart ? lanes + lane - apart + second * apart : lane + second * apart;
        });
      };
      Value *first = parted(0), *second = parted(1);
      rows[row] = first, rows[row + apart] = second;
    }
  // The first rounds left the columns of a part in the order of their bits reversed.
  llvm::SmallVector<Value *> columns(lanes);
  for (unsigned part = 0; part < parts; ++part)
    for (unsigned place = 0; place < inPart; ++place) {
      unsigned column = 0;
      for (unsigned bit = 1; bit < inPart; bit *= 2)
        column = 2 * column + (place & bit ? 1 : 0);
      columns[part * inPart + column] = rows[part * inPart + place];
    }
  return columns;
}

llvm::SmallVector<Value *> render::turnVectors(llvm::IRBuilderBase &builder, llvm::ArrayRef<Value *> vectors) {
  unsigned lanes = lanesOf(vectors.front()), side = std::min<unsigned>(lanes, vectors.size());
  llvm::SmallVector<Value *> turned;
  for (unsigned begin = 0; begin < lanes; begin += side) {
    llvm::SmallVector<llvm::SmallVector<Value *>> squares;
    for (unsigned first = 0; first < vectors.size(); first += side) {
      llvm::SmallVector<Value *> rows(vectors.slice(first, side));
      if (side < lanes)
        for (Value *&row : rows)
          row = shuffle(builder, row, row, side, [&](unsigned lane) { return begin + lane; });
      squares.push_back(turnSquare(builder, rows));
    }
    for (unsigned column = 0; column < side; ++column) {
      llvm::SmallVector<Value *> pieces =
          llvm::map_to_vector(squares, [&](const llvm::SmallVector<Value *> &square) { return square[column]; });
      for (; pieces.size() > 1; pieces.resize(pieces.size() / 2))
        for (unsigned i = 0; i < pieces.size() / 2; ++i)
          pieces[i] = shuffle(builder, pieces[2 * i], pieces[2 * i + 1], 2 * lanesOf(pieces[2 * i]),
                              [](unsigned lane) { return lane; });
      turned.push_back(pieces.front());
    }
  }
  return turned;
}
