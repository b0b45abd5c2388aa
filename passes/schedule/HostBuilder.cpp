//===- HostBuilder.cpp - Write the host program of a graph --------------------------===//
// A block of the graph becomes a straight list of launches, a control-flow op an scf op around such lists. Inside a
// region every value has memory of its own that the region frees; what it yields passes to whoever runs the region.
//===----------------------------------------------------------------------===//

#include "passes/schedule/HostBuilder.h"

#include "ir/base/NarrowDType.h"
#include "ir/graph/Call.h"
#include "ir/graph/Source.h"
#include "ir/host/Call.h"
#include "ir/kernel/Normalize.h"

#include "passes/schedule/Fuse.h"
#include "passes/schedule/Record.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ScopeExit.h"

#include <map>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;

StringAttr KernelTable::add(kernel::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream(text) << func;
  if (auto known = byText_.find(text); known != byText_.end()) {
    func.erase();
    return known->second;
  }
  std::string base = kernel::nameOf(func), name = base;
  // The third kernel of one number, E_n2, may meet one of 2·n elements.
  while (!names_.insert(name).second)
    name = base + "n" + std::to_string(++repeats_[base]);
  func.setName(name);
  return byText_[text] = func.getNameAttr();
}

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

namespace {

/// The dims of a tensor type that are symbols which the type is the first to name.
struct OwnDim {
  unsigned value; // position among the op's tensors
  unsigned axis;
  Expr symbol;
};

/// What of a loop needs no copy.
struct LoopPlan {
  struct Scan {
    Value element;          ///< what an iteration adds
    bool isWhole = false;   ///< its sizes are known before the loop, and `whole` has room for all of it
    bool isInPlace = false; ///< the kernel that computes the element writes it there
    Value whole, bytes;     ///< the memory, and how much of it an element takes
    size_t state = 0;       ///< otherwise its position in the loop's state
  };
  LoopPlan(graph::LoopOp op, llvm::function_ref<bool(Expr)> isKnown);

  size_t carried;
  /// Carried tensors that are an element of a whole scan output: they stay there, and nobody frees them.
  llvm::SmallBitVector borrows;
  SmallVector<Scan> scans;
};

/// What is known at a place in the program; a region's scope begins as a copy of the one around it.
struct Scope {
  llvm::DenseMap<Expr, Value> sizes;   // symbol → i64
  llvm::DenseMap<Value, Value> memory; // tensor → slice
  llvm::DenseMap<Value, Value> places; // tensor → the slice that its kernel writes to, where it is chosen beforehand
  llvm::DenseMap<Value, Value> counts; // a loop's iteration number → i64
  llvm::SetVector<Value> owned;        // slices that the block allocated and must free or yield
  bool region = false;
};

class HostBuilder {
public:
  HostBuilder(func::FuncOp main, ArrayRef<SymbolAttr> symbols, const Policy &policy)
      : main_(main), symbols_(symbols), policy_(policy), builder_(main) {}
  void build();

private:
  void emitBlock(Block &block, Scope &scope);
  /// What is held contiguous anyway is part of its memory, not a copy. Null where a kernel is needed.
  Value sliceOf(const KernelGroup &group, Block &block, Scope &scope);
  void emitGroup(const KernelGroup &group, Block &block, Scope &scope);
  void emitIf(graph::IfOp op, Block &block, Scope &scope);
  void emitLoop(graph::LoopOp op, Block &block, Scope &scope);
  void emitCall(graph::CallOp op, Block &block, Scope &scope);
  void emitControl(Operation *op, Block &block, Scope &scope);
  /// The slice of a tensor that is memory.
  Value memoryOf(Value tensor, Block &block, Scope &scope);
  /// The slices that a region's values pass on: memory of their own, in order.
  SmallVector<Value> yieldMemory(ValueRange values, Block &block, Scope &scope);
  Value size(Expr expr, Block &block, Scope &scope);
  /// Ends the run where a size that stands for `symbol` is not within its bounds; it is from `min` to `max` anyway.
  void checkBounds(Value size, int64_t min, int64_t max, Expr symbol, const Twine &origin);
  /// The size of a tensor that control flow gives, which `symbol` stands for from then on.
  Value boundedSize(Expr expr, Expr symbol, Block &block, Scope &scope);
  Value bytesOf(RankedTensorType type, Block &block, Scope &scope);
  Value allocate(Value tensor, Block &block, Scope &scope);
  /// The value of an integer or bool scalar: read from memory, unless the host knows it.
  Value read(Value tensor, Block &block, Scope &scope);
  Value number(int64_t value) { return arith::ConstantOp::create(builder_, loc_, builder_.getI64IntegerAttr(value)); }
  Value truth(Value i64) { return arith::CmpIOp::create(builder_, loc_, arith::CmpIPredicate::ne, i64, number(0)); }
  SmallVector<OwnDim> ownDims(TypeRange types, const Scope &scope);
  /// Makes room for one more element of `bytes` in a scan output; gives its place.
  Value growScan(Value &memory, Value &room, Value iteration, Value bytes);
  bool isMemory(Value tensor, Block &block);
  int64_t weightIndex(graph::WeightOp weight);
  void giveOutputsMemory();
  /// Tells the sizes of the outputs that lie in an input's memory.
  void emitAliases(Block &block, Scope &scope);

