//===- Graph.td - The graph dialect: tensors -----------------------------------===//
//
// A model's computation, before anyone asks how. Operators come in by the hundreds; this dialect has the few ops that
// they consist of: rows of Alu.def on tensors of one shape, reductions along axes, gathers, and movement, which says
// where an element comes from and costs nothing by itself. matmul is an example: both operands are expanded to [m, n,
// k], multiplied, and summed along k. So passes know no operator, and facts about a sum hold for all. Sizes may be
// symbolic everywhere, and a size may be data (bind). If and loop are the dialect's own, as their results may have
// sizes that no operand has.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_IR_GRAPH
#define KILN_IR_GRAPH

include "ir/base/Base.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def GraphDialect : Dialect {
  let name = "graph";
  let cppNamespace = "::kiln::graph";
  let summary = "tensors, their movement and the arithmetic on them";
  let description = [{
    A model is a `func.func` whose arguments are its inputs and whose results are its outputs, in declared order. Every
    op's location names the source node that it came from. Every dim of every tensor is a constant or, in the encoding, an
    expression over the module's symbols (`kiln.symbols`).

    Argument attributes: `graph.name`, `graph.value` (an input's stored default) and `graph.alias` (the output that is
    written in the input's memory). Result attribute: `graph.name`.
  }];
  let dependentDialects = ["::kiln::KilnDialect"];
  let useDefaultAttributePrinterParser = 1;
}

class GraphOp<string mnemonic, list<Trait> traits = []> : Op<GraphDialect, mnemonic, traits>;
class PureGraphOp<string mnemonic, list<Trait> traits = []> : GraphOp<mnemonic, !listconcat([Pure], traits)>;

def Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">, "tensor of known rank",
                            "::mlir::RankedTensorType">;
def TensorBool : Type<And<[Tensor.predicate,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isInteger(1)">]>, "tensor of bool",
    "::mlir::RankedTensorType">;

def AliasAttr : AttrDef<GraphDialect, "Alias"> {
  let mnemonic = "alias";
  let summary = "of an input: an output that lies in its memory";
  let description = [{
    Of one shape with the input, or longer along `axis`: then the memory that both lie in has `capacity` elements along
    it, of which each has the first, and the output is the input with elements behind it.
  }];
  let parameters = (ins "int64_t":$output, DefaultValuedParameter<"int64_t", "-1">:$axis,
                        DefaultValuedParameter<"int64_t", "0">:$capacity);
  let assemblyFormat = "`<` $output (`,` $axis^ `,` $capacity)? `>`";
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def FileAttr : AttrDef<GraphDialect, "File"> {
  let mnemonic = "file";
  let summary = "bytes of a file: little-endian, row-major";
  let parameters = (ins StringRefParameter<"relative to the model's folder">:$path, "int64_t":$offset,
                        "int64_t":$bytes, StringRefParameter<"BLAKE3 of the bytes, hexadecimal">:$hash);
  let assemblyFormat = "`<` $path `,` $offset `,` $bytes `,` $hash `>`";
}

def RecipeAttr : AttrDef<GraphDialect, "Recipe"> {
  let mnemonic = "recipe";
  let summary = "bytes that are computed at compile time: an output of a model without inputs";
  let description = [{The model is a module in the module that holds the weight, by its symbol name.}];
  let parameters = (ins StringRefParameter<"of the module">:$model, "int64_t":$output);
  let assemblyFormat = "`<` $model `,` $output `>`";
}

def ConstOp : PureGraphOp<"const"> {
  let summary = "a tensor whose every element is one number";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def WeightOp : PureGraphOp<"weight"> {
  let summary = "a constant tensor, by its data or by where its data is";
  let description = [{`data` is a dense elements attribute (small), a `#graph.file` or a `#graph.recipe`.}];
  let arguments = (ins StrAttr:$name, AnyAttr:$data);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result) `=` $data";
  let hasVerifier = 1;
}

def SizeOp : PureGraphOp<"size"> {
  let summary = "a size as data: a scalar whose value is an expression over the symbols";
  let arguments = (ins ExprAttr:$size);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$size attr-dict `:` type($result)";
}

def IotaOp : PureGraphOp<"iota"> {
  let summary = "0, 1, 2 … along the one axis of an integer tensor, wrapping at the dtype's end";
  let results = (outs Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Movement: ops that the view stage folds away
//===----------------------------------------------------------------------===//

def ReshapeOp : PureGraphOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Tensor:$input);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def PermuteOp : PureGraphOp<"permute"> {
  let summary = "axis i of the result is axis order[i] of the input";
  let arguments = (ins Tensor:$input, DenseI64ArrayAttr:$order);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input $order attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$order)>];
}

def ExpandOp : PureGraphOp<"expand"> {
  let summary = "size-1 axes repeated to the result's sizes";
  let arguments = (ins Tensor:$input);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def PadOp : PureGraphOp<"pad"> {
  let summary = "zeros before and after each axis";
  let arguments = (ins Tensor:$input, DimsAttr:$low, DimsAttr:$high);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input $low $high attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<::kiln::view::Expr>":$low,
                                 "::llvm::ArrayRef<::kiln::view::Expr>":$high)>];
}

