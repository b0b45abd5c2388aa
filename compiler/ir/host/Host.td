//===- Host.td - The host dialect: the program that launches kernels -------------===//
#ifndef KILN_IR_HOST
#define KILN_IR_HOST

include "ir/base/Base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HostDialect : Dialect {
  let name = "host";
  let cppNamespace = "::kiln::host";
  let summary = "the program that runs on the host: memory, launches, and scf for control flow";
  let description = [{
    Values are slices of device memory and int64 sizes; arithmetic on sizes is `host.eval` and `arith`, control flow is
    `scf.if` and `scf.while`. Every op is one call of the runtime (kiln/program.h).
  }];
  let dependentDialects = ["::kiln::KilnDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class HostOp<string mnemonic, list<Trait> traits = []> : Op<HostDialect, mnemonic, traits>;

def SliceType : TypeDef<HostDialect, "Slice"> {
  let mnemonic = "slice";
  let summary = "device memory from some byte on";
}

def PortAttr : AttrDef<HostDialect, "Port"> {
  let mnemonic = "port";
  let summary = "an input or output: name, type, and an input's stored default";
  let parameters = (ins StringRefParameter<>:$name, "::mlir::RankedTensorType":$type,
                        OptionalParameter<"::mlir::ElementsAttr">:$value);
  let assemblyFormat = "`<` $name `,` $type (`,` $value^)? `>`";
}

def WeightAttr : AttrDef<HostDialect, "Weight"> {
  let mnemonic = "weight";
  let summary = "a constant tensor: name, type, and its data (dense elements, a #graph.file or a #graph.recipe)";
  let parameters = (ins StringRefParameter<>:$name, "::mlir::RankedTensorType":$type, "::mlir::Attribute":$data);
  let assemblyFormat = "`<` $name `,` $type `,` $data `>`";
}

def ProgramOp : HostOp<"program", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "the model: its ports, weights and symbols, and what one run does";
  let description = [{The body's arguments are the symbols' values (i64), in order; a `host.done` ends it.}];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<PortAttr, "ports">:$inputs,
                       TypedArrayAttrBase<PortAttr, "ports">:$outputs, TypedArrayAttrBase<WeightAttr, "weights">:$weights,
                       TypedArrayAttrBase<SymbolAttr, "symbols">:$symbols);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def DoneOp : HostOp<"done", [Terminator]> {
  let summary = "ends a run";
  let assemblyFormat = "attr-dict";
}

def EvalOp : HostOp<"eval", [Pure]> {
  let summary = "an expression over sizes; `values` are its variables' values in order of first occurrence";
  let arguments = (ins ExprAttr:$expr, Variadic<I64>:$values);
  let results = (outs I64:$result);
  let assemblyFormat = "$expr (`(` $values^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def InputOp : HostOp<"input"> {
  let summary = "the memory of an input";
  let arguments = (ins I64Attr:$index);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$index attr-dict";
}

def WeightOp : HostOp<"weight"> {
  let summary = "the memory of a weight";
  let arguments = (ins I64Attr:$index);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$index attr-dict";
}

def OutputOp : HostOp<"output"> {
  let summary = "memory for an output of these dims";
  let arguments = (ins I64Attr:$index, Variadic<I64>:$dims);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$index (`dims` `(` $dims^ `)`)? attr-dict";
}

def ArenaOp : HostOp<"arena"> {
  let summary = "the context's arena, at least this many bytes";
  let arguments = (ins I64:$bytes);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$bytes attr-dict";
}

def OffsetOp : HostOp<"offset", [Pure]> {
  let summary = "the slice that begins this many bytes further";
  let arguments = (ins SliceType:$slice, I64:$bytes);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$slice `,` $bytes attr-dict";
}

def AllocOp : HostOp<"alloc"> {
  let summary = "memory for a value whose lifetime control flow decides";
  let arguments = (ins I64:$bytes);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$bytes attr-dict";
}

def FreeOp : HostOp<"free"> {
  let summary = "gives back what alloc gave";
  let arguments = (ins SliceType:$slice);
  let assemblyFormat = "$slice attr-dict";
}

def CopyOp : HostOp<"copy"> {
  let summary = "copies bytes between slices that do not overlap";
  let arguments = (ins SliceType:$to, SliceType:$from, I64:$bytes);
  let assemblyFormat = "$to `,` $from `,` $bytes attr-dict";
}

def ReadOp : HostOp<"read"> {
  let summary = "waits for the device and reads one element of a dtype as an integer";
  let arguments = (ins SliceType:$from, TypeAttr:$dtype);
  let results = (outs I64:$result);
  let assemblyFormat = "$from $dtype attr-dict";
}

def WriteOp : HostOp<"write"> {
  let summary = "writes one element of a dtype";
  let arguments = (ins SliceType:$to, TypeAttr:$dtype, I64:$value);
  let assemblyFormat = "$to $dtype $value attr-dict";
}

def CheckOp : HostOp<"check"> {
  let summary = "ends the run with KILN_INVALID_ARGUMENT and this message unless the condition holds";
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition $message attr-dict";
}

def LaunchOp : HostOp<"launch", [AttrSizedOperandSegments]> {
  let summary = "one launch of a kernel";
  let description = [{
    `grid`: groups (on a CPU, chunks) along up to three axes. `operations` and `bytes` estimate the launch; `origin` names the
    source nodes, as ['dot'].
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<SliceType>:$buffers, Variadic<I64>:$sizes,
                       Variadic<I64>:$grid, I64:$operations, I64:$bytes, StrAttr:$origin);
  let assemblyFormat = [{
    $kernel `(` $buffers `)` `sizes` `(` $sizes `)` `grid` `(` $grid `)` `estimates` `(` $operations `,` $bytes `)`
    `from` $origin attr-dict
  }];
}

#endif