  func::FuncOp main_;
  ArrayRef<SymbolAttr> symbols_;
  const Policy &policy_;
  OpBuilder builder_;
  Location loc_ = builder_.getUnknownLoc();
  KernelTable kernels_;
  Recorder recorder_;
  std::map<Block *, Realization> realizations_; // its elements stay where they are while regions are added
  llvm::DenseMap<Value, const KernelGroup *> writer_;
  llvm::SmallSetVector<int64_t, 4> aliases_;   // outputs that lie in an input's memory
  llvm::DenseMap<Value, int64_t> outputIndex_; // base tensor → output that it is
  llvm::DenseMap<Expr, Operation *> binder_;   // symbol → the op that binds it, other than inputs
  SmallVector<Attribute> weights_;
  llvm::DenseMap<Operation *, int64_t> weightIndex_;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes and memory
//===----------------------------------------------------------------------===//

Value HostBuilder::size(Expr expr, Block &block, Scope &scope) {
  if (expr.isConst())
    return number(expr.constant());
  SmallVector<Value> values;
  expr.forEachVariable([&](Expr symbol) {
    if (!scope.sizes.contains(symbol))
      emitControl(binder_.at(symbol), block, scope);
    values.push_back(scope.sizes.at(symbol));
  });
  if (expr.kind() == Expr::Kind::Var)
    return values.front();
  return host::EvalOp::create(builder_, loc_, builder_.getI64Type(), ExprAttr::get(builder_.getContext(), expr),
                              values);
}

void HostBuilder::checkBounds(Value size, int64_t min, int64_t max, Expr symbol, const Twine &origin) {
  if (min >= symbol.min() && max <= symbol.max())
    return;
  auto within = [&](arith::CmpIPredicate predicate, int64_t bound) {
    return arith::CmpIOp::create(builder_, loc_, predicate, size, number(bound)).getResult();
  };
  Value fits = arith::AndIOp::create(builder_, loc_, within(arith::CmpIPredicate::sge, symbol.min()),
                                     within(arith::CmpIPredicate::sle, symbol.max()));
  std::string message = ("the size '" + symbol.render() + "' " + origin + " and not between " + Twine(symbol.min()) +
                         " and " + Twine(symbol.max()))
                            .str();
  host::CheckOp::create(builder_, loc_, fits, builder_.getStringAttr(message));
}

Value HostBuilder::boundedSize(Expr expr, Expr symbol, Block &block, Scope &scope) {
  Value value = size(expr, block, scope);
  checkBounds(value, expr.min(), expr.max(), symbol, "is made by control flow");
  return value;
}

Value HostBuilder::bytesOf(RankedTensorType type, Block &block, Scope &scope) {
  return size(view::product(shapeOf(type)) * int64_t(byteSize(type.getElementType())), block, scope);
}

bool HostBuilder::isMemory(Value tensor, Block &block) {
  Operation *op = tensor.getDefiningOp();
  if (!op || isa<graph::WeightOp, graph::RoomOp, graph::IfOp, graph::LoopOp, graph::CallOp>(op))
    return true;
  if (isNumber(tensor))
    return false;
  return op->getBlock() != &block || realizations_[&block].realized.contains(tensor);
}

int64_t HostBuilder::weightIndex(graph::WeightOp weight) {
  auto [slot, fresh] = weightIndex_.try_emplace(weight, weights_.size());
  if (fresh)
    weights_.push_back(
        host::WeightAttr::get(builder_.getContext(), weight.getName(), typeOf(weight.getResult()), weight.getData()));
  return slot->second;
}

Value HostBuilder::memoryOf(Value tensor, Block &block, Scope &scope) {
  if (Value known = scope.memory.lookup(tensor))
    return known;
  Type sliceType = host::SliceType::get(builder_.getContext());
  if (auto room = tensor.getDefiningOp<graph::RoomOp>())
    return scope.memory[tensor] = scope.memory.at(room.getInput());
  if (auto weight = tensor.getDefiningOp<graph::WeightOp>())
    return scope.memory[tensor] =
               host::WeightOp::create(builder_, loc_, sliceType, builder_.getI64IntegerAttr(weightIndex(weight)));
  if (isa_and_nonnull<graph::IfOp, graph::LoopOp, graph::CallOp>(tensor.getDefiningOp()))
    emitControl(tensor.getDefiningOp(), block, scope);
  else
    emitGroup(*writer_.at(tensor), block, scope);
  return scope.memory.at(tensor);
}

Value HostBuilder::allocate(Value tensor, Block &block, Scope &scope) {
  Type sliceType = host::SliceType::get(builder_.getContext());
  if (tensor.getDefiningOp<graph::AssignOp>())
    return scope.memory[tensor] = memoryOf(schedule::memoryOf(tensor), block, scope);
  Value slice = scope.places.lookup(tensor);
  if (slice)
    return scope.memory[tensor] = slice;
  if (auto output = outputIndex_.find(tensor); output != outputIndex_.end()) {
    // The port's shape, where the tensor is the same elements under another one.
    RankedTensorType port = cast<RankedTensorType>(main_.getResultTypes()[output->second]);
    SmallVector<Value> dims;
    for (Expr dim : shapeOf(port))
      dims.push_back(size(dim, block, scope));
    slice = host::OutputOp::create(builder_, loc_, sliceType, builder_.getI64IntegerAttr(output->second), dims);
  } else {
    slice = host::AllocOp::create(builder_, loc_, sliceType, bytesOf(typeOf(tensor), block, scope));
    if (scope.region)
      scope.owned.insert(slice);
  }
  return scope.memory[tensor] = slice;
}

/// A scalar whose value the host knows without reading memory.
static bool isKnownScalar(Value tensor) {
  Edge edge = edgeOf(tensor);
  return isa_and_nonnull<graph::ConstOp, graph::SizeOp>(edge.base.getDefiningOp()) && edge.tracker.isContiguous();
}

Value HostBuilder::read(Value tensor, Block &block, Scope &scope) {
  Value base = edgeOf(tensor).base;
  if (Value count = scope.counts.lookup(base))
    return count;
  if (isKnownScalar(tensor)) {
    if (auto size = base.getDefiningOp<graph::SizeOp>())
      return this->size(size.getSize().getValue(), block, scope);
    auto value = cast<IntegerAttr>(base.getDefiningOp<graph::ConstOp>().getValue());
    return number(value.getType().isInteger(1) ? value.getValue().getZExtValue() : value.getValue().getSExtValue());
  }
  return host::ReadOp::create(builder_, loc_, builder_.getI64Type(), memoryOf(base, block, scope),
                              TypeAttr::get(typeOf(tensor).getElementType()));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The source nodes of a kernel, as tinygrad prints them: ['dot', 'add'].
static std::string originOf(kernel::FuncOp func) {
  llvm::SetVector<StringRef> names;
  func.walk([&](Operation *op) {
    auto load = dyn_cast<kernel::LoadOp>(op);
    bool computes = !isa<kernel::ConstOp, kernel::FuncOp>(op) && !(load && !load.getRow());
    if (auto name = dyn_cast<NameLoc>(op->getLoc()); name && computes)
      names.insert(name.getName());
  });
  std::string text = "[";
  for (StringRef name : names)
    text += (text.size() > 1 ? ", '" : "'") + name.str() + "'";
  return text + "]";
}

/// Whether an assign writes into the tensor's memory.
static bool isOverwritten(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    auto assign = dyn_cast<graph::AssignOp>(user);
    return assign && assign.getTarget() == tensor;
  });
}

Value HostBuilder::sliceOf(const KernelGroup &group, Block &block, Scope &scope) {
  auto copy = group.outputs.front().getDefiningOp<graph::ContiguousOp>();
  if (!copy || group.outputs.size() > 1 || scope.places.contains(copy))
    return nullptr;
  Edge edge = edgeOf(copy.getInput());
  bool isGiven = isa<BlockArgument>(edge.base) || edge.base.getDefiningOp<graph::WeightOp>();
  if (!isGiven || isOverwritten(edge.base) || !edge.tracker.isConsecutive())
    return nullptr;
  Expr offset = edge.tracker.views().front().offset() * int64_t(byteSize(typeOf(edge.base).getElementType()));
  Value base = memoryOf(edge.base, block, scope);
  return host::OffsetOp::create(builder_, loc_, base.getType(), base, size(offset, block, scope));
}

void HostBuilder::emitGroup(const KernelGroup &group, Block &block, Scope &scope) {
  if (scope.memory.contains(group.outputs.front()))
    return;
  if (Value slice = sliceOf(group, block, scope)) {
    Value tensor = group.outputs.front();
    if (outputIndex_.contains(tensor)) {
      Value output = allocate(tensor, block, scope);
      host::CopyOp::create(builder_, loc_, output, slice, bytesOf(typeOf(tensor), block, scope));
    }
    scope.memory[tensor] = slice;
    return;
  }
  OpBuilder beside(main_);
  auto isHeld = [&](Value tensor) { return isMemory(tensor, block); };
  BuiltKernel kernel = buildKernel(beside, group, isHeld, policy_.classic);
  std::string origin = originOf(kernel.func);
  ArrayRef<Expr> symbols = kernel.func.getSizes().getSizes();
  SmallVector<Value> buffers, sizes;
  for (Value tensor : ArrayRef<Value>(kernel.buffers).drop_front(group.outputs.size()))
    memoryOf(tensor, block, scope);
  for (Value output : group.outputs)
    allocate(output, block, scope);
  for (Value tensor : kernel.buffers)
    buffers.push_back(memoryOf(tensor, block, scope));
  for (Expr symbol : symbols)
    sizes.push_back(size(symbol, block, scope));
  StringAttr name = kernels_.add(kernel.func);
  Value none = number(0);
  host::LaunchOp::create(builder_, loc_, FlatSymbolRefAttr::get(name), buffers, sizes, ValueRange(), none, none,
                         builder_.getStringAttr(origin), recorder_.record(group, realizations_[&block], isHeld));
}

void HostBuilder::emitBlock(Block &block, Scope &scope) {
  Realization &realization = realizations_[&block] = policy_.classic ? realize(block) : fuse(block, policy_.target);
  for (const KernelGroup &group : realization.groups)
    for (Value output : group.outputs)
      writer_[output] = &group;
  // A symbol that is no input's is bound by the first op whose results name it.
  Scope known = scope;
  for (Operation &op : block) {
    if (auto bind = dyn_cast<graph::BindOp>(op)) {
      SymbolAttr symbol = bind.getSymbol();
      binder_[Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax())] = &op;
    } else if (isa<graph::IfOp, graph::LoopOp>(op)) {
      for (const OwnDim &dim : ownDims(op.getResultTypes(), known)) {
        binder_[dim.symbol] = &op;
        known.sizes[dim.symbol] = nullptr;
      }
    }
  }
  // Before anything is read that a wrong size would put outside its memory.
  for (graph::CheckOp check : block.getOps<graph::CheckOp>())
    host::CheckOp::create(builder_, loc_, truth(size(check.getCondition().getValue(), block, scope)),
                          check.getMessageAttr());
  for (const KernelGroup &group : realization.groups)
    emitGroup(group, block, scope);
  for (Operation &op : block)
    if (isa<graph::IfOp, graph::LoopOp, graph::BindOp, graph::CallOp>(op))
      emitControl(&op, block, scope);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<OwnDim> HostBuilder::ownDims(TypeRange types, const Scope &scope) {
  SmallVector<OwnDim> own;
  for (auto [position, type] : llvm::enumerate(types))
    for (auto [axis, dim] : llvm::enumerate(shapeOf(cast<RankedTensorType>(type))))
      if (dim.kind() == Expr::Kind::Var && !scope.sizes.contains(dim) &&
          llvm::none_of(own, [&](const OwnDim &other) { return other.symbol == dim; }))
        own.push_back({unsigned(position), unsigned(axis), dim});
  return own;
}

void HostBuilder::emitControl(Operation *op, Block &block, Scope &scope) {
  if (auto branch = dyn_cast<graph::IfOp>(op))
    return emitIf(branch, block, scope);
  if (auto loop = dyn_cast<graph::LoopOp>(op))
    return emitLoop(loop, block, scope);
  if (auto call = dyn_cast<graph::CallOp>(op))
    return emitCall(call, block, scope);
  auto bind = cast<graph::BindOp>(op);
  SymbolAttr attr = bind.getSymbol();
  Expr symbol = Expr::variable(attr.getName(), attr.getMin(), attr.getMax());
  if (scope.sizes.contains(symbol))
    return;
  Value value = read(bind.getValue(), block, scope);
  constexpr std::numeric_limits<int64_t> any;
  checkBounds(value, any.min(), any.max(), symbol, "is data");
  scope.sizes[symbol] = value;
}

void HostBuilder::emitCall(graph::CallOp op, Block &block, Scope &scope) {
  if (scope.memory.contains(op.getResult(0)))
    return;
  for (Value operand : op.getOperands())
    memoryOf(edgeOf(operand).base, block, scope);
  SmallVector<Value> buffers, bytes, sizes;
  for (Value result : op.getResults())
    buffers.push_back(allocate(result, block, scope));
  for (Value operand : op.getOperands())
    buffers.push_back(memoryOf(edgeOf(operand).base, block, scope));
  for (Value tensor : llvm::concat<Value>(SmallVector<Value>(op.getResults()), SmallVector<Value>(op.getOperands())))
    bytes.push_back(bytesOf(typeOf(tensor), block, scope));
  for (Expr expr : op.getSizes().getSizes())
    sizes.push_back(size(expr, block, scope));
  auto sources = graph::sourcesOf(op.getLoc());
  StringRef node = sources.empty() ? op.getCallee() : sources.back().node.getValue();
  host::CallOp::create(builder_, loc_, op.getCalleeAttr(), builder_.getI64IntegerAttr(op.getNumResults()), buffers,
                       bytes, sizes, builder_.getStringAttr(node));
}

SmallVector<Value> HostBuilder::yieldMemory(ValueRange values, Block &block, Scope &scope) {
  SmallVector<Value> slices;
  llvm::DenseSet<Value> given;
  for (Value value : values) {
    Value slice = memoryOf(edgeOf(value).base, block, scope);
    if (!scope.owned.contains(slice) || !given.insert(slice).second) {
      // Memory of the surroundings, or yielded twice: a copy of its own.
      Value bytes = bytesOf(typeOf(value), block, scope);
      Value copy = host::AllocOp::create(builder_, loc_, slice.getType(), bytes);
      host::CopyOp::create(builder_, loc_, copy, slice, bytes);
      given.insert(copy);
      slice = copy;
    }
    slices.push_back(slice);
  }
  return slices;
}

void HostBuilder::emitIf(graph::IfOp op, Block &block, Scope &scope) {
  if (op.getNumResults() && scope.memory.contains(op.getResult(0)))
    return;
  Value from = memoryOf(edgeOf(op.getCondition()).base, block, scope);
  Value condition =
      truth(host::ReadOp::create(builder_, loc_, builder_.getI64Type(), from, TypeAttr::get(builder_.getI1Type())));
  // Both regions may read what the block has computed: it must be there before either runs.
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Value base = edgeOf(operand).base;
      if (base.getParentBlock() == &block && isMemory(base, block))
        memoryOf(base, block, scope);
    }
  });
  SmallVector<OwnDim> own = ownDims(op.getResultTypes(), scope);
  SmallVector<Type> types(op.getNumResults(), host::SliceType::get(builder_.getContext()));
  types.append(own.size(), builder_.getI64Type());
  auto branch = scf::IfOp::create(builder_, loc_, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (auto [region, target] : {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
                                std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&target->front());
    Block &body = region->front();
    Scope inner = scope;
    inner.region = true;
    inner.owned.clear();
    emitBlock(body, inner);
    ValueRange values = cast<graph::YieldOp>(body.getTerminator()).getValues();
    SmallVector<Value> results = yieldMemory(values, body, inner);
    for (Value slice : inner.owned)
      if (!llvm::is_contained(results, slice))
        host::FreeOp::create(builder_, loc_, slice);
    for (const OwnDim &dim : own)
      results.push_back(boundedSize(shapeOf(typeOf(values[dim.value]))[dim.axis], dim.symbol, body, inner));
    scf::YieldOp::create(builder_, loc_, results);
  }
  for (auto [result, slice] : llvm::zip(op.getResults(), branch.getResults())) {
    scope.memory[result] = slice;
    if (scope.region)
      scope.owned.insert(slice);
  }
  for (auto [dim, value] : llvm::zip(own, branch.getResults().drop_front(op.getNumResults())))
    scope.sizes[dim.symbol] = value;
}

