#include "render/kernel/Linear.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace kiln;
using namespace kiln::render;
using namespace kiln::uop;
using mlir::Operation;
using mlir::Value;

namespace {

/// The values that something visible needs: stored values, and those that decide how often and whether.
class Liveness {
public:
  explicit Liveness(FuncOp function) {
    function.walk([&](Operation *op) {
      if (auto range = llvm::dyn_cast<RangeOp>(op)) {
        need(range.getFrom());
        need(range.getTo());
      } else if (llvm::isa<StoreOp, StoreMatrixOp, PrefetchOp, IfOp>(op)) {
        llvm::for_each(op->getOperands(), [&](Value value) { need(value); });
      }
    });
    while (!pending_.empty())
      reach(pending_.pop_back_val());
  }

  bool contains(Value value) const { return live_.contains(value); }

private:
  void need(Value value) {
    if (live_.insert(value).second)
      pending_.push_back(value);
  }

  /// A carried value is three values (argument, result, yielded) that live and die together.
  void needCarried(RangeOp range, unsigned index) {
    need(range.getInits()[index]);
    need(range.getCarried()[index]);
    need(range.getYield().getValues()[index]);
  }

  void reach(Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      auto range = llvm::dyn_cast<RangeOp>(argument.getOwner()->getParentOp());
      if (range && argument.getArgNumber() > 0)
        needCarried(range, argument.getArgNumber() - 1);
      return;
    }
    if (auto range = value.getDefiningOp<RangeOp>())
      return needCarried(range, llvm::cast<mlir::OpResult>(value).getResultNumber());
    for (Value operand : value.getDefiningOp()->getOperands())
      need(operand);
  }

  llvm::DenseSet<Value> live_;
  llvm::SmallVector<Value> pending_;
};

class Linearizer {
public:
  explicit Linearizer(FuncOp function) : live_(function), out_{function, {}} {}

  LinearProgram run() {
    head();
    body(out_.function.getBody().front());
    return std::move(out_);
  }

private:
  unsigned append(LinearKind kind, mlir::Type type, llvm::ArrayRef<unsigned> sources, Operation *op,
                  unsigned number = 0) {
    out_.rows.push_back({kind, type, llvm::SmallVector<unsigned, 4>(sources), op, number});
    return out_.rows.size() - 1;
  }
  unsigned rowOf(Value value) const { return rows_.at(value); }

  void head();
  void constants();
  void specials();
  void body(mlir::Block &block);
  void append(Operation *op);
  void range(RangeOp range);
  void branch(IfOp branch);
  void value(Operation *op, LinearKind kind);
  std::optional<unsigned> outerAccumulator(RangeOp range, unsigned index);

  Liveness live_;
  LinearProgram out_;
  llvm::DenseMap<Value, unsigned> rows_;
  unsigned accumulators_ = 0;
};

} // namespace

void Linearizer::head() {
  unsigned pointers = 0, sizes = 0;
  for (Value argument : out_.function.getBody().getArguments()) {
    bool isPointer = llvm::isa<PtrType>(argument.getType());
    rows_[argument] = append(isPointer ? LinearKind::DefineGlobal : LinearKind::DefineVar, argument.getType(), {},
                             nullptr, isPointer ? pointers++ : sizes++);
  }
  out_.function.walk([&](DefineOp op) {
    if (live_.contains(op))
      rows_[op] =
          append(op.getType().getMemory() == Memory::Local ? LinearKind::DefineLocal : LinearKind::DefineRegister,
                 op.getType(), {}, op);
  });
  constants();
  specials();
}

/// Python's order of numbers, in which False is 0; NaN comes last.
static int compareValues(mlir::TypedAttr a, mlir::TypedAttr b) {
  auto floatOf = [](mlir::TypedAttr value) {
    if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value))
      return number.getValueAsDouble();
    auto integer = llvm::cast<mlir::IntegerAttr>(value);
    bool isUnsigned = integer.getType().isUnsignedInteger() || integer.getType().isInteger(1);
    return integer.getValue().roundToDouble(!isUnsigned);
  };
  double x = floatOf(a), y = floatOf(b);
  bool xIsNan = x != x, yIsNan = y != y;
  if (xIsNan || yIsNan)
    return int(xIsNan) - int(yIsNan);
  return x < y ? -1 : x > y;
}

