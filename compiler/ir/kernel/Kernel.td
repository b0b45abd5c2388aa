//===- Kernel.td - The kernel dialect: what one launch computes ----------------===//
//
// The work of one launch before it is loops. Take a product of matrices over the domain (i, j, k): the body loads a
// through a view that does not move along j and b through one that does not move along i, multiplies, reduces over k
// and stores. The walk of the points is separate data. To make vectors of 4 columns, j's loop axis 1 is split and
// index[1] becomes _x1 * 4 + _x3; the body stays as it was. So a split touches no access, a view never has to be merged
// with a tiling, and a kernel can list the opts that shaped it.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_IR_KERNEL
#define KILN_IR_KERNEL

include "ir/base/Base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def KernelDialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::kiln::kernel";
  let summary = "a launch as arithmetic at one point of an iteration space";
  let description = [{
    A kernel computes the same expression at every point of its domain: loads read buffers through views of the domain,
    reduces combine points along axes, stores write. How the domain is walked stands beside the expression: `axes` lists the
    loop axes from the outside in, `index` gives each domain axis as an expression over them. Before any opt the two are the
    same. Loop axis `id` is the variable _x<id>; domain axis i is _i<i>.

    A value that is held in memory is a phase: a `stage` has a walk of its own over the part of the domain that it holds, so
    its lanes and tiles need not be its readers'. Ids of loop axes are unique in the whole kernel.
  }];
  let dependentDialects = ["::kiln::KilnDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class KernelOp<string mnemonic, list<Trait> traits = []> : Op<KernelDialect, mnemonic, traits>;
class PureKernelOp<string mnemonic, list<Trait> traits = []> : KernelOp<mnemonic, !listconcat([Pure], traits)>;

def AxisEnum : I32EnumAttr<"AxisKind", "how an axis is walked", [
  I32EnumAttrCase<"Group", 0, "group">,   // one work group each; a special index
  I32EnumAttrCase<"Item", 1, "item">,     // one item of the work group each; a special index
  I32EnumAttrCase<"Chunk", 2, "chunk">,   // one CPU chunk each; a special index
  I32EnumAttrCase<"Loop", 3, "loop">,     // one iteration each
  I32EnumAttrCase<"Upcast", 4, "upcast">, // unrolled: one value each
  I32EnumAttrCase<"Lane", 5, "lane">,     // one vector lane each
  I32EnumAttrCase<"Fragment", 6, "fragment"> // one element each of what an instruction takes whole
]> {
  let cppNamespace = "::kiln::kernel";
  let genSpecializedAttr = 0;
}

def AxisAttr : AttrDef<KernelDialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "a loop axis: #kernel.axis<3, 64, loop>";
  let parameters = (ins "int64_t":$id, "::kiln::ExprAttr":$size, EnumParameter<AxisEnum>:$kind);
  let assemblyFormat = "`<` $id `,` $size `,` $kind `>`";
}

def PartAttr : AttrDef<KernelDialect, "Part"> {
  let mnemonic = "part";
  let summary = "a dimension of a stage's memory: #kernel.part<0, 32, 4>";
  let description = [{
    Where `local` is how far a point is from the beginning of what is held along the domain's axis `axis`, this dimension
    counts (local floordiv step) mod count. `pad` elements follow each of its entries.
  }];
  let parameters = (ins "int64_t":$axis, "int64_t":$step, "::kiln::ExprAttr":$count,
                        DefaultValuedParameter<"int64_t", "0">:$pad);
  let assemblyFormat = "`<` $axis `,` $step `,` $count (`pad` $pad^)? `>`";
}

def SwizzleAttr : AttrDef<KernelDialect, "Swizzle"> {
  let mnemonic = "swizzle";
  let summary = "where elements lie inside a row of memory: #kernel.swizzle<8 of 4 in 64>";
  let description = [{
    Memory is rows of `row` elements, and a row groups of `ways` units of `unit` elements each. Of row r the unit u of a
    group lies where unit u xor (r mod ways) would: what stands in one column of several rows is spread over the row.
    The elements of a unit stay side by side. `ways` and `unit` are powers of two, and their product divides `row`.
  }];
  let parameters = (ins "int64_t":$ways, "int64_t":$unit, "int64_t":$row);
  let assemblyFormat = "`<` $ways `of` $unit `in` $row `>`";
}

