// RUN: %kiln-opt %s --kiln-stage-view | FileCheck %s

// A part without elements is of no kernel: no product is computed for it.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[NONE:.*]] = graph.const 0.000000e+00 : f32 : tensor<2x0xf32>
// CHECK-NEXT: return %[[NONE]]
func.func @main(%x: tensor<2x3x5xf32>) -> tensor<2x0xf32> {
  %0 = graph.reduce add %x [1] : tensor<2x3x5xf32> to tensor<2x1x5xf32>
  %1 = graph.reshape %0 : tensor<2x1x5xf32> to tensor<2x5xf32>
  %2 = graph.shrink %1 <[0, 2]> <[2, 2]> : tensor<2x5xf32> to tensor<2x0xf32>
  return %2 : tensor<2x0xf32>
}