/// tinygrad's order of dtypes: bool, integers by width, floats by width.
static unsigned rank(mlir::Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return (llvm::isa<mlir::FloatType>(type) ? 1000 : 0) + 2 * bits + (type.isUnsignedInteger() || type.isBF16());
}

void Linearizer::constants() {
  llvm::SmallVector<std::pair<unsigned, ConstOp>> distinct; // with their order of occurrence, which breaks ties
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<ConstOp>> equal;
  out_.function.walk([&](ConstOp op) {
    if (!live_.contains(op))
      return;
    auto &group = equal[op.getValue()];
    if (group.empty())
      distinct.emplace_back(distinct.size(), op);
    group.push_back(op);
  });
  llvm::sort(distinct, [](auto &a, auto &b) {
    if (int order = compareValues(a.second.getValue(), b.second.getValue()))
      return order < 0;
    return std::pair(rank(a.second.getType()), a.first) < std::pair(rank(b.second.getType()), b.first);
  });
  for (auto &[order, first] : distinct) {
    unsigned row = append(LinearKind::Const, first.getType(), {}, first);
    for (ConstOp op : equal[first.getValue()])
      rows_[op] = row;
  }
}

void Linearizer::specials() {
  using Key = std::tuple<uint32_t, int64_t, unsigned>;
  std::map<Key, llvm::SmallVector<SpecialOp>> groups; // kind, axis and width: the order of the rows
  out_.function.walk([&](SpecialOp op) {
    if (live_.contains(op))
      groups[{static_cast<uint32_t>(op.getKind()), op.getAxis(), op.getType().getIntOrFloatBitWidth()}].push_back(op);
  });
  for (auto &[key, group] : groups) {
    unsigned row = append(LinearKind::Special, group.front().getType(), {}, group.front());
    for (SpecialOp op : group)
      rows_[op] = row;
  }
}

void Linearizer::body(mlir::Block &block) {
  for (Operation &op : block.without_terminator())
    append(&op);
}

void Linearizer::value(Operation *op, LinearKind kind) {
  Value result = op->getResult(0);
  if (live_.contains(result))
    rows_[result] = append(kind, result.getType(),
                           llvm::map_to_vector(op->getOperands(), [&](Value operand) { return rowOf(operand); }), op);
}

static LinearKind kindOf(AluOp op) {
  switch (op.getKind().getValue()) {
  case Alu::CAST:
    return LinearKind::Cast;
  case Alu::BITCAST:
    return LinearKind::Bitcast;
  default:
    return LinearKind::Alu;
  }
}

void Linearizer::append(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<ConstOp, SpecialOp, DefineOp>([](auto) {}) // they are in the head
      .Case([&](RangeOp op) { range(op); })
      .Case([&](IfOp op) { branch(op); })
      .Case([&](AluOp op) { value(op, kindOf(op)); })
      .Case([&](FmaOp op) { value(op, LinearKind::Fma); })
      .Case([&](GepOp op) { value(op, LinearKind::Gep); })
      .Case([&](VectorizeOp op) {
        value(op, LinearKind::Vectorize);
        if (op.getLanes().size() == 1 && live_.contains(op)) {
          auto &sources = out_.rows[rowOf(op)].sources;
          sources.resize(lanesOf(op.getType()), sources[0]);
        }
      })
      .Case([&](LoadOp op) {
        if (!live_.contains(op))
          return;
        llvm::SmallVector<unsigned, 4> sources{rowOf(op.getPointer()), rowOf(op.getIndex())};
        if (op.getGate())
          sources.append({rowOf(op.getOtherwise()), rowOf(op.getGate())});
        rows_[op] = append(LinearKind::Load, op.getType(), sources, op);
      })
      .Case([&](StoreOp op) {
        llvm::SmallVector<unsigned, 4> sources{rowOf(op.getPointer()), rowOf(op.getIndex()), rowOf(op.getValue())};
        if (op.getGate())
          sources.push_back(rowOf(op.getGate()));
        append(LinearKind::Store, {}, sources, op);
      })
      .Case(
          [&](PrefetchOp op) { append(LinearKind::Prefetch, {}, {rowOf(op.getPointer()), rowOf(op.getIndex())}, op); })
      .Case([&](LoadMatrixOp op) { value(op, LinearKind::LoadMatrix); })
      .Case([&](WmmaOp op) { value(op, LinearKind::Wmma); })
      .Case([&](DotOp op) { value(op, LinearKind::Dot); })
      .Case([&](LookupOp op) { value(op, LinearKind::Lookup); })
      .Case([&](StoreMatrixOp op) {
        append(LinearKind::StoreMatrix, {},
               {rowOf(op.getPointer()), rowOf(op.getIndex()), rowOf(op.getPitch()), rowOf(op.getValue())}, op);
      })
      .Case([&](BarrierOp op) { append(LinearKind::Barrier, {}, {}, op); })
      .Case([&](ShuffleOp op) { value(op, LinearKind::Shuffle); })
      .DefaultUnreachable("no such uop");
}

