// RUN: %kiln-opt %s --split-input-file --kiln-shrink-constants | FileCheck %s

// A value that is the same along an axis of any size is computed once, and a view repeats it.
// CHECK: %[[S:.*]] = graph.weight "s"
// CHECK: %[[AT:.*]] = graph.view %[[S]] <"(1,4):(0,1)">
// CHECK: %[[ROOT:.*]] = graph.alu sqrt %[[AT]] : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[WIDE:.*]] = graph.view %[[ROOT]] <"(batch,4):(0,1)">
// CHECK: graph.alu mul %arg0, %[[WIDE]]
module attributes {kiln.symbols = [#kiln.symbol<"batch", 0 to 2147483647, default 1>]} {
func.func @main(%x: tensor<?x4xf32, #kiln.dims<["batch", 4]>>) -> tensor<?x4xf32, #kiln.dims<["batch", 4]>> {
  %s = graph.weight "s" : tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %sv = graph.view %s <"(batch,4):(0,1)"> : tensor<4xf32> to tensor<?x4xf32, #kiln.dims<["batch", 4]>>
  %r = graph.alu sqrt %sv : (tensor<?x4xf32, #kiln.dims<["batch", 4]>>) -> tensor<?x4xf32, #kiln.dims<["batch", 4]>>
  %y = graph.alu mul %x, %r : (tensor<?x4xf32, #kiln.dims<["batch", 4]>>, tensor<?x4xf32, #kiln.dims<["batch", 4]>>) -> tensor<?x4xf32, #kiln.dims<["batch", 4]>>
  return %y : tensor<?x4xf32, #kiln.dims<["batch", 4]>>
}
}

// -----

// A view of such a tensor becomes a view of what is left of it; a row on numbers is a number.
// CHECK: %[[S:.*]] = graph.weight "s"
// CHECK: %[[SIX:.*]] = graph.const 6.000000e+00 : f32 : tensor<2x4xf32>
// CHECK: graph.alu add %{{.*}}, %{{.*}} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK: graph.view %{{.*}} <"(2,4):(0,1)"> : tensor<4x1xf32> to tensor<2x4xf32>
// CHECK-NOT: graph.alu mul
module {
func.func @main() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %s = graph.weight "s" : tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %two = graph.const 2.0 : f32 : tensor<2x4xf32>
  %three = graph.const 3.0 : f32 : tensor<2x4xf32>
  %six = graph.alu mul %two, %three : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %one = graph.const 1.0 : f32 : tensor<4x2xf32>
  %sv = graph.view %s <"(4,2):(1,0)"> : tensor<4xf32> to tensor<4x2xf32>
  %t = graph.alu add %sv, %one : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %tv = graph.view %t <"(2,4):(1,2)"> : tensor<4x2xf32> to tensor<2x4xf32>
  return %six, %tv : tensor<2x4xf32>, tensor<2x4xf32>
}
}

// -----

// Padding differs from what it surrounds, and what a library computes may differ from machine to machine.
// CHECK: %[[S:.*]] = graph.weight "s"
// CHECK: graph.view %[[S]] <"(1,6):(0,1)+-1?[0:1,1:5]">
// CHECK: graph.alu neg %{{.*}} : (tensor<1x6xf32>)
// CHECK: graph.alu exp %{{.*}} : (tensor<2x4xf32>)
module {
func.func @main() -> (tensor<2x6xf32>, tensor<2x4xf32>) {
  %s = graph.weight "s" : tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %p = graph.view %s <"(2,6):(0,1)+-1?[0:2,1:5]"> : tensor<4xf32> to tensor<2x6xf32>
  %y = graph.alu neg %p : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %sv = graph.view %s <"(2,4):(0,1)"> : tensor<4xf32> to tensor<2x4xf32>
  %z = graph.alu exp %sv : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y, %z : tensor<2x6xf32>, tensor<2x4xf32>
}
}