def ShrinkOp : PureGraphOp<"shrink"> {
  let summary = "elements [begin, end) of each axis";
  let arguments = (ins Tensor:$input, DimsAttr:$begin, DimsAttr:$end);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input $begin $end attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<::kiln::view::Expr>":$begin,
                                 "::llvm::ArrayRef<::kiln::view::Expr>":$end)>];
}

def FlipOp : PureGraphOp<"flip"> {
  let summary = "the named axes reversed";
  let arguments = (ins Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input $axes attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$axes)>];
}

def ViewOp : PureGraphOp<"view"> {
  let summary = "the input's elements through a ShapeTracker; masked ones read 0";
  let arguments = (ins Tensor:$input, TrackerAttr:$tracker);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input $tracker attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

def AluOp : PureGraphOp<"alu"> {
  let summary = "one element-wise operation on tensors of one shape";
  let arguments = (ins AluKindAttr:$kind, Variadic<Tensor>:$operands);
  let results = (outs Tensor:$result);
  let assemblyFormat = "custom<AluRow>($kind) $operands attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
  let builders = [
    // The result's dtype follows from the operands by the row's rule; not for CAST and BITCAST.
    OpBuilder<(ins "::kiln::Alu":$kind, "::mlir::ValueRange":$operands)>,
    OpBuilder<(ins "::kiln::Alu":$kind, "::mlir::ValueRange":$operands, "::mlir::Type":$element)>];
}

def ReduceOp : PureGraphOp<"reduce"> {
  let summary = "ADD, MUL, MAX or MIN over axes, which stay as size 1";
  let description = [{
    Floats accumulate in their own dtype; an empty axis gives the operation's identity. With `score`, of the input's type, a
    sum weighs each input by exp(its score - the largest score of the same sum).
  }];
  let arguments = (ins AluKindAttr:$kind, Tensor:$input, Optional<Tensor>:$score, DenseI64ArrayAttr:$axes);
  let results = (outs Tensor:$result);
  let assemblyFormat = [{
    custom<AluRow>($kind) $input (`scored` `by` $score^ `:` type($score))? $axes attr-dict `:` type($input) `to` type($result)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::kiln::Alu":$kind, "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$axes,
                                 CArg<"::mlir::Value", "{}">:$score)>];
}

def ContiguousOp : PureGraphOp<"contiguous", [AllTypesMatch<["input", "result"]>]> {
  let summary = "the same tensor, held in memory of its own";
  let arguments = (ins Tensor:$input);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def RoomOp : PureGraphOp<"room"> {
  let summary = "an input with what lies behind it in its memory";
  let description = [{
    The caller's memory has `capacity` elements along `axis` and the input is the first of them. What the others are is not
    known until an assign has written them.
  }];
  let arguments = (ins Tensor:$input, I64Attr:$axis, I64Attr:$capacity);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input `axis` $axis `capacity` $capacity attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "int64_t":$axis, "int64_t":$capacity)>];
}

