// RUN: %kiln-opt %s --split-input-file --kiln-make-recipes | FileCheck %s
// RUN: %kiln-opt %s --split-input-file --kiln-make-recipes --kiln-stage-schedule | FileCheck %s --check-prefix=LAUNCHED

// What is computed from weights becomes a weight; those that only it needs go with it, and what shares a computation is
// made together.
// CHECK-LABEL: func.func @main(%arg0
// CHECK-NOT: graph.weight "a"
// CHECK-DAG: graph.weight "a.folded" : tensor<32xf32> = #graph.recipe<"recipe_0", 0>
// CHECK-DAG: graph.weight "a.folded1" : tensor<32xf32> = #graph.recipe<"recipe_0", 1>
// CHECK: module @recipe_0 attributes {{.*}} {
// CHECK: func.func @main() -> (tensor<32xf32> {graph.name = "a.folded"}, tensor<32xf32> {graph.name = "a.folded1"})
// CHECK-DAG: graph.weight "a" {{.*}}dense
// CHECK-DAG: graph.weight "b" {{.*}}dense
// CHECK: graph.alu add
// CHECK: graph.alu neg
// CHECK: return
// LAUNCHED: module @recipe_0 attributes {{.*}} {
// LAUNCHED: host.program @main attributes {inputs = [], outputs = [#host.port<"a.folded", tensor<32xf32>>
// LAUNCHED: host.launch
module {
func.func @main(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %a = graph.weight "a" : tensor<32xf32> = dense<1.0> : tensor<32xf32>
  %b = graph.weight "b" : tensor<32xf32> = dense<2.0> : tensor<32xf32>
  %s = graph.alu add %a, %b : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %n = graph.alu neg %s : (tensor<32xf32>) -> tensor<32xf32>
  %y = graph.alu mul %x, %s : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %z = graph.alu max %x, %n : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %y, %z : tensor<32xf32>, tensor<32xf32>
}
}

// -----

// Widened, the weight would be four times as large, and with a weight that the model needs as well it would be there
// twice. A vector repeated by a sum with another one is larger too; the root of each is not.
// CHECK-LABEL: func.func @main(%arg0
// CHECK: graph.alu cast
// CHECK: graph.alu neg
// CHECK: graph.weight "row.folded" : tensor<1x32xf32> = #graph.recipe
// CHECK: graph.weight "column.folded" : tensor<32x1xf32> = #graph.recipe
// CHECK: graph.alu add
// CHECK: module @recipe_0
// CHECK: module @recipe_1
// CHECK-NOT: module @recipe_2
module {
func.func @main(%x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %byte = graph.weight "byte" : tensor<32x32xi8> = dense<1> : tensor<32x32xi8>
  %wide = graph.alu cast %byte : (tensor<32x32xi8>) -> tensor<32x32xf32>
  %y = graph.alu mul %x, %wide : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %both = graph.weight "both" : tensor<32x32xf32> = dense<1.0> : tensor<32x32xf32>
  %minus = graph.alu neg %both : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %z = graph.alu mul %x, %both : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %m = graph.alu max %x, %minus : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %row = graph.weight "row" : tensor<1x32xf32> = dense<1.0> : tensor<1x32xf32>
  %rowRoot = graph.alu sqrt %row : (tensor<1x32xf32>) -> tensor<1x32xf32>
  %column = graph.weight "column" : tensor<32x1xf32> = dense<1.0> : tensor<32x1xf32>
  %columnRoot = graph.alu sqrt %column : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %rows = graph.view %rowRoot <"(32,32):(0,1)"> : tensor<1x32xf32> to tensor<32x32xf32>
  %columns = graph.view %columnRoot <"(32,32):(1,0)"> : tensor<32x1xf32> to tensor<32x32xf32>
  %plane = graph.alu add %rows, %columns : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = graph.alu mul %x, %plane : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y, %z, %m, %p : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
}

// -----

// Not from inputs, not from numbers and ranges alone, and not by functions that machines compute differently.
// CHECK-LABEL: func.func @main(%arg0
// CHECK: graph.alu exp
// CHECK-NOT: #graph.recipe
module {
func.func @main(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xi32>) {
  %w = graph.weight "w" : tensor<32xf32> = dense<1.0> : tensor<32xf32>
  %e = graph.alu exp %w : (tensor<32xf32>) -> tensor<32xf32>
  %y = graph.alu mul %x, %e : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %i = graph.iota : tensor<32xi32>
  %n = graph.alu neg %i : (tensor<32xi32>) -> tensor<32xi32>
  return %y, %n : tensor<32xf32>, tensor<32xi32>
}
}

// -----

// A matrix and the sums of its rows are a little larger than the matrix alone: both are made.
// CHECK-LABEL: func.func @main(%arg0
// CHECK-NOT: graph.weight "w" :
// CHECK-DAG: graph.weight "w.folded" : tensor<32x32xf32> = #graph.recipe<
// CHECK-DAG: graph.weight "w.folded1" : tensor<32x1xf32> = #graph.recipe<
// CHECK: module @recipe_0
module {
func.func @main(%x: tensor<32x32xf32>, %v: tensor<32x1xf32>) -> (tensor<32x32xf32>, tensor<32x1xf32>) {
  %w = graph.weight "w" : tensor<32x32xf32> = dense<1.0> : tensor<32x32xf32>
  %n = graph.alu neg %w : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = graph.reduce add %w [1] : tensor<32x32xf32> to tensor<32x1xf32>
  %y = graph.alu mul %x, %n : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %z = graph.alu mul %v, %r : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
  return %y, %z : tensor<32x32xf32>, tensor<32x1xf32>
}
}