/// Whether the host alone asks for a tensor's value.
static bool isReadByHostOnly(Value tensor) {
  return llvm::all_of(tensor.getUsers(), [](Operation *user) {
    return isa<graph::BindOp>(user) || (isa<graph::ViewOp>(user) && isReadByHostOnly(user->getResult(0)));
  });
}

LoopPlan::LoopPlan(graph::LoopOp op, llvm::function_ref<bool(Expr)> isKnown)
    : carried(op.getInits().size()), borrows(carried), scans(op.getNumResults() - carried) {
  Block &body = op.getBody().front();
  ValueRange values = cast<graph::YieldOp>(body.getTerminator()).getValues();
  llvm::DenseSet<Value> placed;
  for (auto [i, scan] : llvm::enumerate(scans)) {
    scan.element = values[1 + carried + i];
    RankedTensorType type = typeOf(op.getResult(carried + i));
    scan.isWhole = llvm::all_of(shapeOf(type), isKnown);
    Edge edge = edgeOf(scan.element);
    SmallVector<size_t> alsoCarried;
    for (size_t k = 0; k < carried; ++k)
      if (edgeOf(values[1 + k]).base == edge.base)
        alsoCarried.push_back(k);
    bool mayBorrow = scan.isWhole &&
                     llvm::none_of(alsoCarried, [&](size_t k) { return isOverwritten(edgeOf(op.getInits()[k]).base); });
    scan.isInPlace = isComputed(edge.base) && isWholeInOrder(edge) && edge.base.getParentBlock() == &body &&
                     llvm::all_of(shapeOf(typeOf(scan.element)), isKnown) && (alsoCarried.empty() || mayBorrow) &&
                     placed.insert(edge.base).second;
    if (scan.isInPlace)
      for (size_t k : alsoCarried)
        borrows.set(k);
  }
}

