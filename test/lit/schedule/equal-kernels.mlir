// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s

// Equal kernels are one; another kernel of the same name gets n1.
// CHECK: host.launch @E_3(
// CHECK: host.launch @E_3(
// CHECK: host.launch @E_3n1(
// CHECK: kernel.func @E_3(
// CHECK: kernel.func @E_3n1(
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = graph.alu neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.alu neg %y : (tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.alu sqrt %z : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
