//===- Target.td - The target of a module, as data -------------------------===//
//
// The device's properties decide how kernels are cut and walked: the width of its vectors, the dtypes and rows of
// Alu.def that it has instructions for, the size of its caches, how long things take. All of it is in one attribute of
// the module, kiln.target, so that a dump says what it was made for and passes have no other source. Passes ask
// targetOf (ir/base/Target.h).
//
//===------------------------------------------------------------------------===//
#ifndef KILN_IR_BASE_TARGET
#define KILN_IR_BASE_TARGET

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

/// The dialect kiln of Base.td, again: the code generated here is a file of its own, which few include.
def TargetDialect : Dialect {
  let name = "kiln";
  let cppNamespace = "::kiln";
}

class TargetPart<string name, string mnemonic_> : AttrDef<TargetDialect, name> {
  let mnemonic = mnemonic_;
}

/// A list, written in brackets; an empty one is not written.
class ListParameter<string element> : OptionalArrayRefParameter<element>;
/// A name; "" is not written.
def NameParameter : StringRefParameter<"", [{""}]>;

def RatesAttr : TargetPart<"Rates", "rates"> {
  let summary = "what a device does in a nanosecond, all of its units together: enough to choose between two schedules";
  let parameters = (ins
    "::kiln::Rate":$bytes_per_ns,       // between memory and the device
    "::kiln::Rate":$ops_per_ns,         // element-wise operations
    "::kiln::Rate":$product_ops_per_ns, // multiplications and additions of a sum of products
    "::kiln::Rate":$launch_ns,          // beginning and ending a kernel
    "::kiln::Rate":$units,              // how many rows of a reduction it works on at once
    "::kiln::Rate":$tile_reuse);        // how often a register tile uses an operand's element that is at hand
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Those of a CPU's core about which nothing else is known.
    static RatesAttr typical(::mlir::MLIRContext *context);
    /// As --rates names them: bytes-per-ns, ops-per-ns …
    static ::llvm::ArrayRef<::llvm::StringLiteral> names();
    /// These, one of them replaced. `name` is one of `names`.
    RatesAttr with(::llvm::StringRef name, Rate value) const;
  }];
}

def VectorsAttr : TargetPart<"Vectors", "vectors"> {
  let summary = "vector registers: how many hold totals and vectors of operands, and in which widths, in bits, from narrow to wide";
  let description = [{`lookups`: each byte of a vector finds another in a table of 256 by a few instructions.}];
  let parameters = (ins "int64_t":$registers, ArrayRefParameter<"int64_t">:$widths,
                        DefaultValuedParameter<"bool", "false">:$lookups);
  let assemblyFormat = "`<` struct($registers, custom<List>($widths), $lookups) `>`";
  let genVerifyDecl = 1;
}