Value HostBuilder::growScan(Value &memory, Value &room, Value iteration, Value bytes) {
  Type sliceType = host::SliceType::get(builder_.getContext());
  Value used = arith::MulIOp::create(builder_, loc_, iteration, bytes);
  Value needed = arith::AddIOp::create(builder_, loc_, used, bytes);
  Value full = arith::CmpIOp::create(builder_, loc_, arith::CmpIPredicate::sgt, needed, room);
  auto grown = scf::IfOp::create(builder_, loc_, TypeRange{sliceType, builder_.getI64Type()}, full, true, true);
  OpBuilder::InsertionGuard inside(builder_);
  builder_.setInsertionPointToEnd(&grown.getThenRegion().front());
  Value doubled = arith::MulIOp::create(builder_, loc_, needed, number(2));
  Value larger = host::AllocOp::create(builder_, loc_, sliceType, doubled);
  host::CopyOp::create(builder_, loc_, larger, memory, used);
  host::FreeOp::create(builder_, loc_, memory);
  scf::YieldOp::create(builder_, loc_, ValueRange{larger, doubled});
  builder_.setInsertionPointToEnd(&grown.getElseRegion().front());
  scf::YieldOp::create(builder_, loc_, ValueRange{memory, room});
  builder_.setInsertionPointAfter(grown);
  memory = grown.getResult(0);
  room = grown.getResult(1);
  return host::OffsetOp::create(builder_, loc_, sliceType, memory, used);
}

