// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule --kiln-stage-optimize | FileCheck %s

// Positions are not memory: each point of a kernel knows its own, through whatever view. One-hot is a comparison.
// CHECK: kernel.func @E_4_10(%arg0: !kernel.buffer<f32>, %arg1: !kernel.buffer<i64>)
// CHECK: %[[AT:.*]] = kernel.load %arg1
// CHECK: %[[I:.*]] = kernel.index <"(4,10):(0,1)"> : i64
// CHECK: kernel.alu cmpeq %[[AT]], %[[I]]
// CHECK-NOT: kernel.func
func.func @main(%at: tensor<4xi64>) -> tensor<4x10xf32> {
  %0 = graph.iota : tensor<10xi64>
  %1 = graph.reshape %0 : tensor<10xi64> to tensor<1x10xi64>
  %2 = graph.expand %1 : tensor<1x10xi64> to tensor<4x10xi64>
  %3 = graph.reshape %at : tensor<4xi64> to tensor<4x1xi64>
  %4 = graph.expand %3 : tensor<4x1xi64> to tensor<4x10xi64>
  %5 = graph.alu cmpeq %4, %2 : (tensor<4x10xi64>, tensor<4x10xi64>) -> tensor<4x10xi1>
  %6 = graph.alu cast %5 : (tensor<4x10xi1>) -> tensor<4x10xf32>
  return %6 : tensor<4x10xf32>
}
