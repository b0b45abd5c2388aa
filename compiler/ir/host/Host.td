//===- Host.td - The host dialect: the program that launches kernels -------------===//
//
// Kernels compute; something has to get them memory, launch them in order, read a number that decides a size or a
// branch, and loop. That is the host program. It is compiled for the host, as LLVM IR or as C, whatever the device is.
// It sees device memory as slices, which it passes on; `read` waits for the device and takes one number out. Sizes are
// plain i64 values, so memory is allocated when the symbols are known. Each launch carries the tensors that it computes
// and why it is a launch (`tensor`, `placement`): for reports, not for the run.
//
//===-----------------------------------------------------------------------------===//
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
  let summary = "memory of a device from some byte on";
  let description = [{
    Of the module's first device, or `!host.slice<1>`, of that which `kiln.devices` lists first (ir/base/Devices.h). Where
    ops make or take memory of another device than the first, ` on 1` behind them says so.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$device);
  let assemblyFormat = "(`<` $device^ `>`)?";
  let skipDefaultBuilders = 1;
  let builders = [TypeBuilder<(ins CArg<"int64_t", "0">:$device), "return Base::get($_ctxt, device);">];
}

def AliasAttr : AttrDef<HostDialect, "Alias"> {
  let mnemonic = "alias";
  let summary = "of an input the output that lies in its memory, of an output the input";
  let description = [{
    With an `axis` the memory has `capacity` elements along it, however many the tensor has; -1: it is as large as the tensor.
  }];
  let parameters = (ins "int64_t":$port, DefaultValuedParameter<"int64_t", "-1">:$axis,
                        DefaultValuedParameter<"int64_t", "0">:$capacity);
  let assemblyFormat = "`<` $port (`,` $axis^ `,` $capacity)? `>`";
}

def PortAttr : AttrDef<HostDialect, "Port"> {
  let mnemonic = "port";
  let summary = "an input or output: name, type, an input's stored default, and who shares its memory";
  let parameters = (ins StringRefParameter<>:$name, "::mlir::RankedTensorType":$type,
                        OptionalParameter<"::mlir::ElementsAttr">:$value,
                        OptionalParameter<"::kiln::host::AliasAttr">:$alias);
  let assemblyFormat = "`<` $name `,` $type (`,` $value^)? (`alias` $alias^)? `>`";
}

def WeightAttr : AttrDef<HostDialect, "Weight"> {
  let mnemonic = "weight";
  let summary = "a constant tensor: name, type, and its data (dense elements, a #graph.file or a #graph.recipe)";
  let parameters = (ins StringRefParameter<>:$name, "::mlir::RankedTensorType":$type, "::mlir::Attribute":$data);
  let assemblyFormat = "`<` $name `,` $type `,` $data `>`";
}

def ReasonEnum : I32EnumAttr<"Reason", "why a tensor is where it is", [
  I32EnumAttrCase<"Inside", 0, "inside">,     // in a register: computed inside its readers it takes less time
  I32EnumAttrCase<"Cost", 1, "cost">,         // in memory: in a kernel of its own it takes less time
  I32EnumAttrCase<"Uses", 2, "uses">,         // it would be computed in too many places
  I32EnumAttrCase<"Output", 3, "output">,     // of the model
  I32EnumAttrCase<"Control", 4, "control">,   // control flow reads it, or passes it on
  I32EnumAttrCase<"Size", 5, "size">,         // its value is a size of other tensors
  I32EnumAttrCase<"Table", 6, "table">,       // a gather reads it by index
  I32EnumAttrCase<"Assign", 7, "assign">,     // it replaces an input's value, in its memory
  I32EnumAttrCase<"Copy", 8, "copy">,         // the graph asks for a copy in order
  I32EnumAttrCase<"Expanded", 9, "expanded">, // classic: a reader repeats its elements
  I32EnumAttrCase<"Padded", 10, "padded">,    // classic: a reader pads it where zeros would not stay zeros
  I32EnumAttrCase<"Reduce", 11, "reduce">,    // classic: its readers cannot all be finished in the kernel of a reduce
  I32EnumAttrCase<"Limit", 12, "limit">,      // its readers' kernel would be too deep, or read too many tensors
  I32EnumAttrCase<"Score", 13, "score">,      // in a register: a sum over a softmax uses the score that it has just computed
  I32EnumAttrCase<"Held", 14, "held">         // in the cache: a sum over a softmax holds its scores for a block of rows
]> {
  let cppNamespace = "::kiln::host";
  let genSpecializedAttr = 0;
}

