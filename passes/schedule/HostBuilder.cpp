//===- HostBuilder.cpp - Write the host program of a graph --------------------------===//
//
// A graph says what depends on what; a program needs an order, and memory for whatever outlives a kernel. A block of
// the graph becomes a straight list of launches, its tensors slices of memory; HostControl.cpp writes what stands
// around such lists.
// The order comes by itself: whoever needs a tensor's memory, or a size, that is not there yet has the launch or the
// control flow that makes it written first. Before this, what leaves a block or steers control flow gets memory of its
// own, by a copy where it is only a number or a view. Kernels whose text is the same are one kernel.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/HostProgram.h"

#include "ir/base/NarrowDType.h"
#include "ir/base/OutputRank.h"
#include "ir/graph/Source.h"
#include "ir/host/Sizes.h"
#include "ir/kernel/Normalize.h"

#include "passes/schedule/AskAttention.h"
#include "passes/schedule/Policies.h"

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

//===----------------------------------------------------------------------===//
// Sizes and memory
//===----------------------------------------------------------------------===//

Value HostBuilder::size(Expr expr, Block &block, Scope &scope) {
  return host::evaluate(builder_, loc_, expr, [&](Expr symbol) {
    if (!scope.sizes.contains(symbol))
      emitControl(binder_.at(symbol), block, scope);
    return scope.sizes.at(symbol);
  });
}

/// A message's text as `host.check` takes it, where % begins a size.
static std::string withoutSizes(const Twine &text) {
  std::string escaped;
  for (char c : text.str())
    escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

StringRef HostBuilder::meaningOf(Expr symbol) const {
  auto bind = dyn_cast_or_null<graph::BindOp>(binder_.lookup(symbol));
  return bind ? bind.getMeaning().value_or("") : "";
}

void HostBuilder::checkBounds(Value size, int64_t min, int64_t max, Expr symbol, StringRef origin, Location location) {
  if (min >= symbol.min() && max <= symbol.max())
    return;
  auto within = [&](arith::CmpIPredicate predicate, int64_t bound) {
    return arith::CmpIOp::create(builder_, loc_, predicate, size, number(bound)).getResult();
  };
  Value fits = arith::AndIOp::create(builder_, loc_, within(arith::CmpIPredicate::sge, symbol.min()),
                                     within(arith::CmpIPredicate::sle, symbol.max()));
  std::string node;
  for (const graph::Source &source : graph::sourcesOf(location))
    node = "node '" + source.node.str() + "': ";
  StringRef meaning = meaningOf(symbol);
  std::string name = meaning.empty() ? "the size '" + symbol.render() + "'" : meaning.str();
  std::string message = withoutSizes(node + name + ", " + origin + ", is ") + "%d, not " +
                        std::to_string(symbol.min()) + " to " + std::to_string(symbol.max()) + "; give another";
  host::CheckOp::create(builder_, loc_, fits, builder_.getStringAttr(message), size);
}

/// The text with a symbol's name, where it stands alone, as other words.
static std::string inWords(StringRef text, StringRef name, StringRef words) {
  auto isOfName = [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_./:-").contains(c); };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + name.size();
    bool isName = text.substr(i).starts_with(name) && (i == 0 || !isOfName(text[i - 1])) &&
                  (end >= text.size() || !isOfName(text[end]));
    result += isName ? words : text.substr(i, 1);
    i = isName ? end : i + 1;
  }
  return result;
}

void HostBuilder::emitCheck(Expr condition, const Twine &text, Block &block, Scope &scope) {
  Value holds = truth(size(condition, block, scope));
  std::string words = text.str(), values;
  SmallVector<Value> sizes;
  condition.forEachVariable([&](Expr symbol) {
    // A name without a dot may be a word of the text.
    bool isOwn = symbol.name().contains('.');
    StringRef meaning = isOwn ? meaningOf(symbol) : "";
    if (!meaning.empty())
      words = inWords(words, symbol.render(), meaning);
    values += sizes.empty() ? " (" : ", ";
    values += withoutSizes(meaning.empty() ? symbol.render() + "=" : meaning + " is ") + "%d";
    sizes.push_back(size(symbol, block, scope));
  });
  std::string message = withoutSizes(words) + values + (sizes.empty() ? "" : ")");
  host::CheckOp::create(builder_, loc_, holds, builder_.getStringAttr(message), sizes);
}

Value HostBuilder::boundedSize(Expr expr, Expr symbol, Block &block, Scope &scope) {
  Value value = size(expr, block, scope);
  checkBounds(value, expr.min(), expr.max(), symbol, "which control flow makes", loc_);
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
  return op->getBlock() != &block || partitions_[&block].realized.contains(tensor);
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
    for (Expr dim : outputSizes(shapeOf(port), main_.getResultAttrOfType<ExprAttr>(output->second, kRankAttr)))
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
    if (computes)
      for (const graph::Source &source : graph::sourcesOf(op->getLoc()))
        names.insert(source.node.getValue());
  });
  std::string text = "[";
  for (StringRef name : names)
    text += (text.size() > 1 ? ", '" : "'") + name.str() + "'";
  return text + "]";
}

