//===- Passes.td - Every pass of the pipeline ---------------------------------===//
//
// A pass's work is hard to tell from its name and harder from its code. So each one's description shows a small
// example, the IR before and ⇒ after it, in the dialects' words but shortened: operands in place of names, types
// left out. `tools/check passes` refuses a pass without it. The passes are grouped by stage here. Pipeline.cpp
// says which of them run, in which order and why; the head of each .cpp file says what its pass expects and
// guarantees.
//
//===--------------------------------------------------------------------------===//
#ifndef KILN_PASSES
#define KILN_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// view: graph → graph
//===----------------------------------------------------------------------===//

def AssignAliases : Pass<"kiln-assign-aliases", "::mlir::ModuleOp"> {
  let summary = "write outputs that lie in an input's memory there";
  let description = [{
    pad(%past, behind) + pad(%step, before), the output, where %past has graph.alias = <output 0, axis 1, capacity 8>
    ⇒ graph.assign %step to (graph.room %past axis 1 capacity 8) at [0, n], and the output is a graph.shrink of that
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def FoldMovement : Pass<"kiln-fold-movement", "::mlir::ModuleOp"> {
  let summary = "turn chains of movement ops into one view per edge";
  let description = [{
    %0 = graph.reshape %x : tensor<4xf32> to tensor<1x4xf32>;  %1 = graph.expand %0 : to tensor<2x4xf32>
    ⇒ %1 = graph.view %x <"(2,4):(0,1)"> : tensor<4xf32> to tensor<2x4xf32>
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

//===----------------------------------------------------------------------===//
// schedule: graph → host + kernel
//===----------------------------------------------------------------------===//

def ShrinkConstants : Pass<"kiln-shrink-constants", "::mlir::ModuleOp"> {
  let summary = "compute what is constant only at the points where it differs";
  let description = [{
    %1 = graph.view %w <"(64,1000):(1,0)">;  %2 = graph.alu sqrt %1 : tensor<64x1000xf32>
    ⇒ %1 = graph.alu sqrt %w : tensor<64xf32>;  %2 = graph.view %1 <"(64,1000):(1,0)">
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def DropIdentities : Pass<"kiln-drop-identities", "::mlir::ModuleOp"> {
  let summary = "drop what gives each byte itself";
  let description = [{
    graph.alu cast (graph.alu round (graph.alu fdiv (graph.alu mul (graph.alu cast %x : ui8 → f32), 0.1), 0.1)) : f32 → ui8
    ⇒ %x
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def GatherNarrow : Pass<"kiln-gather-narrow", "::mlir::ModuleOp"> {
  let summary = "gather rows of a table before they are widened";
  let description = [{
    graph.gather (graph.alu mul (graph.alu cast %w : ui8 → f32), 0.1)[%i] 0
    ⇒ graph.alu mul (graph.alu cast (graph.gather %w[%i] 0) : ui8 → f32), 0.1
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def SumByBlocks : Pass<"kiln-sum-by-blocks", "::mlir::ModuleOp"> {
  let summary = "multiply by scales that stand still along blocks once for each block";
  let description = [{
    graph.reduce add (graph.alu mul %x, (graph.alu mul (graph.alu cast %w : i8 → f32), %s)), %s of one number for 32 terms
    ⇒ graph.reduce add (graph.alu mul (graph.reduce add (graph.alu mul %x, (graph.alu cast %w : i8 → f32))), %s)
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def NarrowBytes : Pass<"kiln-narrow-bytes", "::mlir::ModuleOp"> {
  let summary = "take zero points of 128 from the bytes of products";
  let description = [{
    graph.reduce add (graph.alu mul (graph.alu add (graph.alu cast %x : i8 → i32), 128), %w)
    ⇒ graph.reduce add (graph.alu mul (graph.alu cast (graph.alu add (graph.alu cast %x : i8 → ui8), 128) : ui8 → i32), %w)
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def MultiplyBytes : Pass<"kiln-multiply-bytes", "::mlir::ModuleOp"> {
  let summary = "multiply bytes as they are, and take their zero points from the sums";
  let description = [{
    %1 = graph.alu cast %x : ui8 → i32;  %2 = graph.alu add %1, -128;  graph.reduce add (graph.alu mul %2, %w)
    ⇒ graph.alu add (graph.reduce add (graph.alu mul %1, %w)), (graph.alu mul (graph.reduce add %w), -128)
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def NarrowIntegers : Pass<"kiln-narrow-integers", "::mlir::ModuleOp"> {
  let summary = "multiply integers in the dtype that an instruction takes, if their bounds allow it";
  let description = [{
    %1 = graph.alu cast %x : ui8 → i32;  %2 = graph.alu add %1, -128;  graph.reduce add (graph.alu mul %2, %w)
    ⇒ %1 = graph.alu cast %x : ui8 → i16;  %2 = graph.alu add %1, -128;  %3 = graph.alu cast %2 : i16 → i32;
      graph.reduce add (graph.alu mul %3, …)
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def JoinSlices : Pass<"kiln-join-slices", "::mlir::ModuleOp"> {
  let summary = "multiply slices of a tensor by one matrix in one product";
  let description = [{
    graph.reduce add (graph.alu mul %a, %w) and graph.reduce add (graph.alu mul %b, %w), where %a and %b are two slices of %x
    ⇒ graph.reduce add (graph.alu mul (graph.view %x <"(2,400,4096):(1,0,20)">), …), and two views of it
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def FoldScales : Pass<"kiln-fold-scales", "::mlir::ModuleOp"> {
  let summary = "move constant factors into the weights of the sums that they follow";
  let description = [{
    graph.alu mul (graph.reduce add (graph.alu mul %x, %w)), %s, where %s moves only along axes along which %w moves
    ⇒ graph.reduce add (graph.alu mul %x, (graph.alu mul %w, %s)), whose second factor is known at compile time
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def Winograd : Pass<"kiln-winograd", "::mlir::ModuleOp"> {
  let summary = "sum up windows of three by three with fewer multiplications, where that is faster";
  let description = [{
    graph.reduce add (graph.alu mul %x, %w), where %x moves along two axes of the result as along two of the sum
    ⇒ graph.reduce add (graph.alu mul %v, %u), where %v are sums along tiles of %x and %u is known at compile time; and sums
    along tiles of that
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
  let options = [Option<"outputs", "outputs", "int64_t", "2", "that a tile has along each axis: 2 or 4">];
}

def JoinTaps : Pass<"kiln-join-taps", "::mlir::ModuleOp"> {
  let summary = "sum up windows over few channels along taps and channels as one axis, where an instruction can then";
  let description = [{
    graph.reduce add (graph.alu mul %x, %w) over [1, 2, 3], where %x moves along 3 channels and lines of 7 taps
    ⇒ graph.reduce add (graph.alu mul %v, %u) over [2, 3], where %v sees 7 taps of 4 channels each of a copy of %x with channels
    innermost as one axis of 28, and %u is known at compile time
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def MakeRecipes : Pass<"kiln-make-recipes", "::mlir::ModuleOp"> {
  let summary = "make a weight of each tensor that is known at compile time, and a module that computes it";
  let description = [{
    %1 = graph.alu mul %w, %s, both weights
    ⇒ %1 = graph.weight "…" = #graph.recipe<"recipe_0", 0>, and a module @recipe_0 that computes it
  }];
  let dependentDialects = ["::kiln::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

def FormKernels : Pass<"kiln-form-kernels", "::mlir::ModuleOp"> {
  let summary = "partition the graph into kernels and write the host program that launches them";
  let description = [{
    %0 = graph.alu mul %x, %y;  %1 = graph.reduce add %0 [0];  return %1
    ⇒ host.launch @r_2(%out, %x, %y) in a host.program, and kernel.func @r_2 with load, load, mul, reduce add and store
  }];
  let dependentDialects = ["::kiln::kernel::KernelDialect", "::kiln::host::HostDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [Option<"classic", "classic", "bool", "false", "tinygrad v0.9.2's rules">];
}

//===----------------------------------------------------------------------===//
// optimize: kernel → kernel
//===----------------------------------------------------------------------===//

def CollapseSums : Pass<"kiln-collapse-sums", "::mlir::ModuleOp"> {
  let summary = "turn sums of one number over a range into a product";
  let description = [{
    kernel.reduce add (where %valid, 1, 0) over [1], where %valid holds for the points k <= i of axis 1
    ⇒ kernel.index <i> + 1
  }];
}

def CopyPaddedInputs : Pass<"kiln-copy-padded-inputs", "::mlir::ModuleOp"> {
  let summary = "copy inputs that products pad, so that they can lie among zeros";
  let description = [{
    host.launch @product(%out, %input, %weight), whose load of %input is masked
    ⇒ host.launch @copy(%temporary, %input);  host.launch @product(%out, %temporary, %weight)
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AssignLayouts : Pass<"kiln-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "choose the order in which temporaries lie in memory, and the zeros around them";
  let description = [{
    kernel.store %sum, %temporary <"(64,56,56):(3136,56,1)">, of a product whose weight moves along the first axis
    ⇒ kernel.store %sum, %temporary <"(56,56,64):(3584,64,1)">, and its readers' views strided to match
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlaceParts : Pass<"kiln-place-parts", "::mlir::ModuleOp"> {
  let summary = "what a kernel only joins is written where it would copy it";
  let description = [{
    host.launch @a(%t0);  host.launch @b(%t1);  host.launch @join(%whole, %t0, %t1)
    ⇒ host.launch @a(%whole);  host.launch @b(%whole), each through a view of its part
  }];
}

def StoreParts : Pass<"kiln-store-parts", "::mlir::ModuleOp"> {
  let summary = "of what a kernel only copies a part of, no more is stored, where that is wanted";
  let description = [{
    host.launch @a(%t);  host.launch @copy(%y, %t)
    ⇒ host.launch @a(%y), whose store has a mask
  }];
}

def WalkBatch : Pass<"kiln-walk-batch", "::mlir::ModuleOp"> {
  let summary = "compute a batch sample by sample where what kernels pass on is too large for the caches";
  let description = [{
    host.launch @r(%t, %x, %w);  host.launch @E(%y, %t), over 8 samples that %t has 4 MB of
    ⇒ host.batch 8 { (%sample, %slot): host.launch @r(%t, %x + %sample, %w);  host.launch @E(%y + %sample, %t) }, with %t of one
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NormalizeAxes : Pass<"kiln-normalize-axes", "::mlir::ModuleOp"> {
  let summary = "reduced axes last, no axis of size 1, neighbours that every view walks as one merged";
  let description = [{
    domain (1, 5, 3, 8), of which the axis of 5 is reduced
    ⇒ domain (24, 5)
  }];
}

def FoldArithmetic : Pass<"kiln-fold-arithmetic", "::mlir::ModuleOp"> {
  let summary = "compute what is known of a kernel's arithmetic";
  let description = [{
    kernel.alu max (kernel.alu mul %x, 1), (kernel.alu mul %x, 1)
    ⇒ %x
  }];
  let options = [Option<"reals", "reals", "bool", "false",
                        "take floats for real numbers: reassociate, and cancel what is subtracted from itself">];
}

def BoundRows : Pass<"kiln-bound-rows", "::mlir::ModuleOp"> {
  let summary = "note which gathers read no row out of range, by the numbers in their tables";
  let description = [{
    kernel.load %x <"(8,4):(0,1)"> row %i : i64 : <f32> -> f32, where %i is loaded from a weight of numbers from 0 to 3
    ⇒ kernel.load %x <"(8,4):(0,1)"> row %i : i64 in_bounds : <f32> -> f32
  }];
}

def SplitByRepeats : Pass<"kiln-split-by-repeats", "::mlir::ModuleOp"> {
  let summary = "launch one of two kernels where only the run knows whether an axis is repeated";
  let description = [{
    host.launch @E(%out, %x, %y) sizes(%n, %step), of %x of 1 + step·(n - 1) elements
    ⇒ scf.if (%step != 1) { host.launch @En1(%out, %x, %y) sizes(%n, %step) } else { host.launch @E(%out, %x, %y) sizes(%n) }
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SplitByRows : Pass<"kiln-split-by-rows", "::mlir::ModuleOp"> {
  let summary = "launch one of two kernels where rows may be few or many";
  let description = [{
    host.launch @r(%out, %x, %y) sizes(%n), a product of n rows
    ⇒ scf.if (%n < 16) { host.launch @rn1(%out, %x, %y) sizes(%n) } else { host.launch @r(%out, %x, %y) sizes(%n) }
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def OptimizeKernels : Pass<"kiln-optimize-kernels", "::mlir::ModuleOp"> {
  let summary = "choose each kernel's opts and apply them";
  let description = [{
    axes = [0: 10, loop], index = ["_x0"], opts = []
    ⇒ axes = [0: 3, loop; 1: 4, upcast], index = ["_x0*4+_x1"], opts = [UPCAST 0 4]
  }];
  let options = [Option<"noOpt", "no-opt", "bool", "false", "leave every kernel as it is">,
                 Option<"opts", "opts", "std::string", "", "opts by hand, a line for each kernel: NAME: UPCAST 0 4, …">,
                 Option<"optsPath", "opts-path", "std::string", "\"opts\"", "the file that they are from, for errors">,
                 Option<"isLast", "last", "bool", "false", "no kernels are to come: each line names one">];
}

def SplitLaunches : Pass<"kiln-split-launches", "::mlir::ModuleOp"> {
  let summary = "make a kernel of each stage that all chunks share, and a weight of what is made of weights";
  let description = [{
    host.launch @r(%out, %x, %y), whose stage of %y begins at the same place for all chunks
    ⇒ host.launch @E(%panels, %y);  host.launch @r(%out, %x, %panels)
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PassScratch : Pass<"kiln-pass-scratch", "::mlir::ModuleOp"> {
  let summary = "give launches the memory that their kernels' stages want";
  let description = [{
    host.launch @r(%out, %x), of 4 chunks, each with 1024 numbers of scratch
    ⇒ %scratch = host.scratch 4096;  host.launch @r(%out, %x, %scratch)
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ReuseInputs : Pass<"kiln-reuse-inputs", "::mlir::ModuleOp"> {
  let summary = "write a result where an input that ends with it was";
  let description = [{
    host.launch @E(%t1, %t0), which reads %t0 where it writes %t1, and is the last to read it
    ⇒ host.launch @E(%t0)
  }];
}

def PlanMemory : Pass<"kiln-plan-memory", "::mlir::ModuleOp"> {
  let summary = "place temporaries in one arena by their lifetimes";
  let description = [{
    %0 = host.alloc 4096;  %1 = host.alloc 4096, which never live at once
    ⇒ %arena = host.arena 4096;  %0 = host.offset %arena 0;  %1 = host.offset %arena 0
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// lower: kernel → uop
//===----------------------------------------------------------------------===//

def LowerKernels : Pass<"kiln-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "write each kernel as the loops and vectors of one item";
  let description = [{
    kernel.store (kernel.alu neg (kernel.load %x)), %out, in a kernel.func over 10 points
    ⇒ uop.range i = 0 to 10 { uop.store (uop.alu neg (uop.load %x[i])), %out[i] }, in a uop.func
  }];
  let dependentDialects = ["::kiln::uop::UOpDialect", "::mlir::arith::ArithDialect"];
}

def TabulateBytes : Pass<"kiln-tabulate-bytes", "::mlir::ModuleOp"> {
  let summary = "look up bytes that follow from one byte alone";
  let description = [{
    uop.alu cast (round (… (uop.alu cast %x))), which makes a vector<16xui8> of %x, a vector<16xui8>
    ⇒ uop.lookup %table[%x]; its launches pass the 256 results as a weight
  }];
  let dependentDialects = ["::kiln::uop::UOpDialect"];
}

def RewriteUOps : Pass<"kiln-rewrite-uops", "::mlir::ModuleOp"> {
  let summary = "fit each kernel's uops to the device, by named sets of patterns";
  let description = [{
    uop.alu add %total, (uop.alu mul %a, %b), on a device that has `fma`
    ⇒ uop.fma %a, %b, %total
  }];
  let options = [Option<"isListed", "listed", "bool", "false", "leave uops as tinygrad v0.9.2 lists them">,
                 ListOption<"logged", "log", "std::string",
                            "kernels whose rewrites are printed; a * stands for any letters">];
}

def ShareKernels : Pass<"kiln-share-kernels", "::mlir::ModuleOp"> {
  let summary = "make one kernel of those that differ in numbers alone, which launches pass";
  let description = [{
    uop.func @E_4 with uop.const 2.0 : f32 and uop.func @E_4n1, the same with uop.const 3.0 : f32
    ⇒ uop.func @E_4 with uop.load %numbers[0]; its launches pass the weight [2.0] or [3.0]
  }];
  let options = [Option<"all", "all", "bool", "false",
                        "load every number but 0, so that kernels of other modules are equal, too">];
}

//===----------------------------------------------------------------------===//
// Between stages
//===----------------------------------------------------------------------===//

def VerifyStage : Pass<"kiln-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check what a stage guarantees, and note that the module has passed it";
  let description = [{
    module @dot attributes {kiln.stage = "import"}, which has no movement op left
    ⇒ module @dot attributes {kiln.stage = "view"}
  }];
  let options = [Option<"stage", "stage", "std::string", "", "the stage's name">];
}

#endif