def CacheAttr : TargetPart<"Cache", "cache"> {
  let summary = "a data cache: of one core, or shared by all of them";
  let parameters = (ins "int64_t":$bytes, DefaultValuedParameter<"bool", "false">:$shared);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def GroupsAttr : TargetPart<"Groups", "groups"> {
  let summary = "work groups: the most items of one, and the bytes of its local memory";
  let description = [{
    `warp` items, neighbours along a group's first axis, give each other values without memory (uop.shuffle); 1: none do.
    `meets_in_branches`: the device's compiler makes correct code of barriers inside a branch that all items of a group take
    the same way.
  }];
  let parameters = (ins "int64_t":$items, "int64_t":$local_bytes, DefaultValuedParameter<"int64_t", "1">:$warp,
                        DefaultValuedParameter<"bool", "false">:$meets_in_branches);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ProductAttr : TargetPart<"Product", "product"> {
  let summary = "an instruction that adds an m × k matrix times a k × n one to an m × n one";
  let description = [{
    A row of Products.def. A dot instruction of vectors has m = 1: each of its n lanes adds k products. It takes as long
    as `steps` multiply-adds of a vector; 0: that is not known, and nothing is made of it.
    `#kiln.product<"vdpbf16ps", bf16 * bf16 -> f32, m = 1, n = 16, k = 2, steps = 1>`
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$a, "::mlir::Type":$b, "::mlir::Type":$sum,
                        "int64_t":$m, "int64_t":$n, "int64_t":$k, DefaultValuedParameter<"int64_t", "0">:$steps);
  let assemblyFormat = "`<` $name `,` $a `*` $b `->` $sum `,` struct($m, $n, $k, $steps) `>`";
  let genVerifyDecl = 1;
}

def TargetAttr : TargetPart<"Target", "target"> {
  let summary = "the device and the CPU that a module is compiled for, and what they are like";
  let description = [{
    Vectors, groups, caches, products: what is not written the device does not have. Dtypes and rows of Alu.def are the
    other way round: those that are not named are native.
  }];
  let parameters = (ins
    StringRefParameter<>:$device,              // the name for --device; "" if none has been chosen
    NameParameter:$cpu,                        // of the host's code, as LLVM names it; "" where a C compiler chooses it
    NameParameter:$features,                   // differences from the name's: "-avx512f,+f16c"
    OptionalParameter<"::kiln::VectorsAttr">:$vectors,
    ListParameter<"::kiln::ProductAttr">:$products, // dot and matrix instructions
    ListParameter<"::mlir::Type">:$stores,     // dtypes that it converts by instructions, and computes in another
    ListParameter<"::mlir::Type">:$emulates,   // dtypes that it cannot even convert
    ListParameter<"::kiln::Alu">:$lacks,       // rows of Alu.def that are not an instruction, but several or a call
    DefaultValuedParameter<"bool", "false">:$fma, // a product and a sum, rounded once, are one instruction
    ListParameter<"::kiln::CacheAttr">:$caches,   // from the nearest outwards
    OptionalParameter<"::kiln::GroupsAttr">:$groups, // not written: launches are cut into chunks
    DefaultValuedParameter<"int64_t", "0">:$chunks,  // that a launch is worth being cut into; 0: it is never cut
    DefaultValuedParameter<"int64_t", "0">:$panel, // the fewest bytes of a row in a panel that code for several CPUs
                                                   // reads; 0: none does
    "::kiln::RatesAttr":$rates);
  let assemblyFormat = [{
    `<` struct($device, $cpu, $features, $vectors, custom<List>($products), custom<List>($stores),
               custom<List>($emulates), custom<List>($lacks), $fma, custom<List>($caches), $groups, $chunks, $panel,
               $rates) `>`
  }];
  let extraClassDeclaration = [{
    /// No device in particular: no vectors, no groups, no caches, typical rates.
    static TargetAttr unknown(::mlir::MLIRContext *context);

    int64_t vectorBits() const;      ///< of the widest vectors; 0 if there are none
    int64_t vectorRegisters() const; ///< 0 if there are none
    bool hasLookups() const;         ///< of the bytes of a vector in a table of 256
    int64_t cacheBytes(unsigned level) const; ///< of the first level, the second …; 0 if there is none
    /// Whether launches are work groups of items, as on a GPU; else they are cut into chunks.
    bool hasGroups() const;
    int64_t maxItems() const;        ///< of a work group; 0 if there are none
    int64_t localBytes() const;      ///< of a work group
    int64_t warpItems() const;       ///< items that exchange values without memory; 1 if none do
    bool meetsInBranches() const;    ///< whether a work group, which opts by hand may make, meets at barriers in branches
    bool isNative(Alu row) const { return !::llvm::is_contained(getLacks(), row); }
    /// Whether it computes in the dtype, without converting to another one.
    bool isNative(::mlir::Type dtype) const;

    /// The instruction that multiplies matrices of these dtypes and adds them up in the third; null: there is none.
    ProductAttr matrixProduct(::mlir::Type a, ::mlir::Type b, ::mlir::Type sum) const;
    /// The dot instruction of vectors for these dtypes in either order, since each operand may be spread over the lanes;
    /// null where the target has no such instruction.
    ProductAttr dotProduct(::mlir::Type a, ::mlir::Type b, ::mlir::Type sum) const;
    /// The one of these two that is faster than multiply-adds of widened operands; null: none is.
    ProductAttr fastProduct(::mlir::Type a, ::mlir::Type b, ::mlir::Type sum) const;

    TargetAttr withCpu(::llvm::StringRef cpu, ::llvm::StringRef features) const;
    TargetAttr withPanel(int64_t bytes) const;
    TargetAttr withRates(RatesAttr rates) const;
  }];
}

#endif
