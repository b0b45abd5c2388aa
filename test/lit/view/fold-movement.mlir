// RUN: %kiln-opt %s --kiln-fold-movement | FileCheck %s

// Two transposes undo each other: nothing is left.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT: return %arg0
func.func @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.permute %x [1, 0] : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = graph.permute %0 [1, 0] : tensor<3x2xf32> to tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// A chain is one view.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[V:.*]] = graph.view %arg0 <"(2,4):(0,1)"> : tensor<4xf32> to tensor<2x4xf32>
// CHECK-NEXT: return %[[V]]
func.func @chain(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = graph.reshape %x : tensor<4xf32> to tensor<1x4xf32>
  %1 = graph.expand %0 : tensor<1x4xf32> to tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// One number stays that number in any shape, but not where it is padded.
// CHECK-LABEL: func.func @number
// CHECK: graph.const 2.000000e+00 : f32 : tensor<3x3xf32>
func.func @number() -> tensor<3x3xf32> {
  %0 = graph.const 2.0 : f32 : tensor<f32>
  %1 = graph.reshape %0 : tensor<f32> to tensor<1x1xf32>
  %2 = graph.expand %1 : tensor<1x1xf32> to tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @padded
// CHECK: graph.view
func.func @padded() -> tensor<4xf32> {
  %0 = graph.const 2.0 : f32 : tensor<3xf32>
  %1 = graph.pad %0 <[1]> <[0]> : tensor<3xf32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Its surroundings are 0 in any dtype, so it is cast before it is padded.
// CHECK-LABEL: func.func @cast
// CHECK: %[[N:.*]] = graph.const 2 : i32 : tensor<3xi32>
// CHECK-NEXT: %[[V:.*]] = graph.view %[[N]]
// CHECK-NEXT: return %[[V]]
func.func @cast() -> tensor<4xi32> {
  %0 = graph.const 2.0 : f32 : tensor<3xf32>
  %1 = graph.pad %0 <[1]> <[0]> : tensor<3xf32> to tensor<4xf32>
  %2 = graph.alu cast %1 : (tensor<4xf32>) -> tensor<4xi32>
  return %2 : tensor<4xi32>
}