void HostBuilder::checkViews(kernel::FuncOp kernel, Location made, Block &block, Scope &scope) {
  constexpr int64_t kMost = int64_t(1) << 62;
  std::string node;
  for (const graph::Source &source : graph::sourcesOf(made))
    node = "node '" + source.node.str() + "': ";
  kernel.walk([&](Operation *op) {
    auto attribute = op->getAttrOfType<TrackerAttr>("tracker");
    if (!attribute)
      return;
    view::ShapeTracker tracker = attribute.getValue();
    for (const view::View &view : tracker.views().drop_back()) {
      // Size by size, so that no product passes 64 bits before it is looked at.
      Expr elements = 1;
      for (Expr size : view.shape()) {
        Expr fits = view::less(elements, view::floorDiv(kMost, view::maximum(size, 1)) + 1);
        elements = elements * size;
        if (elements.max() > kMost && scope.counted.insert(elements).second)
          emitCheck(fits, node + "the sizes together are too large for 64 bits; run with smaller ones", block, scope);
      }
    }
  });
}

bool schedule::isOverwritten(Value tensor) {
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
  checkViews(kernel.func, group.outputs.front().getLoc(), block, scope);
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
                         Value(), builder_.getStringAttr(origin), recorder_.record(group, partitions_[&block], isHeld));
}

void HostBuilder::emitBlock(Block &block, Scope &scope) {
  Partition &partition = partitions_[&block];
  auto isHeld = [&](Value tensor) { return isMemory(tensor, block); };
  // Costs decide anew without the marks that no kernel can keep.
  do
    partition = policy_.classic ? partitionClassically(block) : partitionByCost(block, policy_.target);
  while (unmarkWhatIsNotHeld(block, partition, policy_.target, isHeld));
  for (const KernelGroup &group : partition.groups)
    for (Value output : group.outputs)
      writer_[output] = &group;
  // A symbol that is not an input's is bound by the first op whose results name it.
  Scope known = scope;
  for (Operation &op : block) {
    if (auto bind = dyn_cast<graph::BindOp>(op)) {
      SymbolAttr symbol = bind.getSymbol();
      Expr size = Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
      binder_[size] = &op;
      known.sizes[size] = nullptr;
    } else if (isa<graph::IfOp, graph::LoopOp>(op)) {
      for (const OwnDim &dim : ownDims(op.getResultTypes(), known)) {
        binder_[dim.symbol] = &op;
        known.sizes[dim.symbol] = nullptr;
      }
    }
  }
  // Before anything is read that a wrong size would put outside its memory.
  for (graph::CheckOp check : block.getOps<graph::CheckOp>())
    emitCheck(check.getCondition().getValue(), check.getMessage(), block, scope);
  for (const KernelGroup &group : partition.groups)
    emitGroup(group, block, scope);
  for (Operation &op : block)
    if (isa<graph::IfOp, graph::LoopOp, graph::BindOp, graph::CallOp>(op))
      emitControl(&op, block, scope);
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

void HostBuilder::giveMemory() {
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

/// Notes which of the outputs' axes a run may leave out, if it may.
static void setOptionalAxes(host::ProgramOp program, mlir::func::FuncOp main) {
  SmallVector<int64_t> optional;
  for (auto [index, type] : llvm::enumerate(main.getResultTypes())) {
    auto rank = main.getResultAttrOfType<ExprAttr>(index, kRankAttr);
    optional.push_back(rank ? cast<RankedTensorType>(type).getRank() - rank.getValue().min() : 0);
  }
  if (llvm::any_of(optional, [](int64_t axes) { return axes > 0; }))
    program->setAttr(kOptionalAxesAttr, DenseI64ArrayAttr::get(program.getContext(), optional));
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

llvm::DenseMap<Expr, Expr> HostBuilder::valuesOfInputSizes(ArrayRef<SymbolAttr> inputs) {
  llvm::DenseMap<Expr, Expr> values;
  auto isOfInputs = [&](Expr value) {
    bool known = true;
    value.forEachVariable([&](Expr symbol) {
      known &= llvm::any_of(inputs, [&](SymbolAttr input) { return input.getName() == symbol.name(); });
    });
    return known;
  };
  for (auto bind : main_.getBody().front().getOps<graph::BindOp>())
    if (auto size = bind.getValue().getDefiningOp<graph::SizeOp>()) {
      Expr value = size.getSize().getValue().substitute(values);
      if (isOfInputs(value))
        values[Expr::variable(bind.getSymbol().getName(), bind.getSymbol().getMin(), bind.getSymbol().getMax())] =
            value;
    }
  return values;
}

void HostBuilder::build() {
  llvm::DenseMap<int64_t, host::AliasAttr> ofInputs, ofOutputs;
  for (unsigned input = 0; input < main_.getNumArguments(); ++input)
    if (auto alias = main_.getArgAttrOfType<graph::AliasAttr>(input, graph::kAliasAttr)) {
      aliases_.insert(alias.getOutput());
      ofInputs[input] = aliasOf(alias, alias.getOutput());
      ofOutputs[alias.getOutput()] = aliasOf(alias, input);
    }
  giveMemory();
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
  llvm::DenseMap<Expr, Expr> values = valuesOfInputSizes(bound);
  auto outputs = llvm::map_to_vector(main_.getResultTypes(), [&](Type result) -> Type {
    auto type = cast<RankedTensorType>(result);
    view::Shape shape = llvm::map_to_vector<4>(shapeOf(type), [&](Expr size) { return size.substitute(values); });
    return tensorType(shape, type.getElementType());
  });
  auto program = host::ProgramOp::create(
      builder_, loc_, main_.getName(),
      portsOf(
          builder_, main_.getArgumentTypes(), [&](unsigned i) { return main_.getArgAttrDict(i); }, ofInputs),
      portsOf(
          builder_, outputs, [&](unsigned i) { return main_.getResultAttrDict(i); }, ofOutputs),
      none, builder_.getArrayAttr(symbols));
  setOptionalAxes(program, main_);
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
