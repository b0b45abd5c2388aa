// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true | FileCheck %s

// Breadth first: what needs no other kernel comes first, outputs before what they made necessary.
// CHECK: host.launch @E_32(
// CHECK: host.launch @r_8_4(
// CHECK: host.launch @E_4_8(
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.reduce max %x [0] : tensor<4x8xf32> to tensor<1x8xf32>
  %1 = graph.expand %0 : tensor<1x8xf32> to tensor<4x8xf32>
  %2 = graph.alu add %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.alu neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}
