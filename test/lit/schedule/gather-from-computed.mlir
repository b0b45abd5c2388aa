// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s

// No view passes a gather: what is computed is memory before it is gathered from, and so is a number.
// CHECK: kernel.func @E_30
// CHECK: kernel.alu exp
// CHECK: kernel.func @E_2
// CHECK: kernel.const 1.0
// CHECK: kernel.func @E_4(
// CHECK: kernel.load {{.*}}<"(4,10):(0,3)+1"> row
// CHECK: kernel.func @E_4n1
// CHECK: kernel.load {{.*}}<"(4,2):(0,1)"> row
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<10x3xf32>, %at: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.alu exp %x : (tensor<10x3xf32>) -> tensor<10x3xf32>
  %1 = graph.shrink %0 <[0, 1]> <[10, 2]> : tensor<10x3xf32> to tensor<10x1xf32>
  %2 = graph.reshape %1 : tensor<10x1xf32> to tensor<10xf32>
  %3 = graph.gather %2[%at] 0 : tensor<10xf32>, tensor<4xi32> to tensor<4xf32>
  %4 = graph.const 1.0 : f32 : tensor<2xf32>
  %5 = graph.gather %4[%at] 0 : tensor<2xf32>, tensor<4xi32> to tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}
