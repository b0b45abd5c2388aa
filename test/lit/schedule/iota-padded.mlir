// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s

// Next to the positions there are zeros.
// CHECK: kernel.func @E_6
// CHECK: %[[I:.*]] = kernel.index <"(6):(1)+-1?[1:5]"> : i32
// CHECK: %[[VALID:.*]] = kernel.valid <"(6):(1)+-1?[1:5]">
// CHECK: %[[ZERO:.*]] = kernel.const 0
// CHECK: kernel.alu where %[[VALID]], %[[I]], %[[ZERO]]
func.func @main() -> tensor<6xi32> {
  %0 = graph.iota : tensor<4xi32>
  %1 = graph.pad %0 <[1]> <[1]> : tensor<4xi32> to tensor<6xi32>
  return %1 : tensor<6xi32>
}
