//===- KernelLowering.h - Write a kernel as loops and vectors --------------------===//
//
// A kernel says what is computed at one point of its domain and in which order the points are walked. Lowering opens
// the loops and puts every value into the outermost one in which all the axes that it depends on are open. So values
// that do not change in a loop are computed before it, by construction.
//
// A value that depends on unrolled axes is several values, one for each of their points: a Tile. One axis may be vector
// lanes: then each of them is a vector.
//
// A stage is filled by a walk of its own, in the scope in which the axes that its memory begins at are open; while that
// code is written, the stage's walk is the current one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/kernel/MatrixProduct.h"
#include "ir/uop/UOp.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <memory>

namespace kiln::lower {

/// A set of loop axes, by id.
using AxisSet = llvm::SmallBitVector;

/// The uops of one kernel value in one scope.
struct Tile {
  llvm::SmallVector<int64_t> axes;       ///< the unrolled axes, lanes apart, in loop order
  llvm::SmallVector<mlir::Value> values; ///< row-major over `axes`
  bool lanes = false;                    ///< each value is a vector over the lane axis
};

/// The variable of index math that says where a part of a tile begins.
inline constexpr llvm::StringLiteral kPart = "_part";

/// A kernel value as one of the walks computes it.
using WalkedValue = std::pair<unsigned, mlir::Value>;

/// Calls `visit` with every point of axes of these sizes, in row-major order.
void forEachPoint(llvm::ArrayRef<int64_t> sizes, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// A place where code goes: the body of the kernel, a loop or a branch.
struct Scope {
  mlir::Block *block;
  mlir::Operation *before = nullptr;                    ///< code goes before this op: the loop that is open inside
  llvm::DenseMap<view::Expr, mlir::Value> variables;    ///< variables bound here
  llvm::DenseMap<view::Expr, view::Expr> substitutions; ///< loop variables that are written as others here
  llvm::DenseMap<WalkedValue, Tile> tiles;              ///< kernel values computed here
  llvm::DenseMap<view::Expr, mlir::Value> indices;      ///< index math computed here
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> splats; ///< a scalar in so many lanes
  llvm::DenseSet<mlir::Operation *> filled;                            ///< stages whose memory is filled here
  llvm::SmallVector<view::Expr> tested;                                ///< guards that this branch depends on
  llvm::SmallVector<view::Expr> tests;                                 ///< their tests, at the last points
  llvm::SmallVector<view::Expr> begun;                                 ///< guards that hold at their first points here
  bool inside = false;                                                 ///< the tested guards hold here
  llvm::DenseMap<view::Expr, std::pair<bool, AxisSet>> decided; ///< terms of masks, and whether they hold here at
                                                                ///< all points of these axes
  size_t keepsFrom = SIZE_MAX; ///< values that belong to this scope or one inside it are computed in this branch
  std::vector<llvm::unique_function<void()>> last; ///< emits the code that goes last
  mlir::Operation *outerBefore = nullptr;          ///< `before` of the outer scope until this one opened
  view::Expr begin, end;                           ///< of a loop; of points of its last step: that step
};

class KernelLowering {
public:
  explicit KernelLowering(kernel::FuncOp func);
  /// Writes the uop function after the kernel and returns it.
  uop::FuncOp run();

private:
  // Walks.
  struct LoweredWalk : kernel::Walk {
    llvm::SmallVector<view::Expr> guards; ///< 0/1 over loop variables: inside the domain
    int64_t lane = -1;                    ///< the axis that is vector lanes; -1: none
    llvm::SmallVector<size_t> zeros;      ///< axes of the domain past whose end 0 is held
  };
  void addWalk(kernel::Walk walk);
  const LoweredWalk &walk() const { return walks_[walk_]; }
  /// Whether the items of a group share the kernel's points; a stage's walk has no items of its own.
  bool hasItems() const { return kernel::hasItems(walks_.front()); }
  WalkedValue walked(mlir::Value value) const { return {walk_, value}; }

  // Axes.
  AxisSet none() const { return AxisSet(axes_.size()); }
  void addVariables(view::Expr expr, AxisSet &axes) const;
  AxisSet axesOfTracker(const view::ShapeTracker &tracker) const;
  const AxisSet &axesOf(mlir::Value value);
  bool isBound(int64_t axis) const;
  bool isUnrolled(int64_t axis) const;
  llvm::SmallVector<int64_t> unrolledAxes(const AxisSet &axes) const;
  bool hasLanes(const AxisSet &axes) const;
  int64_t sizeOf(int64_t axis) const;
  /// How many lanes a vector of the current walk has.
  int64_t lanes() const { return sizeOf(walk().lane); }
  llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<int64_t> axes) const;
  kernel::AxisAttr axisOf(int64_t id) const { return axes_[id]; }
  view::Expr variableOf(int64_t axis) const { return variables_[axis]; }

  // Scopes.
  size_t depthOf(const AxisSet &axes) const;
  size_t depthOf(view::Expr expr) const;
  /// The scope for a value over these axes: the outermost one that binds them and knows what it relies on.
  size_t placeOf(const AxisSet &axes) const;
  /// The builder, set to the end of the code so far of a scope.
  mlir::OpBuilder &at(size_t depth);
  mlir::OpBuilder &here() { return at(scopes_.size() - 1); }
  /// Has the code of the innermost scope, and of those that share its block, go before an op; null: at the end. Returns
  /// what it went before.
  mlir::Operation *goBefore(mlir::Operation *op);
  /// Runs `body` with only the scopes up to `depth` open: its code goes before the loop that is open there.
  void inScope(size_t depth, llvm::function_ref<void()> body);
  struct LoopEnd {
    view::Expr end, trips;                        ///< trips: how often the loop runs, the same for all its instances
    llvm::SmallVector<view::Expr> settled, tests; ///< guards that hold in it; the same at their last unrolled points
    llvm::SmallVector<view::Expr> begun;          ///< guards that hold at the first unrolled points of each step
  };
  /// The end of a loop over `axis`: the axis' size, or less if the domain ends before it, which may settle guards.
  LoopEnd endOf(int64_t axis, llvm::ArrayRef<int64_t> inside);
  /// Whether a loop of the current walk may end where the domain does.
  bool mayEndEarly(int64_t axis);
  /// A part of a loop's steps, and the guards that hold in all of them.
  struct Steps {
    view::Expr begin, end;
    llvm::SmallVector<view::Expr> guards, tests; ///< tests: the guards at their last unrolled points
  };
  /// The steps of a loop over `axis`: those with all unrolled points inside the domain, and the others, at its edge, so
  /// that the former need no tests. One part if guards do not end at a step of this loop.
  llvm::SmallVector<Steps, 2> stepsOf(int64_t axis);
  /// Opens a loop over `axis`, or over a part of its steps, inside the innermost scope.
  uop::RangeOp openLoop(int64_t axis, mlir::ValueRange inits, bool reduce, llvm::ArrayRef<int64_t> inside = {},
                        const Steps *part = nullptr);
  void closeLoop(mlir::ValueRange yields);
  /// Runs `body` inside a loop over these steps of `axis`, whichever of them the outer scopes are at.
  void inSteps(int64_t axis, view::Expr begin, view::Expr end, llvm::function_ref<void()> body);
  /// Emits both sides of a test, each in a scope of its own; `body` is told whether the test holds there. There is no
  /// test if both sides are the same code.
  void inBranches(view::Expr test, llvm::function_ref<void(bool)> body);
  void joinIfAlike(uop::IfOp branch);
  /// Emits code for where a condition holds, in a scope of its own.
  void inTest(mlir::Value condition, llvm::function_ref<void()> body);
  /// The innermost scope that has a guard about the currently open loops in a list; null: none.
  const Scope *scopeOf(view::Expr guard, llvm::SmallVector<view::Expr> Scope::*list) const;
  /// The one that tests it.
  const Scope *testOf(view::Expr guard) const { return scopeOf(guard, &Scope::tested); }
  /// Whether the code that is being written is for points past the end of the domain, too.
  bool isAtEdge() const;
  /// Whether the readers' guard already implies this guard of a stage's walk.
  bool holdsForReaders(view::Expr guard) const;
  /// Whether the items of a group meet at barriers.
  bool meetsInside();
  /// Runs `body` once, or, if guards remain, under a test in two copies: one inside the domain, one at its edge. All
  /// items of a group take the same copy, because they meet at barriers. If the device's compiler cannot handle
  /// barriers in branches, there is one copy, as at the edge.
  void atEdges(llvm::function_ref<void()> body);
  /// The points of an unrolled axis where it ends within a tile.
  struct Edge {
    size_t of; ///< an axis of the domain
    int64_t axis, points;
    view::Expr guard, left;       ///< left: how many points are inside the domain
    std::optional<int64_t> known; ///< as many, where all edges are alike
  };
  /// The edge that the first of these guards about one unrolled axis tells of; nullopt where there is no such guard,
  /// where points have to be tested one by one, or where edges that are known differ.
  std::optional<Edge> edgeOfRows(llvm::ArrayRef<view::Expr> guards);
  /// Runs `body` for the first points of a tile, which are inside the domain.
  void inPart(const Edge &edge, int64_t points, llvm::function_ref<void()> body);
  /// Runs `body` for all points that are left, fewer than a tile has, in parts of sizes that differ.
  void inParts(const Edge &edge, llvm::function_ref<void()> body);
  /// The same in one part, of one of these sizes.
  void inPartOfAll(const Edge &edge, llvm::ArrayRef<int64_t> parts, llvm::function_ref<void()> body);
  /// The same from the point `begin` on, in parts of these sizes.
  void inParts(const Edge &edge, llvm::ArrayRef<int64_t> parts, mlir::Value begin, llvm::function_ref<void()> body);
  /// Runs `body` at the edge of the domain, for these guards.
  void inPartsAtEdge(llvm::ArrayRef<view::Expr> guards, llvm::ArrayRef<view::Expr> tests,
                     llvm::function_ref<void()> body);

  // The steps of a row.
  /// A term of a mask that is alike in all steps of a row but those of its beginning, or of its end.
  struct RowTerm {
    view::Expr term;
    bool holds, isOfBegin;
  };
  /// Where masks cut a loop over the vectors of rows.
  struct RowParts {
    int64_t first = 0;    ///< so many steps are of the beginning
    int64_t most = 1;     ///< so many steps at most are of the end
    view::Expr last, end; ///< from which step on they are of the end, and where the loop ends
    view::Expr guard;     ///< that a step is inside the row
    llvm::SmallVector<RowTerm> terms;
    AxisSet over; ///< terms are alike at all points of these axes
  };
  /// nullopt: the loop is not one over vectors of a row of unknown length.
  std::optional<RowParts> partsOfRow(int64_t axis);
  /// Runs `body` in a loop over vectors of a row, the innermost one: without masks between its ends.
  void inRowParts(int64_t axis, const RowParts &parts, llvm::function_ref<void()> body);
  /// Runs `body` for one step at an end of a row. `isInside`: it is not one of the last ones.
  void inStep(int64_t axis, view::Expr step, const RowParts &parts, bool isInside, bool isFirst,
              llvm::function_ref<void()> body);
  /// Both sides of a test, or the one that it is known to take.
  void where(view::Expr test, llvm::function_ref<void(bool)> body);
  /// The steps of a loop at which a term of a mask is as in most of them: from `begin` up to `end`.
  struct Alike {
    bool holds;
    std::optional<view::Expr> begin, end;
  };
  /// nullopt if the ends of a vector do not decide the term.
  std::optional<Alike> alikeAlong(int64_t axis, view::Expr term);

  // Masks.
  /// A term of a mask that most tiles have alike at all points of the axes `over`; those in which `test` holds have.
  struct Decision {
    view::Expr term;
    bool holds;
    AxisSet over;
    view::Expr test;
  };
  /// Whether slack < 0 in the middle of all axes, if open sizes are large.
  bool holdsInTheMiddle(view::Expr slack);
  /// nullopt if the corners of a tile do not decide the term.
  std::optional<Decision> decisionOf(view::Expr term);
  /// For the masks of what is summed up for the values that are being computed.
  llvm::SmallVector<Decision> decisionsOfTile();
  /// Runs `body` once, or, if masks cut tiles, under a test in two copies: one for tiles inside all masks.
  void inInterior(llvm::function_ref<void()> body);
  /// Runs `body` once, or, if the loops so far say which of two joined tensors the points inside them come from,
  /// under a test in two copies: one for each tensor.
  void inOneTensor(llvm::function_ref<void()> body);
  /// Whether a term of a mask holds in the branch that is being written; nullopt: it differs.
  std::optional<bool> decided(view::Expr term) const;
  /// The terms of a mask that are not decided.
  view::Expr undecided(view::Expr valid) const;

  // Values.
  Tile emit(mlir::Value value);
  Tile emitAlu(kernel::AluOp alu);
  Tile emitLoad(kernel::LoadOp load);
  /// The data that the next step of the load's `ahead` reads, and the steps inside it that can prefetch it.
  struct Ahead {
    view::Expr first, distance;  ///< the first element that a step reads, and how far the next step's is from it
    int64_t extent = 0;          ///< elements up to the last that it reads
    view::Expr step;             ///< of the loops of known size around the load, counted through
    int64_t steps = 1;           ///< how many there are
    view::Expr pass, passes = 1; ///< the same of the innermost loop of unknown size
  };
  /// nullopt if it reads the same as this step, or if its amount is not known.
  std::optional<Ahead> aheadOf(kernel::LoadOp load, size_t depth);
  /// The first elements of the lines that the next step of the loop `ahead` reads or writes through a view, at the
  /// unrolled points; none if it is not a loop of this walk, or moves nothing.
  llvm::SmallVector<view::Expr> linesAhead(const view::ShapeTracker &tracker, mlir::Type element, int64_t ahead) const;
  void askFor(mlir::Value pointer, llvm::ArrayRef<view::Expr> elements, bool toWrite);
  /// Prefetches the data of the next step of the load's `ahead`: in each step of the loops inside that one and around
  /// the load, the same part of it.
  void emitPrefetch(kernel::LoadOp load, size_t depth);
  /// A choice by place between elements of one tensor that all lanes make alike.
  struct ChosenLoad {
    kernel::LoadOp last;                                          ///< that of the places that no condition is about
    llvm::SmallVector<std::pair<view::Expr, view::Expr>> choices; ///< a condition, and how far from `last` that is
    view::Expr shared;                                            ///< without it, none is there
    view::Expr rest;                                              ///< without it, `last` is not
  };
  /// nullopt: it is another choice.
  std::optional<ChosenLoad> chosenLoad(kernel::AluOp op);
  /// Its elements for every unrolled point: one load each, from the chosen place.
  Tile emitChosenLoad(kernel::AluOp op, const ChosenLoad &chosen);
  Tile emitGather(kernel::LoadOp load);
  /// Rows that are data as variables of index math: one per value of a tile, or one per lane of each; and whether there
  /// are such rows, one per value, empty if there always are. Lanes without a row have the first one, so that all are
  /// read without a branch where there is one.
  struct Rows {
    llvm::SmallVector<view::Expr> variables;
    llvm::SmallVector<mlir::Value> inside;
  };
  /// The rows, of `size`, that a tile gives.
  Rows rowsOf(const Tile &given, view::Expr size, bool isInBounds, size_t depth);
  /// Loads for every unrolled point of an index.
  Tile emitMemory(mlir::Value pointer, view::Index where, const AxisSet &axes, mlir::Type element, size_t depth,
                  bool isFar = false);
  /// The same where points of the axis `turned` of the tile are neighbours in memory while lanes are not.
  Tile emitTurned(mlir::Value pointer, view::Index where, Tile tile, size_t turned, mlir::Type element, size_t depth,
                  bool isFar);
  /// A vector for each of these points, which are neighbours in memory: loaded as one vector of points for each lane.
  llvm::SmallVector<mlir::Value> loadTurned(mlir::Value pointer, llvm::ArrayRef<view::Index> points, mlir::Type element,
                                            size_t depth, bool isFar);
  /// With `inside`, a bool, nothing is read if it is false.
  mlir::Value loadLanes(mlir::Value pointer, view::Index where, mlir::Type element, size_t depth,
                        mlir::Value inside = {}, bool isFar = false);
  /// How far lanes lie from the first one, if that is known and so near that the elements between them may be loaded
  /// too; else empty.
  llvm::SmallVector<int64_t> placesNear(view::Expr index) const;
  /// Whether a lane that has a place, from the least of them on, satisfies a term of a mask; nullopt if lanes that
  /// share a place differ by more than a number, or by other terms too. Sets `differ` if lanes that share one differ.
  std::optional<llvm::SmallVector<view::Expr>> validAtPlaces(view::Expr term, llvm::ArrayRef<int64_t> places,
                                                             bool isOnlyTerm, bool &differ) const;
  /// Lanes at these places, picked out of as few vectors as hold them; null if no mask of vectors says which are there.
  mlir::Value loadNear(mlir::Value pointer, view::Index where, llvm::ArrayRef<int64_t> places, mlir::Type element,
                       size_t depth, mlir::Value inside, bool isFar);
  /// One element for those lanes in which the mask holds; null if lanes differ by more than the mask.
  mlir::Value loadShared(mlir::Value pointer, view::Index where, mlir::Type element, size_t depth, mlir::Value inside);
  /// Whether a mask holds at a lane or more; nullopt if that takes more than comparisons of its ends.
  std::optional<view::Expr> holdsAtSomeLane(view::Expr valid) const;
  /// `valid` and `inside` as a gate; null if nothing is gated.
  mlir::Value gateOf(view::Expr valid, mlir::Value inside, size_t depth);
  /// The place of an element of memory that may be swizzled: writes code that computes it.
  view::Expr placeIn(mlir::Value memory, view::Expr element);
  /// Whether lane l of an index into memory is l elements after lane 0.
  bool lanesLieTogether(mlir::Value memory, view::Expr index) const;
  mlir::Value loadOne(mlir::Value pointer, view::Index where, mlir::Type result, mlir::Value gate, size_t depth,
                      bool isFar = false);
  mlir::Value loadOne(mlir::Value pointer, mlir::Value place, mlir::Type result, mlir::Value gate, size_t depth,
                      bool isFar);
  /// The places of all lanes of an index into memory.
  llvm::SmallVector<mlir::Value> placesOfLanes(mlir::Value pointer, view::Expr where);
  /// Whether a view goes far beyond its tensor where it has no element.
  static bool mayBeFar(const view::ShapeTracker &tracker);
  /// With `pastCaches`, whole lines may go past the caches.
  void storeTile(const Tile &tile, mlir::Value pointer, view::Index where, const AxisSet &axes,
                 bool pastCaches = false);
  void storeLanes(mlir::Value vector, mlir::Value pointer, view::Index where, bool pastCaches);
  /// Stores vectors, each of a point along an axis of neighbours in memory, as one vector of points for each lane.
  void storeTurned(llvm::ArrayRef<mlir::Value> vectors, mlir::Value pointer, view::Index where, bool pastCaches);
  /// Stores vectors at neighbouring places: of those that are there alike, powers of two are turned at once. Masked
  /// stores would take longer than a branch.
  void storeRuns(llvm::ArrayRef<mlir::Value> vectors, mlir::Value pointer, llvm::ArrayRef<view::Index> places,
                 bool pastCaches);
  /// The position among `unrolled` of an axis whose points are neighbours in memory while lanes are not: vectors of its
  /// points, one of each of the tile's vectors, are fewer accesses.
  std::optional<size_t> turnedAxis(view::Expr index, llvm::ArrayRef<int64_t> unrolled) const;
  /// Stores vectors that each have a point of every few neighbours in memory as whole lines.
  void storeWoven(llvm::ArrayRef<mlir::Value> vectors, mlir::Value pointer, view::Index where, bool pastCaches);
  /// The position among `unrolled` of an axis whose points fill the gaps between lanes in memory.
  std::optional<size_t> wovenAxis(view::Index where, llvm::ArrayRef<int64_t> unrolled) const;
  /// Whether caches need not keep the stored data.
  bool exceedsCaches(kernel::StoreOp store);
  mlir::Value laneOf(mlir::Value vector, int64_t lane);
  /// Stores what `valueOfLane` gives for each lane that is inside, at the lane's own place.
  void storeApart(mlir::Value pointer, view::Index where, bool pastCaches,
                  llvm::function_ref<mlir::Value(int64_t)> valueOfLane);
  /// A store, marked where it may go past the caches and writes whole lines.
  void createStore(mlir::Value value, mlir::Value pointer, mlir::Value place, mlir::Value gate, bool pastCaches);
  /// Whether lane l of an index is lane 0 plus l.
  bool lanesAreNeighbours(view::Expr index) const;
  bool dependsOnLane(view::Expr expr) const;
  Tile emitStage(kernel::StageOp stage);
  Tile emitValid(kernel::ValidOp valid);
  Tile emitIndex(kernel::IndexOp op);
  /// Stores `value`: the op's value, or one that is known to equal it.
  void emitStore(kernel::StoreOp store, mlir::Value value);
  void fillStages(size_t depth, kernel::StageOp wanted);
  /// The axes of this walk that places in its stage's memory depend on.
  AxisSet filledAlong(kernel::StageOp stage);
  /// Has `fill` fill stages of several buffers: before the loop of the scope at `depth` for its first steps, and in
  /// each step for a later one.
  void fillAhead(size_t depth, llvm::ArrayRef<kernel::StageOp> stages, llvm::function_ref<void(kernel::StageOp)> fill);
  void fillStage(kernel::StageOp stage);
  void fillTogether(kernel::StageOp stage);
  size_t stageDepth(kernel::StageOp stage);
  bool isLocal(kernel::StageOp stage);
  mlir::Value stageMemory(kernel::StageOp stage);
  /// Memory of an item or a group, declared at the top.
  mlir::Value define(mlir::Type element, int64_t elements, uop::Memory space);
  /// The current walk's element in a stage's own memory.
  view::Expr stageIndex(kernel::StageOp stage);
  /// The same, or in the stored tensor, if it is held there: then past the end of the domain there is nothing.
  view::Index stageAt(kernel::StageOp stage);
  /// The beginning of this work group's share of scratch memory, of `elements` each. A chunk has all the memory that it
  /// is given.
  view::Expr shareOf(view::Expr elements);
  /// The index of a tile's value at a point of `axes`.
  size_t positionIn(const Tile &tile, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> point) const;
  /// A tile's value at a point of `axes`, a superset of the tile's axes; a vector if `lanes`.
  mlir::Value pick(const Tile &tile, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> point, bool lanes,
                   size_t depth);
  mlir::Value alu(Alu kind, mlir::ValueRange operands, mlir::Type result, size_t depth);
  mlir::Value splat(mlir::Value scalar, size_t depth) { return splat(scalar, depth, lanes()); }
  mlir::Value splat(mlir::Value scalar, size_t depth, int64_t lanes);
  mlir::Type withLanes(mlir::Type element) const;

  // Index math.
  view::Expr resolve(view::Expr expr) const;
  view::Expr fix(view::Expr expr, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> point) const;
  view::Index fix(view::Index where, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> point) const;
  view::Expr atLane(view::Expr expr, int64_t lane) const;
  /// An expression as a value: an index, or a bool for a comparison or conjunction.
  mlir::Value index(view::Expr expr);
  /// A comparison or conjunction as a bool, even if it is a constant.
  mlir::Value condition(view::Expr expr);
  mlir::Value indexOp(view::Expr expr, size_t depth);
  /// Whether an expression depends on where a part of a tile begins.
  static bool isOfPart(view::Expr expr);
  /// A condition that differs by lane, as a vector of bools; and `inside`, a bool, if it is given.
  mlir::Value laneCondition(view::Expr expr, size_t depth, mlir::Value inside = {});
  /// Conditions that all have to hold: those that lanes share as one number; `ofLanes` makes a vector of each other
  /// one, null if it holds for each lane.
  mlir::Value allConditions(view::Expr all, size_t depth, mlir::Value inside,
                            llvm::function_ref<mlir::Value(view::Expr)> ofLanes);
  /// A vector of bools, and a bool for all of its lanes; either may be null, which holds.
  mlir::Value bothConditions(mlir::Value mask, mlir::Value inside, size_t depth);
  /// first + steps[lane] < 0 for each lane.
  mlir::Value stepCondition(view::Expr first, llvm::ArrayRef<int64_t> steps, size_t depth);
  /// A vector of conditions, one for each lane.
  mlir::Value conditions(llvm::ArrayRef<view::Expr> each, size_t depth);
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value constant(mlir::Type type, int64_t value);
  /// Those guards about one of `axes` that still need a test.
  view::Expr guardOf(const AxisSet &axes) const;
  /// The same, for those that are only about axes `among`.
  view::Expr guardOf(const AxisSet &axes, const AxisSet &among) const;
  /// The guards about these axes that hold at the current place of code.
  view::Expr knownOf(const AxisSet &axes) const;
  /// The place that a tracker reads, gated by the guards about its axes and about `axes`.
  view::Index indexAt(const view::ShapeTracker &tracker, AxisSet axes) const;
  view::Index indexAt(const view::ShapeTracker &tracker) const { return indexAt(tracker, none()); }
  /// A mask at one point of these unrolled axes, without terms that the domain's size along the lanes settles. Past its
  /// end, the mask is not asked for, or the guard is in it.
  view::Expr insideDomain(view::Expr valid, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> point);
  /// A place at a point inside the domain, gated by the guards about its axes and about `axes`.
  view::Index settled(view::Index where, AxisSet axes) const;
  /// The place that a tracker reads at a point of the current walk inside the domain.
  view::Index indexInside(const view::ShapeTracker &tracker) const;

  /// Whether a reduce's input is 0 at points outside the domain, so that a sum needs no guard there.
  bool vanishesOutside(mlir::Value value, const AxisSet &over);
  /// The running totals' place in memory.
  view::Expr heldIndex(kernel::ReduceOp reduce);
  /// Row-major over loop axes of fixed sizes.
  view::Expr rowMajor(llvm::ArrayRef<int64_t> axes);
  void emitNest(llvm::ArrayRef<kernel::StoreOp> stores);

  // Choices by place.
  /// The value of an integer made only of places; nullopt: it is not, or may wrap.
  std::optional<view::Expr> placeOfValue(mlir::Value value);
  /// A condition that holds where a bool is as expected, and perhaps elsewhere.
  view::Expr mayBe(mlir::Value condition, bool expected);
  /// The same for a conjunction, for at least one unrolled point.
  view::Expr mayHold(view::Expr condition);
  /// Runs `body`, which emits `value`. If that is a choice by place, runs it under a test in two copies: one with sums
  /// for points that need them, and one, with the other value, for points that all do without.
  void whereNeeded(mlir::Value value, llvm::function_ref<void(mlir::Value)> body);

  // Matrix instructions.
  struct Operands;
  /// The matrix of an operand at a point of unrolled axes, loaded where it is first used: a CPU has few registers for
  /// matrices.
  mlir::Value matrixAt(Operands &operands, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> point);
  /// The sums of a product, a matrix for each unrolled point.
  Tile emitMatrixProduct(const kernel::MatrixProduct &product);
  void storeMatrices(const Tile &sums, kernel::StageOp stage, const kernel::MatrixProduct &product);
  /// Whether the loops around a walk end where an axis of the domain does: `begin` is where the walk's own begin in it.
  bool staysInside(view::Expr begin, view::Expr size) const;
  /// The code of `body` runs only if the first row and column of the walk's matrices are inside the domain.
  void whereMatricesBegin(llvm::function_ref<void()> body);

  // Dot instructions.
  /// An operand's terms for every unrolled point, those of all lanes if it moves along these.
  Tile emitTerms(mlir::Value operand, int64_t terms);
  mlir::Value loadTerms(mlir::Value pointer, view::Index where, mlir::Type element, bool ofLanes, int64_t terms,
                        size_t depth);

  // Reductions.
  struct Reduced;
  struct Largest;
  struct Total;
  Tile emitReduce(kernel::ReduceOp first);
  /// A total for each reduce before its loops. For a sum with scores it points to the largest of them, in `scores`.
  std::vector<Total> startTotals(llvm::ArrayRef<kernel::ReduceOp> together, const Reduced &reduced,
                                 std::vector<Largest> &scores);
  /// Takes the inputs of one step into the totals.
  void takeIn(llvm::MutableArrayRef<Largest> scores, llvm::MutableArrayRef<Total> totals, const Reduced &reduced);
  /// The same for all steps of the loops, which it opens and closes.
  void takeInAll(llvm::MutableArrayRef<Largest> scores, llvm::MutableArrayRef<Total> totals, const Reduced &reduced);
  /// The unrolled axis whose points the steps at the edge of a sum's loop take in one after another, where `inside` are
  /// the steps without an edge; nullopt: each step takes in all points, with masks.
  std::optional<int64_t> pointsOneByOne(const Steps &part, const Steps &inside, const Reduced &reduced);
  /// Opens a loop over such points.
  uop::RangeOp openPoints(int64_t axis, int64_t loop, const Steps &part, const Steps &inside, mlir::ValueRange inits);
  /// The reduces that can share the loops of `reduce` from the scope `place`, itself first.
  llvm::SmallVector<kernel::ReduceOp> walkedWith(kernel::ReduceOp reduce, size_t place);
  /// The reduces that a value is computed from, and itself.
  const llvm::SmallPtrSet<mlir::Operation *, 4> &reducesBehind(mlir::Value value);
  Reduced reducedBy(kernel::ReduceOp reduce);
  /// A tile of the rest of `axes`, filled with `identity`.
  Tile filled(AxisSet axes, const Reduced &reduced, mlir::Value identity);
  /// Whether a reduced point is inside the domain, for a value over `axes`.
  view::Expr guardOver(const Reduced &reduced, const AxisSet &axes);
  /// `value` if `inside` holds, else the scalar `otherwise`.
  mlir::Value within(view::Expr inside, mlir::Value value, mlir::Value otherwise);
  /// A number to subtract from exponents: the largest score, or the least finite number if that is -inf.
  mlir::Value finite(mlir::Value largest);
  mlir::Value difference(mlir::Value a, mlir::Value b);
  mlir::Value expOfDifference(mlir::Value a, mlir::Value b);
  /// Takes this step's scores into the largest so far, and returns the weights and the decay for the totals.
  void advance(Largest &largest, const Reduced &reduced);
  /// Takes this step's inputs into a total.
  void accumulate(Total &total, const Reduced &reduced);
  /// The same by dot instructions.
  void accumulateDots(Total &total, const Reduced &reduced, const kernel::DotProduct &product);
  mlir::Value foldHalves(Alu kind, llvm::SmallVector<mlir::Value> values);
  mlir::Value foldLanes(Alu kind, mlir::Value vector);
  /// Folds lanes that are reduced, after the loops.
  void finish(Total &total, const Reduced &reduced);
  /// The totals that were held between iterations of the loops around.
  llvm::SmallVector<mlir::Value> heldSoFar(kernel::ReduceOp reduce);
  /// How many neighbours of the group's first axis exchange their sums by uop.shuffle; 1: none.
  int64_t shuffledItems(llvm::ArrayRef<Total> totals, const Reduced &reduced) const;
  void shuffle(llvm::MutableArrayRef<Total> totals, int64_t items);
  /// The place where an item's part of a total waits for the others, and the stores that put it there; `shuffled`: the
  /// first of so many items has their sum already.
  struct Exchange;
  Exchange storeForOthers(Total &total, const Reduced &reduced, int64_t shuffled);
  /// Sums up the stored parts of `count` items of an axis; `itemAt` says which.
  void gather(Total &total, const Exchange &place, int64_t axis, int64_t count,
              llvm::function_ref<view::Expr(int64_t)> itemAt);
  /// Sums up the stored parts of all items, in loops over them.
  void sumUpItems(Total &total, const Exchange &place, llvm::ArrayRef<int64_t> items);
  /// Sums up the parts of the group's items: in registers within a warp, then through local memory.
  void exchange(llvm::MutableArrayRef<Total> totals, const Reduced &reduced);
  /// The number of partial sums that the items make before all add these; 1 if they add all at once.
  int64_t partOf(const Reduced &reduced) const;

  void createFunction();
  void bindParallelAxes();
  void bindChunks(llvm::SmallVector<view::Expr> &grid, llvm::SmallVector<int64_t> &local);
  bool isReduced(int64_t axis);
  void emitStores();
  /// The sizes of these loops that may be 0 where a load that does not depend on the loop lies at an offset of sizes.
  /// It is read ahead of the loop, and the offset of a tensor without elements may lie outside of it.
  mlir::SmallVector<view::Expr> sizesReadAhead(llvm::ArrayRef<int64_t> loops);
  /// Runs the body's code only where none of the sizes is 0.
  void ifNotEmpty(llvm::ArrayRef<view::Expr> sizes, llvm::function_ref<void()> body);
  /// Runs `body` inside loops over these axes, and the tests of the guards about them.
  void inLoops(llvm::ArrayRef<int64_t> loops, llvm::function_ref<void()> body);
  /// Whether the outer loops are tested before this one is opened. True for a loop that a reduce walks too, since tests
  /// about that loop do not hold in the reduce. Also true if a reduce lies between the outer loops and this one, after
  /// the tests about those.
  bool beginsNest(llvm::ArrayRef<int64_t> loops, size_t at);
  void inNests(llvm::ArrayRef<llvm::ArrayRef<int64_t>> nests, llvm::function_ref<void()> body);
  /// Runs `body` inside loops that are not the innermost ones.
  void inOuterLoops(llvm::ArrayRef<int64_t> loops, llvm::function_ref<void()> body);

  kernel::FuncOp func_;
  mlir::OpBuilder builder_;
  uop::FuncOp out_;
  mlir::Location loc_;
  mlir::Type indexType_;
  std::vector<LoweredWalk> walks_; // the kernel's own first
  unsigned walk_ = 0;              // the one whose code is being written
  int64_t nextLoop_ = 0;
  llvm::DenseMap<mlir::Operation *, view::Expr> trips_; ///< of loops over axes
  int64_t nextRow_ = 1;                                 // 0 stands for any row
  llvm::SmallVector<kernel::AxisAttr> axes_;            // of all walks, by id
  llvm::SmallVector<view::Expr> variables_;             // of the axes, by id
  // Variables of axes without a fixed size, and the same with their bounds: that they stay within it.
  llvm::DenseMap<view::Expr, view::Expr> limited_, unlimited_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  llvm::DenseMap<int64_t, int64_t> shortened_;    ///< unrolled axes, and how many of their points have code now
  llvm::DenseMap<view::Expr, view::Expr> begins_; ///< the same axes' variables, and where these points are
  llvm::DenseMap<WalkedValue, std::unique_ptr<AxisSet>> axesOf_; // references to these are kept while others are added
  llvm::DenseMap<mlir::Value, mlir::Value> pointers_;            // buffer argument → pointer argument
  llvm::DenseMap<mlir::Operation *, mlir::Value> stageMemory_;
  llvm::DenseMap<mlir::Value, kernel::SwizzleAttr> swizzles_; ///< of memory whose elements are not in order
  llvm::DenseSet<mlir::Operation *> begun_; ///< stages of several buffers that a loop has filled before
  int64_t memories_ = 0;                    // local and register memory so far
  llvm::DenseMap<mlir::Value, std::unique_ptr<llvm::SmallPtrSet<mlir::Operation *, 4>>> reducesBehind_;
  llvm::SmallPtrSet<mlir::Operation *, 4> underway_; ///< the reduces whose loops are open
  llvm::SmallVector<mlir::Value>
      roots_;             ///< the values that are being computed: those of stores that share loops, or a stage's
  kernel::ReduceOp held_; ///< the reduce whose totals are held in memory; null: none
  llvm::SmallVector<int64_t> heldLoops_; ///< its loops that are not in loops of its result
  llvm::MapVector<mlir::Attribute, mlir::Value> constants_;
  TargetAttr target_;
};

} // namespace kiln::lower
