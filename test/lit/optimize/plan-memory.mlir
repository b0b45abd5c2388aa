// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic --kiln-plan-memory | FileCheck %s

// Three temporaries in a chain of expanded sums need room for two at once.
// CHECK: %[[BYTES:.*]] = arith.constant 128 : i64
// CHECK: host.arena %[[BYTES]] busiest "r_4n1"
// CHECK-NOT: host.alloc
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.reduce add %x [0] : tensor<4xf32> to tensor<1xf32>
  %1 = graph.expand %0 : tensor<1xf32> to tensor<4xf32>
  %2 = graph.alu mul %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.reduce add %2 [0] : tensor<4xf32> to tensor<1xf32>
  %4 = graph.expand %3 : tensor<1xf32> to tensor<4xf32>
  %5 = graph.alu mul %4, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.reduce add %5 [0] : tensor<4xf32> to tensor<1xf32>
  %7 = graph.expand %6 : tensor<1xf32> to tensor<4xf32>
  %8 = graph.alu mul %7, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %8 : tensor<4xf32>
}