/// The row of the enclosing range's accumulator if this range's carried value `index` only continues it.
std::optional<unsigned> Linearizer::outerAccumulator(RangeOp range, unsigned index) {
  auto init = llvm::dyn_cast<mlir::BlockArgument>(range.getInits()[index]);
  auto outer = llvm::dyn_cast<RangeOp>(range->getParentOp());
  if (!init || !outer || init.getOwner() != &outer.getBody().front() || init.getArgNumber() == 0 || !init.hasOneUse())
    return std::nullopt;
  Value result = range.getResult(index);
  if (!result.hasOneUse() || outer.getYield().getValues()[init.getArgNumber() - 1] != result)
    return std::nullopt;
  return rowOf(init);
}

void Linearizer::range(RangeOp range) {
  llvm::SmallVector<unsigned> accumulators(range.getInits().size());
  for (unsigned index = 0; index < range.getInits().size(); ++index) {
    Value carried = range.getCarried()[index];
    if (!live_.contains(carried))
      continue;
    if (std::optional<unsigned> outer = outerAccumulator(range, index))
      accumulators[index] = *outer;
    else
      accumulators[index] =
          append(LinearKind::DefineAcc, carried.getType(), {rowOf(range.getInits()[index])}, range, accumulators_++);
    rows_[carried] = accumulators[index];
  }
  unsigned row =
      append(LinearKind::Range, range.getIndex().getType(), {rowOf(range.getFrom()), rowOf(range.getTo())}, range);
  rows_[range.getIndex()] = row;
  for (unsigned index = 0; index < range.getInits().size(); ++index)
    if (live_.contains(range.getCarried()[index]))
      out_.rows[accumulators[index]].sources.push_back(row);

  body(range.getBody().front());

  // An accumulator that a range further in continues is assigned there: its PHI is the innermost's.
  auto isContinuedInside = [&](unsigned index) {
    auto inner = range.getYield().getValues()[index].getDefiningOp<RangeOp>();
    return inner && inner->getParentOp() == range && rows_.contains(range.getYield().getValues()[index]) &&
           out_.rows[rowOf(range.getYield().getValues()[index])].sources[0] == accumulators[index];
  };
  for (unsigned index = 0; index < range.getInits().size(); ++index) {
    if (!live_.contains(range.getCarried()[index]))
      continue;
    Value next = range.getYield().getValues()[index];
    rows_[range.getResult(index)] =
        isContinuedInside(index) ? rowOf(next)
                                 : append(LinearKind::Phi, next.getType(), {accumulators[index], rowOf(next)}, range);
  }
  append(LinearKind::EndRange, {}, {row}, range);
}

void Linearizer::branch(IfOp branch) {
  unsigned row = append(LinearKind::If, {}, {rowOf(branch.getCondition())}, branch);
  body(branch.getThenRegion().front());
  if (!branch.getElseRegion().empty()) {
    append(LinearKind::Else, {}, {row}, branch);
    body(branch.getElseRegion().front());
  }
  append(LinearKind::EndIf, {}, {row}, branch);
}

std::string render::specialName(uop::SpecialOp op) {
  static constexpr llvm::StringLiteral prefixes[] = {"gidx", "lidx", "chunk"};
  return (prefixes[static_cast<uint32_t>(op.getKind())] + llvm::Twine(op.getAxis())).str();
}

bool render::usesChunk(const LinearProgram &program) {
  return llvm::any_of(program.rows, [](const LinearUOp &uop) {
    return uop.kind == LinearKind::Special && llvm::cast<uop::SpecialOp>(uop.op).getKind() == uop::SpecialKind::Chunk;
  });
}

LinearProgram render::linearize(FuncOp function) { return Linearizer(function).run(); }