def PlacementAttr : AttrDef<HostDialect, "Placement"> {
  let mnemonic = "placement";
  let summary = "why the scheduler put a tensor where it is: #host.placement<cost, 1200, 400, 2>";
  let description = [{
    `insideNs` and `ownNs` are what the device's rates take for the tensor inside the `readers` kernels that need it, and
    in a kernel of its own with a write and reads: 0 where the reason is not such a comparison.
  }];
  let parameters = (ins EnumParameter<ReasonEnum>:$reason, DefaultValuedParameter<"int64_t", "0">:$insideNs,
                        DefaultValuedParameter<"int64_t", "0">:$ownNs, DefaultValuedParameter<"int64_t", "0">:$readers);
  let assemblyFormat = "`<` $reason (`,` $insideNs `,` $ownNs `,` $readers^)? `>`";
}

def LayoutReasonEnum : I32EnumAttr<"LayoutReason", "why a tensor's axes lie as they do", [
  I32EnumAttrCase<"Rows", 0, "rows">,       // as the model has them
  I32EnumAttrCase<"Columns", 1, "columns">, // its product has lanes along the columns of a weight
  I32EnumAttrCase<"Input", 2, "input">,     // what it is computed from lies so
  I32EnumAttrCase<"Reader", 3, "reader">    // a sum that reads it several times has lanes so
]> {
  let cppNamespace = "::kiln::host";
  let genSpecializedAttr = 0;
}

