// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s

// Each of three is computed from the next one's old value: one new value is held until the others are written.
// CHECK: %[[A:.*]] = host.input 0
// CHECK: %[[B:.*]] = host.input 1
// CHECK: %[[C:.*]] = host.input 2
// CHECK: %[[HELD:.*]] = host.alloc
// CHECK: host.launch @{{.*}}(%[[HELD]], %[[B]])
// CHECK: host.launch @{{.*}}(%[[B]], %[[C]])
// CHECK: host.launch @{{.*}}(%[[C]], %[[A]])
// CHECK: host.launch @{{.*}}(%[[A]], %[[HELD]])
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  %0 = graph.alu neg %b : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.assign %0 to %a : tensor<4xf32> to tensor<4xf32>
  %2 = graph.alu sqrt %c : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.assign %2 to %b : tensor<4xf32> to tensor<4xf32>
  %4 = graph.alu recip %a : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.assign %4 to %c : tensor<4xf32> to tensor<4xf32>
  return
}