def AssignOp : GraphOp<"assign", [AllTypesMatch<["target", "result"]>, MemoryEffects<[MemWrite]>]> {
  let summary = "a tensor written into the memory of an input";
  let description = [{
    The result is `value`, held where `target` was. Whoever else reads `target` reads what it was before. An input is assigned
    to once at most.

    With `begin` the target is a `graph.room` and only the part of it that begins there is written; the rest is what it
    was. It lies behind the input, so nobody reads what it was before.
  }];
  let arguments = (ins Tensor:$target, Tensor:$value, OptionalAttr<DimsAttr>:$begin);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$value `to` $target (`at` $begin^)? attr-dict `:` type($value) `to` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$target, "::mlir::Value":$value,
                                 CArg<"::kiln::DimsAttr", "{}">:$begin)>];
  let hasVerifier = 1;
}

def GatherOp : PureGraphOp<"gather"> {
  let summary = "elements along one axis at indices that are data";
  let description = [{
    result[a…, i…, b…] = input[a…, indices[i…], b…] with `axis` the number of a's. A negative index counts from the end; one out
    of range reads 0.
  }];
  let arguments = (ins Tensor:$input, Tensor:$indices, I64Attr:$axis);
  let results = (outs Tensor:$result);
  let assemblyFormat = "$input `[` $indices `]` $axis attr-dict `:` type($input) `,` type($indices) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Control flow and sizes that are data
//===----------------------------------------------------------------------===//

def BindOp : GraphOp<"bind"> {
  let summary = "a symbol takes the value of a scalar, from here on";
  let description = [{
    The scalar is read by the host. A value outside the symbol's bounds ends the run with an error. Errors call the symbol by
    `meaning`, words like "the length of 'y'", if there are any.
  }];
  let arguments = (ins SymbolAttr:$symbol, Tensor:$value, OptionalAttr<StrAttr>:$meaning);
  let assemblyFormat = "$symbol $value (`means` $meaning^)? attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::kiln::SymbolAttr":$symbol, "::mlir::Value":$value,
                                 CArg<"::mlir::StringAttr", "{}">:$meaning)>];
}

def CheckOp : GraphOp<"check"> {
  let summary = "ends the run with this message unless the expression is other than 0";
  let description = [{
    What an importer took for true of sizes that are known only when the program runs. The host looks before it launches
    what the block computes.
  }];
  let arguments = (ins ExprAttr:$condition, StrAttr:$message);
  let assemblyFormat = "$condition $message attr-dict";
}

def YieldOp : GraphOp<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "what a region gives";
  let arguments = (ins Variadic<Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
}

def IfOp : GraphOp<"if", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "one of two regions, by a scalar bool";
  let description = [{
    A result's dim in which the branches differ is a symbol of the result's own (named in no other type before), bound on exit
    to the size of what the taken branch yields. Regions read values from above.
  }];
  let arguments = (ins TensorBool:$condition);
  let results = (outs Variadic<Tensor>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = "$condition `:` type($condition) `->` `(` type($results) `)` $thenRegion `else` $elseRegion attr-dict";
  let hasVerifier = 1;
}

def LoopOp : GraphOp<"loop", [SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "a counted loop with a condition, carried tensors and scan outputs";
  let description = [{
    Runs while the iteration number is below `trips` (an int64 scalar, or absent) and the condition holds (a bool scalar, or
    absent). Body arguments: the iteration number (int64 scalar), then the carried tensors. The body yields the next condition
    (bool scalar), the next carried tensors, then one slice an iteration for each scan output. Results: the carried tensors
    after the last iteration, then the scan outputs, stacked along a new first axis: the number of iterations, where it is
    known, else a symbol of the result's own.
    A carried tensor whose dims change has symbols of its own in the body's argument, bound on entry to each iteration, and in
    the result, bound on exit.
  }];
  let arguments = (ins Optional<Tensor>:$trips, Optional<TensorBool>:$condition, Variadic<Tensor>:$inits);
  let results = (outs Variadic<Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`trips` `(` $trips^ `:` type($trips) `)`)? (`while` `(` $condition^ `:` type($condition) `)`)?
    (`carry` `(` $inits^ `:` type($inits) `)`)? `->` `(` type($results) `)` $body attr-dict
  }];
  let hasVerifier = 1;
}

#endif
