// RUN: %kiln-opt %s --kiln-stage-view | FileCheck %s

// An axis of size 1 has nothing to combine.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[SUM:.*]] = graph.reduce add %{{.*}} [0]
// CHECK-NEXT: return %[[SUM]]
func.func @main(%x: tensor<4x1x1xf32>) -> tensor<1x1x1xf32> {
  %0 = graph.reduce add %x [2, 0] : tensor<4x1x1xf32> to tensor<1x1x1xf32>
  %1 = graph.reduce max %0 [1] : tensor<1x1x1xf32> to tensor<1x1x1xf32>
  return %1 : tensor<1x1x1xf32>
}
