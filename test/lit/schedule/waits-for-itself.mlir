// RUN: %kiln-opt %s --kiln-form-kernels=classic=true | FileCheck %s

// %3 and %9 could both be finished in the loops of the sum, but the second needs what another kernel makes of the first:
// the sum is in memory.
// CHECK: host.launch @r_4_8(
// CHECK-COUNT-5: host.launch @E_
// CHECK-NOT: host.launch
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>) {
  %0 = graph.reduce add %x [1] : tensor<4x8xf32> to tensor<4x1xf32>
  %1 = graph.const 1.0 : f32 : tensor<4x1xf32>
  %2 = graph.const 1.0 : f32 : tensor<4x3xf32>
  %3 = graph.alu add %0, %1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = graph.view %3 <"(4,3):(1,0)"> : tensor<4x1xf32> to tensor<4x3xf32>
  %5 = graph.alu mul %4, %2 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %6 = graph.alu sin %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %7 = graph.view %6 <"(4,3):(1,0)"> : tensor<4x1xf32> to tensor<4x3xf32>
  %8 = graph.alu mul %7, %2 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %9 = graph.alu min %6, %0 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %5, %8, %9 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>
}