def BuffersAttr : AttrDef<KernelDialect, "Buffers"> {
  let mnemonic = "buffers";
  let summary = "memory for several steps of a loop: #kernel.buffers<2 along 5>";
  let description = [{
    Step i of the loop over `axis`, the innermost around the stage, reads buffer i mod count, which was filled count - 1
    steps before: while a step is computed the next ones are in flight.
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$axis);
  let assemblyFormat = "`<` $count `along` $axis `>`";
}

def OptEnum : I32EnumAttr<"OptKind", "an optimisation", [
  I32EnumAttrCase<"UPCAST", 0>, I32EnumAttrCase<"UNROLL", 1>, I32EnumAttrCase<"LOCAL", 2>, I32EnumAttrCase<"GROUP", 3>,
  I32EnumAttrCase<"THREAD", 4>, I32EnumAttrCase<"TILE", 5>, I32EnumAttrCase<"VECTOR", 6>, I32EnumAttrCase<"STAGE", 7>,
  I32EnumAttrCase<"SWAP", 8>, I32EnumAttrCase<"GLOBAL", 9>, I32EnumAttrCase<"PREFETCH", 10>,
  I32EnumAttrCase<"TC", 11>, I32EnumAttrCase<"DOT", 12>, I32EnumAttrCase<"LAYOUT", 13>, I32EnumAttrCase<"BUFFERS", 14>
]> {
  let cppNamespace = "::kiln::kernel";
  let genSpecializedAttr = 0;
}

def RunAttr : AttrDef<KernelDialect, "Run"> {
  let mnemonic = "run";
  let summary = "a dimension of memory as LAYOUT asks for it: #kernel.run<4 pad 4 xor 8 of 4>";
  let description = [{
    Memory goes along loop axis `axis` of a stage. After each run of its points, with all that lies inside of them, `pad`
    elements are left free; with `ways`, runs are the rows of a swizzle of so many units of `unit` elements.
  }];
  let parameters = (ins "int64_t":$axis, DefaultValuedParameter<"int64_t", "0">:$pad,
                        DefaultValuedParameter<"int64_t", "0">:$ways, DefaultValuedParameter<"int64_t", "0">:$unit);
  let assemblyFormat = "`<` $axis (`pad` $pad^)? (`xor` $ways^ `of` $unit)? `>`";
}

def OptAttr : AttrDef<KernelDialect, "Opt"> {
  let mnemonic = "opt";
  let summary = "one step from the plain kernel to the optimised one: #kernel.opt<UPCAST, 0, 4>";
  let description = [{
    `axis` is the id of a loop axis. A split leaves the outer part under that id and gives the inner part the next free id.

    UPCAST a n   splits off n points that are unrolled          UNROLL a n  the same for a reduced axis
    VECTOR a n   splits off n points that are vector lanes      TILE a n    splits off an inner loop of n points
    LOCAL a n    splits off n items of the work group           GLOBAL a 0  a's points are work groups
    GROUP a n    splits a reduced axis over n items, whose partial results meet in local memory
    THREAD a n   splits a into n chunks; 0: a's points are chunks
    SWAP a b     exchanges two axes in loop order
    STAGE a b    holds what is read of buffer b inside axis a in memory of its own, in the order in which it is used;
                 for an output b, the running totals of the reduce over a
    STAGE a v3   holds value 3 inside axis a: the fourth of the kernel's operations, its stages not counted
    STAGE - b    holds it for the whole launch
    TC a n       makes the sum of products that a stage holds by matrix instructions, each of n points of `a` as rows
    DOT a n      splits off n points of a reduced axis, terms that one dot instruction adds up
    PREFETCH a b asks, a part at each step of the loops inside a, for what a's next step reads of buffer b; for an output b,
                 for where it writes
    LAYOUT a b … lays a stage's memory out along its axes in this order, the outermost first: `runs`, of which a is the
                 first; the amount says nothing
    BUFFERS a n  gives the stage that a is an axis of n buffers, so that it is filled n - 1 steps ahead
  }];
  let parameters = (ins EnumParameter<OptEnum>:$kind, "int64_t":$axis, "int64_t":$amount,
                        DefaultValuedParameter<"bool", "false">:$isValue, OptionalParameter<"::mlir::ArrayAttr">:$runs);
  let assemblyFormat = "`<` $kind `,` $axis `,` $amount (`value` $isValue^)? (`runs` $runs^)? `>`";
  let builders = [AttrBuilder<(ins "OptKind":$kind, "int64_t":$axis, "int64_t":$amount, CArg<"bool", "false">:$isValue),
    [{ return $_get($_ctxt, kind, axis, amount, isValue, ::mlir::ArrayAttr()); }]>];
  let genVerifyDecl = 1;
}

def BufferType : TypeDef<KernelDialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "device memory of one dtype";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def FuncOp : KernelOp<"func", [FunctionOpInterface, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "one launch";
  let description = [{
    Arguments: buffers, outputs first; scratch buffers that opts need come last (`scratch` lists how many elements each has for one chunk
    or work group).
    `sizes` lists the symbols that the kernel reads.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       DimsAttr:$domain, TypedArrayAttrBase<AxisAttr, "axes">:$axes, DimsAttr:$index, DimsAttr:$sizes,
                       TypedArrayAttrBase<OptAttr, "opts">:$opts, DimsAttr:$scratch);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The loop axes of the kernel's own walk, outermost first.
    ::llvm::SmallVector<AxisAttr> getLoopAxes();
    /// A loop axis of any of its walks; null: there is none of that name.
    AxisAttr getLoopAxis(int64_t id);
  }];
}

