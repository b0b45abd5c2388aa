// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule --split-input-file | FileCheck %s

// Two reduces of one tensor read it in one kernel.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-1: host.launch @r2_4_8
// CHECK-NOT: host.launch
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.reduce add %x [1] : tensor<4x8xf32> to tensor<4x1xf32>
  %1 = graph.reduce max %x [1] : tensor<4x8xf32> to tensor<4x1xf32>
  %2 = graph.reshape %0 : tensor<4x1xf32> to tensor<4xf32>
  %3 = graph.reshape %1 : tensor<4x1xf32> to tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// One waits for a kernel that waits for the other: together they would wait for themselves.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-3: host.launch
// CHECK-NOT: host.launch
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %0 = graph.alu neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.reshape %0 : tensor<4xf32> to tensor<1x4xf32>
  %2 = graph.expand %1 : tensor<1x4xf32> to tensor<4x4xf32>
  %3 = graph.alu exp %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = graph.shrink %3 <[0, 0]> <[1, 4]> : tensor<4x4xf32> to tensor<1x4xf32>
  %5 = graph.reshape %4 : tensor<1x4xf32> to tensor<4xf32>
  %6 = graph.alu add %5, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %3, %6 : tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// One that waits for a third kernel joins one that nothing waits for.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-2: host.launch
// CHECK-NOT: host.launch
func.func @main(%x: tensor<4x8xf32>, %w: tensor<4x8x16xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = graph.reduce add %x [1] : tensor<4x8xf32> to tensor<4x1xf32>
  %1 = graph.reduce max %w [2] : tensor<4x8x16xf32> to tensor<4x8x1xf32>
  %2 = graph.contiguous %1 : tensor<4x8x1xf32>
  %3 = graph.reshape %2 : tensor<4x8x1xf32> to tensor<4x8xf32>
  %4 = graph.alu mul %3, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = graph.reduce max %4 [1] : tensor<4x8xf32> to tensor<4x1xf32>
  return %0, %5 : tensor<4x1xf32>, tensor<4x1xf32>
}
