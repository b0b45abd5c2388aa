//===- UOp.td - The uop dialect: what one item of a launch executes ------------===//
//
// The code of one item of a work group, or one chunk on a CPU: loops, pointers, vectors and conditions. All devices'
// renderers take these same ops. tinygrad lists its uops in one flat sequence, in which accumulators are assigned; here
// a range is a region that carries values from one iteration to the next, so that each value has one definition, and
// that listing is printed from it (render/kernel/Linear.h). Vectors are loaded as neighbours from a scalar pointer.
// Accesses that may be outside memory have a gate, or are in an `if`.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_IR_UOP
#define KILN_IR_UOP

include "ir/base/Base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def UOpDialect : Dialect {
  let name = "uop";
  let cppNamespace = "::kiln::uop";
  let summary = "scalar and vector code of one kernel, the same for every device";
  let dependentDialects = ["::kiln::KilnDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class UOp<string mnemonic, list<Trait> traits = []> : Op<UOpDialect, mnemonic, traits>;
class PureUOp<string mnemonic, list<Trait> traits = []> : UOp<mnemonic, !listconcat([Pure], traits)>;

def MemoryEnum : I32EnumAttr<"Memory", "where a pointer's elements live", [
  I32EnumAttrCase<"Global", 0, "global">,
  I32EnumAttrCase<"Local", 1, "local">,        // shared by the items of a work group
  I32EnumAttrCase<"Register", 2, "register">   // of one item
]> {
  let cppNamespace = "::kiln::uop";
  let genSpecializedAttr = 0;
}

def PtrType : TypeDef<UOpDialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "pointer to elements of one dtype";
  let parameters = (ins "::mlir::Type":$element, EnumParameter<MemoryEnum>:$memory);
  let assemblyFormat = "`<` $element `,` $memory `>`";
}

def SpecialEnum : I32EnumAttr<"SpecialKind", "which index a special is", [
  I32EnumAttrCase<"Group", 0, "group">,  // the work group's; gidx in listings
  I32EnumAttrCase<"Local", 1, "local">,  // the item's within its group; lidx
  I32EnumAttrCase<"Chunk", 2, "chunk">   // a CPU launch's chunk
]> {
  let cppNamespace = "::kiln::uop";
  let genSpecializedAttr = 0;
}
def SpecialKindAttr : EnumAttr<UOpDialect, SpecialEnum, "special">;

def IndexInteger : AnyTypeOf<[I32, I64], "an index">;

def FuncOp : UOp<"func", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a kernel: pointers, then the sizes that it needs";
  let description = [{
    Arguments are global pointers (outputs first), then an index for each entry of `sizes`. A work group has
    `local` items along each of up to three axes; a launch has `grid` groups (expressions over the sizes). On a CPU `local` is
    all ones and a group is a chunk. `operations` and `bytes` estimate one whole launch.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       DimsAttr:$sizes, DimsAttr:$grid, DenseI64ArrayAttr:$local, ExprAttr:$operations, ExprAttr:$bytes);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The number of pointer arguments.
    unsigned getBufferCount();
    /// Whether a store writes through the pointer argument `index`.
    bool writes(unsigned index);
  }];
}

def YieldOp : UOp<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a body; in a range, gives the carried values of the next iteration";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
}

def ConstOp : PureUOp<"const", [AllTypesMatch<["value", "result"]>]> {
  let summary = "a scalar, or a matrix of one number";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict";
}

def SpecialOp : PureUOp<"special"> {
  let summary = "the index of this item along one axis of the launch";
  let arguments = (ins SpecialKindAttr:$kind, I64Attr:$axis, ExprAttr:$size);
  let results = (outs IndexInteger:$result);
  let assemblyFormat = "`` $kind $axis $size attr-dict `:` type($result)"; // the enum prints a space of its own
}

def RangeOp : UOp<"range", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a loop over [from, to) with carried values";
  let description = [{
    Body arguments: the index, then the carried values. `axis` numbers the loop in listings; `reduce` says that it is a
    reduction's.
  }];
  let arguments = (ins IndexInteger:$from, IndexInteger:$to, Variadic<AnyType>:$inits, I64Attr:$axis, UnitAttr:$reduce);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$from, "::mlir::Value":$to, "::mlir::ValueRange":$inits,
                                 "int64_t":$axis, "bool":$reduce)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getIndex() { return getBody().front().getArgument(0); }
    ::mlir::ValueRange getCarried() { return getBody().front().getArguments().drop_front(); }
    YieldOp getYield();
  }];
}

def IfOp : UOp<"if", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "stores under a condition; the second region, where there is one, otherwise";
  let arguments = (ins I1:$condition);
  let regions = (region SizedRegion<1>:$thenRegion, MaxSizedRegion<1>:$elseRegion);
  let assemblyFormat = "$condition $thenRegion (`else` $elseRegion^)? attr-dict";
}

def LoadOp : UOp<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "one element, or as many neighbours as the result has lanes";
  let description = [{
    With a gate (a bool, or one per lane) nothing is read where it is false, and the result is `otherwise` there.
  }];
  let arguments = (ins PtrType:$pointer, IndexInteger:$index, Optional<AnyType>:$gate, Optional<AnyType>:$otherwise);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $pointer `[` $index `:` type($index) `]` (`gate` $gate^ `:` type($gate) `else` $otherwise `:` type($otherwise))?
    attr-dict `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def StoreOp : UOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "one element, or as many neighbours as the value has lanes; nothing where the gate is false";
  let arguments = (ins AnyType:$value, PtrType:$pointer, IndexInteger:$index, Optional<AnyType>:$gate);
  let assemblyFormat = [{
    $value `,` $pointer `[` $index `:` type($index) `]` (`gate` $gate^ `:` type($gate))? attr-dict
    `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

