// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true | FileCheck %s

// A gather is a load whose row is data. The indices are computed in place, and what is gathered from is read through
// its view: one kernel.
// CHECK: kernel.func @E_4_3
// CHECK: %[[AT:.*]] = kernel.load %arg1
// CHECK: %[[ROW:.*]] = kernel.alu neg %[[AT]]
// CHECK: %[[X:.*]] = kernel.load %arg2 <"(4,3,10):(0,10,1)"> row %[[ROW]] : i64 : <f32> -> f32
// CHECK: kernel.alu exp %[[X]]
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<3x10xf32>, %at: tensor<4xi64>) -> tensor<4x3xf32> {
  %0 = graph.permute %x [1, 0] : tensor<3x10xf32> to tensor<10x3xf32>
  %1 = graph.alu neg %at : (tensor<4xi64>) -> tensor<4xi64>
  %2 = graph.gather %0[%1] 0 : tensor<10x3xf32>, tensor<4xi64> to tensor<4x3xf32>
  %3 = graph.alu exp %2 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}
