// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true --kiln-fold-arithmetic=reals=true | FileCheck %s
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true --kiln-fold-arithmetic | FileCheck %s --check-prefix=FLOATS

// x / x is 1, unless x is 0.
// CHECK-LABEL: kernel.func @E_3(
// CHECK-NOT: kernel.alu
// CHECK: kernel.store
// FLOATS-LABEL: kernel.func @E_3(
// FLOATS: kernel.alu recip

// (x * y) / y is x.
// CHECK-LABEL: kernel.func @E_3n1(
// CHECK-NOT: kernel.alu
// CHECK: kernel.store

// (x / y) / z takes one reciprocal.
// CHECK-LABEL: kernel.func @E_3n2(
// CHECK-COUNT-1: kernel.alu recip
// CHECK-NOT: kernel.alu recip
// FLOATS-LABEL: kernel.func @E_3n2(
// FLOATS-COUNT-2: kernel.alu recip

// -(x * 2 + 3) is x * -2 + -3.
// CHECK-LABEL: kernel.func @E_3n3(
// CHECK-NOT: kernel.alu neg
// FLOATS-LABEL: kernel.func @E_3n3(
// FLOATS: kernel.alu neg

// (x + 1) + (y + 2) is (x + y) + 3.
// CHECK-LABEL: kernel.func @E_3n4(
// CHECK-COUNT-2: kernel.alu add
// CHECK-NOT: kernel.alu add
// FLOATS-LABEL: kernel.func @E_3n4(
// FLOATS-COUNT-3: kernel.alu add

// Of max(x, 0) + 1 and 0 the larger is known.
// CHECK-LABEL: kernel.func @E_3n5(
// CHECK-COUNT-1: kernel.alu max
// CHECK-NOT: kernel.alu max
// FLOATS-LABEL: kernel.func @E_3n5(
// FLOATS-COUNT-2: kernel.alu max

// Whether x differs from 0 is x as a bool.
// CHECK-LABEL: kernel.func @E_3n6(
// CHECK: kernel.alu cast
// CHECK-NOT: kernel.alu cmpne

func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>) {
  %rx = graph.alu recip %x : (tensor<3xf32>) -> tensor<3xf32>
  %ry = graph.alu recip %y : (tensor<3xf32>) -> tensor<3xf32>
  %rz = graph.alu recip %z : (tensor<3xf32>) -> tensor<3xf32>
  %a = graph.alu mul %x, %rx : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %xy = graph.alu mul %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %b = graph.alu mul %xy, %ry : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %c0 = graph.alu mul %x, %ry : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %c = graph.alu mul %c0, %rz : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %zero = graph.const 0.0 : f32 : tensor<3xf32>
  %one = graph.const 1.0 : f32 : tensor<3xf32>
  %two = graph.const 2.0 : f32 : tensor<3xf32>
  %three = graph.const 3.0 : f32 : tensor<3xf32>
  %d0 = graph.alu mul %x, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d1 = graph.alu add %d0, %three : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = graph.alu neg %d1 : (tensor<3xf32>) -> tensor<3xf32>
  %e0 = graph.alu add %x, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %e1 = graph.alu add %y, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %e = graph.alu add %e0, %e1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %f0 = graph.alu max %x, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %f1 = graph.alu add %f0, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %f = graph.alu max %f1, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %g = graph.alu cmpne %x, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  return %a, %b, %c, %d, %e, %f, %g
    : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>
}