def LayoutAttr : AttrDef<HostDialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "how a tensor lies in memory: #host.layout<[2, 3, 1] because columns zeros [0, 0, 1, 1, 1, 1]>";
  let description = [{
    `order` are the axes of more than one point, the outermost first; `zeros` how many there are before and after each of
    these, in the order of the tensor's axes.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$order, EnumParameter<LayoutReasonEnum>:$reason,
                        OptionalArrayRefParameter<"int64_t">:$zeros);
  let assemblyFormat = "`<` `[` $order `]` `because` $reason (`zeros` `[` $zeros^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def TensorAttr : AttrDef<HostDialect, "Tensor"> {
  let mnemonic = "tensor";
  let summary = "a tensor of the model that a launch computes or reads";
  let description = [{
    `node` is the source node that made it and `op` what it is there: a row of Alu.def, reduce and one, gather, copy,
    assign; of a tensor that the launch only reads (Roles.h): input, weight, state (a loop's), if, loop, call, or load. `operands` are
    positions in the launch's list. `names` are the model's names of it, of views of it and of the nodes that make such views.
    `folded` are those of tensors that it stands in for with other elements, as it has taken in what followed them.
    `memory` is the same number wherever a launch writes or reads this tensor; 0: it is held in registers. `layout` is there
    where its axes lie otherwise than the model has them, or among zeros.
  }];
  let parameters = (ins StringRefParameter<>:$node, StringRefParameter<>:$op,
                        OptionalArrayRefParameter<"int64_t">:$operands,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$names,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$folded, "::mlir::RankedTensorType":$type,
                        DefaultValuedParameter<"int64_t", "0">:$memory,
                        OptionalParameter<"::kiln::host::PlacementAttr">:$placement,
                        OptionalParameter<"::kiln::host::LayoutAttr">:$layout);
  let assemblyFormat = [{
    `<` $node `,` $op (`of` ` ` `[` $operands^ `]`)? (`named` ` ` `[` $names^ `]`)?
    (`folded` ` ` `[` $folded^ `]`)? `,` $type (`memory` $memory^)?
    (`because` $placement^)? (`lies` $layout^)? `>`
  }];
  let extraClassDeclaration = [{
    /// The same tensor with another layout.
    TensorAttr lyingAs(LayoutAttr layout) const;
  }];
}

def ProgramOp : HostOp<"program", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "the model: its ports, weights and symbols, and what one run does";
  let description = [{
    The body's arguments are the symbols' values (i64), in order; a `host.done` ends it. An input or output is in memory of
    one device, that of the ops which name it; a weight is in that of each.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<PortAttr, "ports">:$inputs,
                       TypedArrayAttrBase<PortAttr, "ports">:$outputs, TypedArrayAttrBase<WeightAttr, "weights">:$weights,
                       TypedArrayAttrBase<SymbolAttr, "symbols">:$symbols);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def DoneOp : HostOp<"done", [Terminator]> {
  let summary = "ends a run";
  let assemblyFormat = "attr-dict";
}

def EvalOp : HostOp<"eval", [Pure]> {
  let summary = "an expression over sizes; `values` are its variables' values in order of first occurrence";
  let description = [{
    Where a part of it passes 64 bits the run ends with KILN_INVALID_ARGUMENT, unless nothing but an estimate depends on it.
  }];
  let arguments = (ins ExprAttr:$expr, Variadic<I64>:$values);
  let results = (outs I64:$result);
  let assemblyFormat = "$expr (`(` $values^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def InputOp : HostOp<"input"> {
  let summary = "the memory of an input";
  let arguments = (ins I64Attr:$index);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$index `` custom<Device>(type($result)) attr-dict";
}

def WeightOp : HostOp<"weight"> {
  let summary = "the memory of a weight";
  let arguments = (ins I64Attr:$index);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$index `` custom<Device>(type($result)) attr-dict";
}

def OutputOp : HostOp<"output"> {
  let summary = "memory for an output of these dims";
  let arguments = (ins I64Attr:$index, Variadic<I64>:$dims);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$index (`dims` `(` $dims^ `)`)? `` custom<Device>(type($result)) attr-dict";
}

def ArenaOp : HostOp<"arena"> {
  let summary = "the context's arena, at least this many bytes";
  let description = [{`busiest`: the kernel at which most of it is in use, for the message where there is no memory.}];
  let arguments = (ins I64:$bytes, OptionalAttr<StrAttr>:$busiest);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$bytes (`busiest` $busiest^)? `` custom<Device>(type($result)) attr-dict";
}

def ZerosOp : HostOp<"zeros"> {
  let summary = "memory that the context keeps, this many bytes: zero but for what runs of the same sizes have written";
  let description = [{
    `sizes`: those that decide which bytes runs write. `block`: the number of such memory; a program may have one for what
    it knows when it begins, and further ones for sizes that it reads.
  }];
  let arguments = (ins I64:$bytes, Variadic<I64>:$sizes, DefaultValuedAttr<I32Attr, "0">:$block);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$bytes (`sizes` `(` $sizes^ `)`)? `` custom<Device>(type($result)) attr-dict";
}

def PlanOp : HostOp<"plan"> {
  let summary = "memory in the context's arena for temporaries, placed once their sizes are known";
  let description = [{Temporary i holds its value from step first[i] to step last[i]: two that live apart may share bytes.
    `busiest` is as in host.arena, at the sizes that estimates take.}];
  let arguments = (ins Variadic<I64>:$bytes, DenseI32ArrayAttr:$first, DenseI32ArrayAttr:$last, OptionalAttr<StrAttr>:$busiest);
  let results = (outs Variadic<SliceType>:$slices);
  let assemblyFormat = "$bytes `first` $first `last` $last (`busiest` $busiest^)? attr-dict `:` type($slices)";
  let hasVerifier = 1;
}

def OffsetOp : HostOp<"offset", [Pure, AllTypesMatch<["slice", "result"]>]> {
  let summary = "the slice that begins this many bytes further";
  let arguments = (ins SliceType:$slice, I64:$bytes);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$slice `,` $bytes `` custom<Device>(type($slice)) attr-dict";
}

def AllocOp : HostOp<"alloc"> {
  let summary = "memory for a value whose lifetime control flow decides";
  let description = [{
    `halo`: the value lies among zeros that nobody writes. If it is equal for two of one size, the zeros are at the same
    places. Its expressions are over the program's sizes.
  }];
  let arguments = (ins I64:$bytes, OptionalAttr<DimsAttr>:$halo);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$bytes (`halo` $halo^)? `` custom<Device>(type($result)) attr-dict";
}

def ScratchOp : HostOp<"scratch", [Pure]> {
  let summary = "memory that a launch has once for each worker: as many bytes, for one chunk at a time";
  let description = [{
    Only the last buffers of a launch are such memory. The device has it: where, and how often, no one else knows.
  }];
  let arguments = (ins I64:$bytes);
  let results = (outs SliceType:$result);
  let assemblyFormat = "$bytes `` custom<Device>(type($result)) attr-dict";
}

def FreeOp : HostOp<"free"> {
  let summary = "gives back what alloc gave";
  let arguments = (ins SliceType:$slice);
  let assemblyFormat = "$slice `` custom<Device>(type($slice)) attr-dict";
}

def CopyOp : HostOp<"copy"> {
  let summary = "copies bytes between slices that do not overlap, maybe from one device to another";
  let arguments = (ins SliceType:$to, SliceType:$from, I64:$bytes);
  let assemblyFormat = "$to `,` $from `,` $bytes `` custom<TwoDevices>(type($to), type($from)) attr-dict";
}

def ReadOp : HostOp<"read"> {
  let summary = "waits for the device and reads one element of a dtype as an integer";
  let arguments = (ins SliceType:$from, TypeAttr:$dtype);
  let results = (outs I64:$result);
  let assemblyFormat = "$from $dtype `` custom<Device>(type($from)) attr-dict";
}

def WriteOp : HostOp<"write"> {
  let summary = "writes one element of a dtype";
  let arguments = (ins SliceType:$to, TypeAttr:$dtype, I64:$value);
  let assemblyFormat = "$to $dtype $value `` custom<Device>(type($to)) attr-dict";
}

def CheckOp : HostOp<"check"> {
  let summary = "ends the run with KILN_INDEX_ERROR and this message unless the condition holds";
  let description = [{In the message each %d stands for the next of `sizes`, and %% for a percent sign.}];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<I64>:$sizes);
  let assemblyFormat = "$condition $message (`sizes` `(` $sizes^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def LaunchOp : HostOp<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one launch of a kernel";
  let description = [{
    `grid`: groups (on a CPU, chunks) along up to three axes. `operations`, `bytes` and, from stage lower
    on, `expected` picoseconds estimate the launch; `origin` names the source nodes, as ['dot']. `tensors` is what the scheduler decided, for whoever asks: operands before what is made of
    them. It is not part of what runs. The kernel says on which device it runs, and all buffers are memory of that.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<SliceType>:$buffers, Variadic<I64>:$sizes,
                       Variadic<I64>:$grid, I64:$operations, I64:$bytes, Optional<I64>:$expected, StrAttr:$origin,
                       OptionalAttr<TypedArrayAttrBase<TensorAttr, "tensors">>:$tensors);
  let assemblyFormat = [{
    $kernel `(` $buffers `)` `sizes` `(` $sizes `)` `grid` `(` $grid `)`
    `estimates` `(` $operations `,` $bytes (`,` $expected^)? `)` `from` $origin `` custom<Devices>(ref($buffers), type($buffers)) attr-dict
  }];
}

def BatchOp : HostOp<"batch", [SingleBlock, NoTerminator]> {
  let summary = "launches that compute a sample of a batch, for each of its samples";
  let description = [{
    The body's arguments are the number of the sample and that of a slot, both less than `samples`. No sample reads what
    another writes but in its slot: samples of one slot are computed one after the other, others maybe side by side, so that
    memory between launches is a slot's, and small enough for a core's cache. All launches are on one device.
  }];
  let arguments = (ins I64Attr:$samples);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$samples attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getSample() { return getBody().front().getArgument(0); }
    ::mlir::Value getSlot() { return getBody().front().getArgument(1); }
    /// That of the launches.
    int64_t getDevice();
  }];
}

#endif