def ConstOp : PureKernelOp<"const", [AllTypesMatch<["value", "result"]>]> {
  let summary = "one number at every point";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict";
}

def LoadOp : KernelOp<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "the element of a buffer that this point of the domain reads through a view; 0 where it is masked";
  let description = [{
    The view has the domain's rank; an axis that it does not depend on may have size 1. With `row` it has one axis more, the
    last, along which `row` says which element is read: a negative one counts from the end, one out of range reads 0. It is
    `in_bounds` if neither happens at any point of the domain. `ahead` names a loop: what its next step reads is asked for, a part at each step of the loops inside. `room` says how
    many elements the buffer has, where that is more than the view reaches: what is read as a whole may go past its end.
  }];
  let arguments = (ins BufferType:$buffer, TrackerAttr:$tracker, Optional<AnyInteger>:$row, UnitAttr:$in_bounds,
                       OptionalAttr<I64Attr>:$ahead, OptionalAttr<I64Attr>:$room);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $buffer $tracker (`row` $row^ `:` type($row) (`in_bounds` $in_bounds^)?)? (`ahead` $ahead^)? (`room` $room^)? attr-dict `:` type($buffer) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$element, "::mlir::Value":$buffer, "::kiln::TrackerAttr":$tracker,
                                 CArg<"::mlir::Value", "{}">:$row),
    [{ build($_builder, $_state, element, buffer, tracker, row, /*in_bounds=*/false, /*ahead=*/{}, /*room=*/{}); }]>];
  let hasVerifier = 1;
}

def ValidOp : PureKernelOp<"valid"> {
  let summary = "true where a view has an element at this point, false where it is masked";
  let arguments = (ins TrackerAttr:$tracker);
  let results = (outs I1:$result);
  let assemblyFormat = "$tracker attr-dict";
}

def IndexOp : PureKernelOp<"index"> {
  let summary = "where a view reads at this point, as a number: the index, not what is there";
  let arguments = (ins TrackerAttr:$tracker);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tracker attr-dict `:` type($result)";
}

def SizeOp : PureKernelOp<"size"> {
  let summary = "an expression over symbols and domain axes as data";
  let arguments = (ins ExprAttr:$size);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$size attr-dict `:` type($result)";
}

def AluOp : PureKernelOp<"alu"> {
  let summary = "one element-wise operation";
  let arguments = (ins AluKindAttr:$kind, Variadic<AnyType>:$operands);
  let results = (outs AnyType:$result);
  let assemblyFormat = "custom<AluRow>($kind) $operands attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
}

