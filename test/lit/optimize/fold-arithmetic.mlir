// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true --kiln-fold-arithmetic | FileCheck %s --check-prefix=ALWAYS
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true --kiln-fold-arithmetic=reals=true | FileCheck %s --check-prefix=REALS

// Two factors are one for real numbers; floats round twice, so by default they stay two. Integers wrap, so two are one.
// ALWAYS-LABEL: kernel.func @E_3(
// ALWAYS-COUNT-2: kernel.alu mul
// ALWAYS-LABEL: kernel.func @E_3n1(
// ALWAYS: kernel.const 6 : i32
// ALWAYS-NEXT: kernel.alu mul
// ALWAYS-NOT: kernel.alu mul
// REALS-LABEL: kernel.func @E_3(
// REALS: kernel.const 5.000000e-01 : f32
// REALS-NEXT: kernel.alu mul
// REALS-NOT: kernel.alu mul
// REALS-LABEL: kernel.func @E_3n1(

// A NaN is not equal to itself, but both ways to go are the same. Not less than itself is true of a NaN too.
// ALWAYS-LABEL: kernel.func @E_3n2(
// ALWAYS-NOT: kernel.alu
// ALWAYS: kernel.store

// A value minus itself is 0, unless it is infinite.
// ALWAYS-LABEL: kernel.func @E_3n3(
// ALWAYS: kernel.alu neg
// ALWAYS: kernel.alu add
// REALS-LABEL: kernel.func @E_3n3(
// REALS-NOT: kernel.alu
// REALS: kernel.const 0.000000e+00

// -(x * 2) is x * -2; the larger of max(x, 1) and 3 is that of x and 3.
// ALWAYS-LABEL: kernel.func @E_3n4(
// ALWAYS-NOT: kernel.alu neg
// ALWAYS: kernel.const -2.000000e+00
// ALWAYS: kernel.const 3.000000e+00
// ALWAYS-NEXT: kernel.alu max
// ALWAYS-NEXT: kernel.store
func.func @main(%x: tensor<3xf32>, %i: tensor<3xi32>)
    -> (tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %two = graph.const 2.0 : f32 : tensor<3xf32>
  %quarter = graph.const 0.25 : f32 : tensor<3xf32>
  %a0 = graph.alu mul %two, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %a = graph.alu mul %a0, %quarter : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %itwo = graph.const 2 : i32 : tensor<3xi32>
  %ithree = graph.const 3 : i32 : tensor<3xi32>
  %b0 = graph.alu mul %i, %itwo : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %b = graph.alu mul %b0, %ithree : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %lt = graph.alu cmplt %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %ne = graph.alu cmpne %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %c0 = graph.alu where %lt, %two, %x : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %c = graph.alu where %ne, %c0, %x : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d0 = graph.alu neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %d = graph.alu add %x, %d0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %one = graph.const 1.0 : f32 : tensor<3xf32>
  %three = graph.const 3.0 : f32 : tensor<3xf32>
  %e0 = graph.alu mul %x, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %e1 = graph.alu neg %e0 : (tensor<3xf32>) -> tensor<3xf32>
  %e2 = graph.alu max %e1, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %e = graph.alu max %three, %e2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %a, %b, %c, %d, %e : tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
