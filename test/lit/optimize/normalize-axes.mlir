// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes | FileCheck %s

// Neighbours that every view walks as one are merged: [5,3] is 15.
// CHECK: kernel.func @E_15
// CHECK-SAME: domain = #kiln.dims<[15]>
func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = graph.alu neg %x : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