void HostBuilder::emitLoop(graph::LoopOp op, Block &block, Scope &scope) {
  if (op.getNumResults() && scope.memory.contains(op.getResult(0)))
    return;
  MLIRContext *context = builder_.getContext();
  Type sliceType = host::SliceType::get(context), i64 = builder_.getI64Type();
  Block &body = op.getBody().front();
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Value base = edgeOf(operand).base;
      if (base.getParentBlock() == &block && isMemory(base, block))
        memoryOf(base, block, scope);
    }
  });
  LoopPlan plan(op, [&](Expr size) {
    bool isKnown = true;
    size.forEachVariable([&](Expr symbol) { isKnown &= scope.sizes.contains(symbol); });
    return isKnown;
  });
  size_t carried = plan.carried;
  Value trips = op.getTrips() ? read(op.getTrips(), block, scope) : number(std::numeric_limits<int64_t>::max());
  Value condition = op.getCondition() ? read(op.getCondition(), block, scope) : number(1);

  // State: iteration, condition, carried slices, the carried tensors' own dims, then (memory, room) of each scan
  // output whose length is not known.
  TypeRange arguments = TypeRange(body.getArgumentTypes()).drop_front();
  SmallVector<OwnDim> own = ownDims(arguments, scope);
  SmallVector<Value> state{number(0), condition};
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    Value memory = memoryOf(edgeOf(init).base, block, scope);
    if (!plan.borrows.test(i)) {
      Value bytes = bytesOf(typeOf(init), block, scope);
      Value copy = host::AllocOp::create(builder_, loc_, sliceType, bytes);
      host::CopyOp::create(builder_, loc_, copy, memory, bytes);
      memory = copy;
    }
    state.push_back(memory);
  }
  for (const OwnDim &dim : own)
    state.push_back(boundedSize(shapeOf(typeOf(op.getInits()[dim.value]))[dim.axis], dim.symbol, block, scope));
  Value iteration;
  if (!isReadByHostOnly(body.getArgument(0)))
    iteration = host::AllocOp::create(builder_, loc_, sliceType, number(8));
  size_t firstOwn = 2 + carried;
  for (auto [i, scan] : llvm::enumerate(plan.scans)) {
    RankedTensorType type = typeOf(op.getResult(carried + i));
    if (scan.isWhole) {
      scan.whole = host::AllocOp::create(builder_, loc_, sliceType, bytesOf(type, block, scope));
      scan.bytes = bytesOf(typeOf(scan.element), block, scope);
      continue;
    }
    scan.state = state.size();
    state.push_back(host::AllocOp::create(builder_, loc_, sliceType, number(0)));
    state.push_back(number(0)); // bytes of room
  }
  // A scan output's other dims must be known after the loop too, so they are read there as they are in the last
  // iteration.
  SmallVector<Type> types = llvm::map_to_vector(state, [](Value value) { return value.getType(); });
  auto loop = scf::WhileOp::create(builder_, loc_, types, state);
  SmallVector<Location> locations(types.size(), loc_);
  {
    OpBuilder::InsertionGuard guard(builder_);
    Block *before = builder_.createBlock(&loop.getBefore(), {}, types, locations);
    Value more = arith::CmpIOp::create(builder_, loc_, arith::CmpIPredicate::slt, before->getArgument(0), trips);
    more = arith::AndIOp::create(builder_, loc_, more, truth(before->getArgument(1)));
    scf::ConditionOp::create(builder_, loc_, more, before->getArguments());

    Block *after = builder_.createBlock(&loop.getAfter(), {}, types, locations);
    Value count = after->getArgument(0);
    Scope inner = scope;
    inner.region = true;
    inner.owned.clear();
    inner.counts[body.getArgument(0)] = count;
    if (iteration) {
      host::WriteOp::create(builder_, loc_, iteration, TypeAttr::get(i64), count);
      inner.memory[body.getArgument(0)] = iteration;
    }
    for (size_t i = 0; i < carried; ++i)
      inner.memory[body.getArgument(i + 1)] = after->getArgument(2 + i);
    for (auto [i, dim] : llvm::enumerate(own))
      inner.sizes[dim.symbol] = after->getArgument(firstOwn + i);
    SmallVector<Value> next(types.size());
    auto placeOf = [&](LoopPlan::Scan &scan) -> Value {
      if (scan.isWhole) {
        Value offset = arith::MulIOp::create(builder_, loc_, count, scan.bytes);
        return host::OffsetOp::create(builder_, loc_, sliceType, scan.whole, offset);
      }
      Value bytes = bytesOf(typeOf(scan.element), body, inner);
      next[scan.state] = after->getArgument(scan.state);
      next[scan.state + 1] = after->getArgument(scan.state + 1);
      return growScan(next[scan.state], next[scan.state + 1], count, bytes);
    };
    for (LoopPlan::Scan &scan : plan.scans)
      if (scan.isInPlace)
        inner.places[edgeOf(scan.element).base] = placeOf(scan);
    emitBlock(body, inner);

    ValueRange values = cast<graph::YieldOp>(body.getTerminator()).getValues();
    next[1] = read(values[0], body, inner);
    next[0] = arith::AddIOp::create(builder_, loc_, count, number(1));
    SmallVector<Value> passed;
    for (size_t i = 0; i < carried; ++i)
      if (!plan.borrows.test(i))
        passed.push_back(values[1 + i]);
    SmallVector<Value> slices = yieldMemory(passed, body, inner);
    for (size_t i = 0, at = 0; i < carried; ++i)
      next[2 + i] = plan.borrows.test(i) ? memoryOf(edgeOf(values[1 + i]).base, body, inner) : slices[at++];
    for (auto [i, dim] : llvm::enumerate(own))
      next[firstOwn + i] = boundedSize(shapeOf(typeOf(values[1 + dim.value]))[dim.axis], dim.symbol, body, inner);
    for (LoopPlan::Scan &scan : plan.scans) {
      if (scan.isInPlace)
        continue;
      Value place = placeOf(scan), from = memoryOf(edgeOf(scan.element).base, body, inner);
      host::CopyOp::create(builder_, loc_, place, from, bytesOf(typeOf(scan.element), body, inner));
    }
    for (Value slice : inner.owned)
      if (!llvm::is_contained(slices, slice))
        host::FreeOp::create(builder_, loc_, slice);
    for (size_t i = 0; i < carried; ++i)
      if (!plan.borrows.test(i))
        host::FreeOp::create(builder_, loc_, after->getArgument(2 + i));
    scf::YieldOp::create(builder_, loc_, next);
  }
  if (iteration)
    host::FreeOp::create(builder_, loc_, iteration);
  // Symbols of the results: a carried tensor's dims as they are at the end, a scan output's first dim the trip count.
  for (const OwnDim &dim : ownDims(op.getResultTypes(), scope)) {
    if (dim.value >= carried) {
      scope.sizes[dim.symbol] = loop.getResult(0);
      checkBounds(loop.getResult(0), 0, std::numeric_limits<int64_t>::max(), dim.symbol, "is how often a loop ran");
      continue;
    }
    auto same =
        llvm::find_if(own, [&](const OwnDim &other) { return other.value == dim.value && other.axis == dim.axis; });
    assert(same != own.end() && "a result's dim changes only where the body's argument does");
    scope.sizes[dim.symbol] = loop.getResult(firstOwn + (same - own.begin()));
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Value slice;
    if (i < carried) {
      slice = loop.getResult(2 + i);
    } else {
      LoopPlan::Scan &scan = plan.scans[i - carried];
      slice = scan.isWhole ? scan.whole : Value(loop.getResult(scan.state));
    }
    if (scope.region && i < carried && plan.borrows.test(i)) {
      // Part of a scan output, which the region frees by itself.
      Value bytes = bytesOf(typeOf(result), block, scope);
      Value copy = host::AllocOp::create(builder_, loc_, sliceType, bytes);
      host::CopyOp::create(builder_, loc_, copy, slice, bytes);
      slice = copy;
    }
    scope.memory[result] = slice;
    if (scope.region)
      scope.owned.insert(slice);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Every value that leaves a block must be computed in it, in order, and leave it once: what is not gets a copy, but
/// for the operands of the terminator that stay where they are.
static void giveMemoryToYields(Block &block, bool onlyOnce, const llvm::SmallSetVector<int64_t, 4> &stay = {}) {
  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  llvm::DenseSet<Value> seen;
  bool hasCondition = isa<graph::LoopOp>(block.getParentOp());
  for (OpOperand &operand : terminator->getOpOperands()) {
    bool isKnown = hasCondition && operand.getOperandNumber() == 0 && isKnownScalar(operand.get());
    if (isKnown || stay.contains(operand.getOperandNumber()))
      continue;
    Edge edge = edgeOf(operand.get());
    Operation *op = edge.base.getDefiningOp();
    bool computed =
        isa_and_nonnull<graph::AluOp, graph::ReduceOp, graph::GatherOp, graph::ContiguousOp, graph::CallOp>(op) &&
        op->getBlock() == &block;
    bool isControl = isa_and_nonnull<graph::IfOp, graph::LoopOp>(op) && !onlyOnce;
    bool fresh = seen.insert(edge.base).second || !onlyOnce;
    if ((computed || isControl) && fresh && isWholeInOrder(edge))
      continue;
    auto copy = graph::ContiguousOp::create(builder, operand.get().getLoc(), operand.get().getType(), operand.get());
    seen.insert(copy);
    operand.set(copy);
  }
}

/// What control flow reads must be memory, in order, and what a gather reads from must be memory, through any view:
/// numbers, and for control flow views that move elements, get a copy.
static void giveMemoryTo(OpOperand &operand, bool inOrder) {
  Edge edge = edgeOf(operand.get());
  if (!isNumber(edge.base) && !(inOrder && !isWholeInOrder(edge)))
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(graph::ContiguousOp::create(builder, operand.get().getLoc(), operand.get().getType(), operand.get()));
}

void HostBuilder::giveOutputsMemory() {
  main_.walk([&](Operation *op) {
    if (auto gather = dyn_cast<graph::GatherOp>(op))
      return giveMemoryTo(gather.getInputMutable(), /*inOrder=*/false);
    if (!isa<graph::IfOp, graph::LoopOp, graph::BindOp, graph::CallOp>(op))
      return;
    // A loop's trips and condition come first, and the host may know them, as it may what a symbol is bound to.
    size_t scalars = isa<graph::BindOp>(op) ? 1 : 0;
    if (auto loop = dyn_cast<graph::LoopOp>(op))
      scalars = op->getNumOperands() - loop.getInits().size();
    for (OpOperand &operand : op->getOpOperands())
      if (operand.getOperandNumber() >= scalars || !isKnownScalar(operand.get()))
        giveMemoryTo(operand, /*inOrder=*/true);
    for (Region &region : op->getRegions())
      giveMemoryToYields(region.front(), /*onlyOnce=*/false);
  });
  giveMemoryToYields(main_.getBody().front(), /*onlyOnce=*/true, aliases_);
}

static host::AliasAttr aliasOf(graph::AliasAttr alias, int64_t port) {
  return host::AliasAttr::get(alias.getContext(), port, alias.getAxis(), alias.getCapacity());
}

/// `aliases`: those of the ports that have one.
static ArrayAttr portsOf(Builder &builder, TypeRange types, llvm::function_ref<DictionaryAttr(unsigned)> attrs,
                         const llvm::DenseMap<int64_t, host::AliasAttr> &aliases) {
  SmallVector<Attribute> ports;
  for (auto [index, type] : llvm::enumerate(types)) {
    DictionaryAttr dict = attrs(index);
    auto name = dict ? dict.getAs<StringAttr>(graph::kNameAttr) : StringAttr();
    auto value = dict ? dict.getAs<ElementsAttr>(graph::kValueAttr) : ElementsAttr();
    auto dtype = dict ? dict.getAs<TypeAttr>(kPortDTypeAttr) : TypeAttr();
    auto port = cast<RankedTensorType>(type);
    if (dtype)
      port = RankedTensorType::get(port.getShape(), dtype.getValue(), port.getEncoding());
    ports.push_back(
        host::PortAttr::get(builder.getContext(), name ? name.getValue() : "", port, value, aliases.lookup(index)));
  }
  return builder.getArrayAttr(ports);
}

void HostBuilder::emitAliases(Block &block, Scope &scope) {
  for (int64_t output : aliases_) {
    SmallVector<Value> dims;
    for (Expr dim : shapeOf(cast<RankedTensorType>(main_.getResultTypes()[output])))
      dims.push_back(size(dim, block, scope));
    host::OutputOp::create(builder_, loc_, host::SliceType::get(builder_.getContext()),
                           builder_.getI64IntegerAttr(output), dims);
  }
}

void HostBuilder::build() {
  llvm::DenseMap<int64_t, host::AliasAttr> ofInputs, ofOutputs;
  for (unsigned input = 0; input < main_.getNumArguments(); ++input)
    if (auto alias = main_.getArgAttrOfType<graph::AliasAttr>(input, graph::kAliasAttr)) {
      aliases_.insert(alias.getOutput());
      ofInputs[input] = aliasOf(alias, alias.getOutput());
      ofOutputs[alias.getOutput()] = aliasOf(alias, input);
    }
  giveOutputsMemory();
  Block &block = main_.getBody().front();
  ArrayAttr none = builder_.getArrayAttr({});
  // Inputs bind the symbols that are dims of theirs; control flow binds the others where it makes them.
  SmallVector<SymbolAttr> bound;
  for (SymbolAttr symbol : symbols_) {
    Expr size = Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
    if (llvm::any_of(main_.getArgumentTypes(),
                     [&](Type type) { return llvm::is_contained(shapeOf(cast<RankedTensorType>(type)), size); }))
      bound.push_back(symbol);
  }
  SmallVector<Attribute> symbols(bound.begin(), bound.end());
  auto program = host::ProgramOp::create(
      builder_, loc_, main_.getName(),
      portsOf(
          builder_, main_.getArgumentTypes(), [&](unsigned i) { return main_.getArgAttrDict(i); }, ofInputs),
      portsOf(
          builder_, main_.getResultTypes(), [&](unsigned i) { return main_.getResultAttrDict(i); }, ofOutputs),
      none, builder_.getArrayAttr(symbols));
  Block *body = builder_.createBlock(&program.getBody());
  Scope scope;
  for (SymbolAttr symbol : bound)
    scope.sizes[Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax())] =
        body->addArgument(builder_.getI64Type(), loc_);
  for (auto [index, argument] : llvm::enumerate(main_.getArguments()))
    scope.memory[argument] = host::InputOp::create(builder_, loc_, host::SliceType::get(builder_.getContext()),
                                                   builder_.getI64IntegerAttr(index));
  for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    if (!aliases_.contains(index))
      outputIndex_[edgeOf(value).base] = index;
    if (auto name = main_.getResultAttrOfType<StringAttr>(index, graph::kNameAttr))
      recorder_.nameOutput(edgeOf(value).base, name.getValue());
  }
  emitBlock(block, scope);
  emitAliases(block, scope);
  host::DoneOp::create(builder_, loc_);
  program.setWeightsAttr(builder_.getArrayAttr(weights_));
  main_.erase();
}

void schedule::buildHostProgram(func::FuncOp main, ArrayRef<SymbolAttr> symbols, const Policy &policy) {
  HostBuilder(main, symbols, policy).build();
}