def ReduceOp : PureKernelOp<"reduce", [AttrSizedOperandSegments, AllTypesMatch<["input", "result"]>]> {
  let summary = "ADD, MUL, MAX or MIN of the input over every point of loop axes";
  let description = [{
    With `score`, a sum of floats weighs each input by exp(its score - the largest score of the same sum): a softmax that
    is not divided by its total yet. One walk finds both, as what was summed is scaled down where a larger score comes.

    Where one of the axes is the items of the group, each sums up its own points, and they exchange what they have.

    With `buffer`, reduced loops may stand outside loops of the result: between their iterations the running totals are held
    in that scratch buffer, row-major over the axes `held`.
  }];
  let arguments = (ins AluKindAttr:$kind, AnyType:$input, Optional<AnyType>:$score, DenseI64ArrayAttr:$axes,
                       Optional<BufferType>:$buffer, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$held);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    custom<AluRow>($kind) $input (`scored` `by` $score^ `:` type($score))? `over` $axes (`held` $held^)?
    (`in` $buffer^ `:` type($buffer))? attr-dict `:` type($input)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::kiln::AluKindAttr":$kind,
                                 "::mlir::DenseI64ArrayAttr":$axes, CArg<"::mlir::Value", "{}">:$score),
    [{ build($_builder, $_state, input.getType(), kind, input, score, axes, ::mlir::Value(),
             $_builder.getDenseI64ArrayAttr({})); }]>];
  let hasVerifier = 1;
}

def StageOp : KernelOp<"stage", [AllTypesMatch<["input", "result"]>]> {
  let summary = "a value held in memory: computed for a part of the domain before the first of it is used";
  let description = [{
    `axes` and `index` are the stage's own walk, as the kernel's are its: domain axis i is at `index[i]`, over the stage's
    own axes and those of its readers that stand around it. At 0 of its own axes lies the beginning of what is held, the
    base; `layout` lists the dimensions of the memory from the outside in, each over one axis of the domain. A reader
    at another point finds its element by its distance from the base. Dimensions may be padded, and units of the
    rows be exchanged by `swizzle`. With `buffers` the memory is there several times, and is filled for the next steps
    of a loop while this one is computed.

    Where `buffer` is given it is that scratch buffer, private to a chunk; else it is local memory, which the items of the
    group fill together, or, where no axis is an item's, registers. `ahead` is for the load that takes the stage's place
    where it is a launch of its own.
  }];
  let arguments = (ins AnyType:$input, Optional<BufferType>:$buffer, TypedArrayAttrBase<AxisAttr, "axes">:$axes,
                       DimsAttr:$index, TypedArrayAttrBase<PartAttr, "parts">:$layout,
                       OptionalAttr<SwizzleAttr>:$swizzle, OptionalAttr<BuffersAttr>:$buffers,
                       OptionalAttr<I64Attr>:$ahead);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $input `walk` $axes `index` $index `layout` $layout (`swizzle` $swizzle^)? (`buffers` $buffers^)? (`in` $buffer^ `:` type($buffer))? (`ahead` $ahead^)? attr-dict
    `:` type($input)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The stage's own loop axes, outermost first.
    ::llvm::SmallVector<AxisAttr> getLoopAxes();
    ::llvm::SmallVector<PartAttr> getParts();
    /// The beginning of the held part, for each axis of the domain, over the axes around the stage.
    ::llvm::SmallVector<::kiln::view::Expr> getBase();
    /// How many elements the memory has, of all buffers.
    ::kiln::view::Expr getElements();
    /// How many elements one buffer has.
    ::kiln::view::Expr getBufferElements();
    int64_t getBufferCount() { return getBuffers() ? getBuffers()->getCount() : 1; }
    /// The place in memory of the element of a point of the domain, without the swizzle.
    ::kiln::view::Expr elementAt(::llvm::ArrayRef<::kiln::view::Expr> position);
    /// How far from the base the memory reaches along an axis of the domain: 1 if it does not move along it. At a point
    /// of the axes `walked` each of these has an element.
    ::kiln::view::Expr reachAlong(int64_t axis, ::llvm::ArrayRef<AxisAttr> walked = {});
  }];
}

def StoreOp : KernelOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes this point's value through a view of the domain";
  let description = [{
    `ahead` names a loop: where its next step writes is asked for once this one has written.
  }];
  let arguments = (ins AnyType:$value, BufferType:$buffer, TrackerAttr:$tracker, OptionalAttr<I64Attr>:$ahead);
  let assemblyFormat = "$value `,` $buffer $tracker (`ahead` $ahead^)? attr-dict `:` type($value) `,` type($buffer)";
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$buffer, "::kiln::TrackerAttr":$tracker),
    [{ build($_builder, $_state, value, buffer, tracker, ::mlir::IntegerAttr()); }]>];
  let hasVerifier = 1;
}

#endif