def AluOp : PureUOp<"alu"> {
  let summary = "one element-wise operation on scalars, or on vectors of equal lanes";
  let arguments = (ins AluKindAttr:$kind, Variadic<AnyType>:$operands);
  let results = (outs AnyType:$result);
  let assemblyFormat = "custom<AluRow>($kind) $operands attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
}

def FmaOp : PureUOp<"fma", [AllTypesMatch<["a", "b", "c", "result"]>]> {
  let summary = "a*b + c with one rounding: the only contraction there is";
  let arguments = (ins AnyType:$a, AnyType:$b, AnyType:$c);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}

def VectorizeOp : PureUOp<"vectorize"> {
  let summary = "a vector of the operands, one per lane; one operand alone fills every lane";
  let arguments = (ins Variadic<AnyType>:$lanes);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$lanes attr-dict `:` type($lanes) `->` type($result)";
  let hasVerifier = 1;
}

def GepOp : PureUOp<"gep"> {
  let summary = "one lane of a vector, or as many as the result has from that lane on";
  let arguments = (ins AnyVectorOfNonZeroRank:$vector, I64Attr:$lane);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$vector `[` $lane `]` attr-dict `:` type($vector) `->` type($result)";
  let hasVerifier = 1;
}

def DefineOp : UOp<"define", [MemoryEffects<[MemAlloc]>]> {
  let summary = "memory of the group (local) or of the item (register), aligned to 64 bytes, its content undefined";
  let arguments = (ins StrAttr:$name, I64Attr:$elements);
  let results = (outs PtrType:$result);
  let assemblyFormat = "$name $elements attr-dict `:` type($result)";
}

def PrefetchOp : UOp<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "asks for an element that will be read, or written, soon; a hint, and no fault where there is none";
  let arguments = (ins PtrType:$pointer, IndexInteger:$index, UnitAttr:$toWrite);
  let assemblyFormat = "$pointer `[` $index `:` type($index) `]` attr-dict `:` type($pointer)";
}

/// rows × columns, row by row; of the right operand of a product, k/p × (n·p), with p neighbours of a column together.
def MatrixValue : VectorOfRankAndType<[2], [AnyType]>;

def LoadMatrixOp : UOp<"load_matrix", [MemoryEffects<[MemRead]>]> {
  let summary = "a matrix whose rows lie `pitch` elements apart, each of them neighbours";
  let arguments = (ins PtrType:$pointer, IndexInteger:$index, IndexInteger:$pitch);
  let results = (outs MatrixValue:$result);
  let assemblyFormat = [{
    $pointer `[` $index `:` type($index) `]` `pitch` $pitch `:` type($pitch) attr-dict `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def StoreMatrixOp : UOp<"store_matrix", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a matrix, its rows `pitch` elements apart";
  let arguments = (ins MatrixValue:$value, PtrType:$pointer, IndexInteger:$index, IndexInteger:$pitch);
  let assemblyFormat = [{
    $value `,` $pointer `[` $index `:` type($index) `]` `pitch` $pitch `:` type($pitch) attr-dict
    `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

def WmmaOp : PureUOp<"wmma", [AllTypesMatch<["sum", "result"]>]> {
  let summary = "sum + a × b by the matrix instruction `name` of the target";
  let description = [{
    a is m × k, the sum m × n. b is k/p × (n·p): p, which follows from its shape, terms of a column lie side by side, as
    they do in a row of a.
  }];
  let arguments = (ins StrAttr:$name, MatrixValue:$a, MatrixValue:$b, MatrixValue:$sum);
  let results = (outs MatrixValue:$result);
  let assemblyFormat = "$name $a `,` $b `,` $sum attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}

def DotOp : PureUOp<"dot", [AllTypesMatch<["sum", "result"]>]> {
  let summary = "each lane of the sum plus its terms of a times those of b, by the dot instruction `name` of the target";
  let description = [{
    Each lane has p terms of a and of b, which lie side by side: p elements for each lane, one lane after the other. An
    operand of p elements gives all lanes the same ones.
    `%new = uop.dot "vdpbf16ps" %a, %b, %sum : vector<2xbf16>, vector<32xbf16> -> vector<16xf32>`
  }];
  let arguments = (ins StrAttr:$name, AnyVectorOfNonZeroRank:$a, AnyVectorOfNonZeroRank:$b, AnyVectorOfNonZeroRank:$sum);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$name $a `,` $b `,` $sum attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many terms a lane has.
    int64_t getTerms();
  }];
}

def LookupOp : UOp<"lookup", [MemoryEffects<[MemRead]>]> {
  let summary = "for each lane the element of a table of 256 bytes whose number the index's byte is";
  let description = [{
    A byte with a sign is the number that its bits are without one. Only vectors are looked up so, on a target that has
    `lookups`: `%y = uop.lookup %table[%x] : <ui8, global>, vector<64xi8> -> vector<64xui8>`
  }];
  let arguments = (ins PtrType:$table, AnyVectorOfNonZeroRank:$index);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$table `[` $index `]` attr-dict `:` type($table) `,` type($index) `->` type($result)";
  let hasVerifier = 1;
}

def BarrierOp : UOp<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "every item of the group waits here, and sees what the others wrote before";
  let assemblyFormat = "attr-dict";
}

def ShuffleOp : UOp<"shuffle", [AllTypesMatch<["value", "result"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the value of the item whose first index in the group differs in one bit";
  let description = [{
    Every item of the group comes here, as to a barrier, but memory is not ordered by it. The group's items along its first
    axis are a multiple of 2 * `bit`, so that there always is such an item. `%sum = uop.shuffle %mine xor 16 : f32`
  }];
  let arguments = (ins AnyType:$value, I64Attr:$bit);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `xor` $bit attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
