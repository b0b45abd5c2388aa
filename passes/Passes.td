//===- Passes.td - Every pass of the pipeline ---------------------------------===//
#ifndef KILN_PASSES
#define KILN_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// view: graph → graph
//===----------------------------------------------------------------------===//

def AssignAliases : Pass<"kiln-assign-aliases", "::mlir::ModuleOp"> {
  let summary = "write outputs that lie in an input's memory there";
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def FoldMovement : Pass<"kiln-fold-movement", "::mlir::ModuleOp"> {
  let summary = "turn chains of movement ops into one view an edge";
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

//===----------------------------------------------------------------------===//
// schedule: graph → host + kernel
//===----------------------------------------------------------------------===//

def ShrinkConstants : Pass<"kiln-shrink-constants", "::mlir::ModuleOp"> {
  let summary = "compute what is constant only at the points where it differs";
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def FoldScales : Pass<"kiln-fold-scales", "::mlir::ModuleOp"> {
  let summary = "move constant factors into the weights of the sums that they stand behind";
  let dependentDialects = ["::kiln::graph::GraphDialect"];
}

def MakeRecipes : Pass<"kiln-make-recipes", "::mlir::ModuleOp"> {
  let summary = "make a weight of each tensor that is known at compile time, and a module that computes it";
  let dependentDialects = ["::kiln::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

def FormKernels : Pass<"kiln-form-kernels", "::mlir::ModuleOp"> {
  let summary = "partition the graph into kernels and write the host program that launches them";
  let dependentDialects = ["::kiln::kernel::KernelDialect", "::kiln::host::HostDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [Option<"classic", "classic", "bool", "false", "tinygrad v0.9.2's rules">];
}

//===----------------------------------------------------------------------===//
// optimize: kernel → kernel
//===----------------------------------------------------------------------===//

def CollapseSums : Pass<"kiln-collapse-sums", "::mlir::ModuleOp"> {
  let summary = "turn sums of one number over a range into a product";
}

def CopyPaddedInputs : Pass<"kiln-copy-padded-inputs", "::mlir::ModuleOp"> {
  let summary = "copy inputs that products pad, so that they can lie among zeros";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AssignLayouts : Pass<"kiln-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "choose the order in which temporaries lie in memory, and the zeros around them";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlaceParts : Pass<"kiln-place-parts", "::mlir::ModuleOp"> {
  let summary = "what a kernel only joins is written where it would copy it";
}

def NormalizeAxes : Pass<"kiln-normalize-axes", "::mlir::ModuleOp"> {
  let summary = "reduced axes last, no axis of size 1, neighbours that every view walks as one merged";
}

def FoldArithmetic : Pass<"kiln-fold-arithmetic", "::mlir::ModuleOp"> {
  let summary = "compute what is known of a kernel's arithmetic";
  let options = [Option<"reals", "reals", "bool", "false",
                        "take floats for real numbers: reassociate, and cancel what is subtracted from itself">];
}

def OptimizeKernels : Pass<"kiln-optimize-kernels", "::mlir::ModuleOp"> {
  let summary = "choose each kernel's opts and apply them";
  let options = [Option<"noOpt", "no-opt", "bool", "false", "leave every kernel as it is">,
                 Option<"opts", "opts", "std::string", "", "opts by hand, a line for each kernel: NAME: UPCAST 0 4, …">,
                 Option<"optsPath", "opts-path", "std::string", "\"opts\"", "the file that they are from, for errors">,
                 Option<"isLast", "last", "bool", "false", "no kernels are to come: each line names one">];
}

def SplitLaunches : Pass<"kiln-split-launches", "::mlir::ModuleOp"> {
  let summary = "make a kernel of each stage that all chunks share, and a weight of what is made of weights";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PassScratch : Pass<"kiln-pass-scratch", "::mlir::ModuleOp"> {
  let summary = "give launches the memory that their kernels' stages want";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ReuseInputs : Pass<"kiln-reuse-inputs", "::mlir::ModuleOp"> {
  let summary = "write a result where an input that ends with it was";
}

def PlanMemory : Pass<"kiln-plan-memory", "::mlir::ModuleOp"> {
  let summary = "place temporaries in one arena by their lifetimes";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// lower: kernel → uop
//===----------------------------------------------------------------------===//

def LowerKernels : Pass<"kiln-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "write each kernel as the loops and vectors of one item";
  let dependentDialects = ["::kiln::uop::UOpDialect", "::mlir::arith::ArithDialect"];
}

def RewriteUOps : Pass<"kiln-rewrite-uops", "::mlir::ModuleOp"> {
  let summary = "fit each kernel's uops to the device, by named sets of patterns";
  let options = [Option<"isListed", "listed", "bool", "false", "leave uops as tinygrad v0.9.2 lists them">,
                 Option<"log", "log", "bool", "false", "print each rewrite">];
}

//===----------------------------------------------------------------------===//
// Between stages
//===----------------------------------------------------------------------===//

def MarkStage : Pass<"kiln-mark-stage", "::mlir::ModuleOp"> {
  let summary = "note which stage the module has passed, and check what it guarantees";
  let options = [Option<"stage", "stage", "std::string", "", "the stage's name">];
}

#endif
