// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule --split-input-file | FileCheck %s
// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule --kiln-plan-memory --split-input-file | FileCheck %s --check-prefix=PLAN

// A scan output of known length is written by the kernel itself, and the carried tensor that is its row stays there:
// no copy, no memory of an iteration's own. The host knows the condition, the trips and the iteration.
// CHECK-LABEL: host.program @main
// CHECK: %[[WHOLE:.*]] = host.alloc
// CHECK-NOT: host.copy
// CHECK: scf.while {{.*}}%[[INIT:.*]]) : (i64, i64, !host.slice)
// CHECK: ^bb0(%[[ITERATION:.*]]: i64, %{{.*}}: i64, %[[LAST:.*]]: !host.slice)
// CHECK: %[[ROW:.*]] = host.offset %[[WHOLE]]
// CHECK-NOT: {{host.(alloc|read|write|copy|free)}}
// CHECK: host.launch @E_4(%[[ROW]], %[[LAST]])
// CHECK-NOT: {{host.(alloc|read|write|copy|free|launch)}}
// CHECK: scf.yield {{.*}}%[[ROW]]
// PLAN-LABEL: host.program @main
// PLAN: host.arena
// PLAN-NOT: host.alloc
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %trips = graph.const 3 : i64 : tensor<i64>
  %0:2 = graph.loop trips(%trips : tensor<i64>) carry(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %true = graph.const true : tensor<i1>
    %1 = graph.alu exp %h : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %true, %1, %1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// A carried tensor alone has two memories that take turns; what an iteration needs for itself is in the arena.
// CHECK-LABEL: host.program @main
// CHECK: scf.while
// CHECK: ^bb0(%{{.*}}: i64, %{{.*}}: i64, %[[OLD:.*]]: !host.slice)
// CHECK: %[[SUM:.*]] = host.alloc
// CHECK: host.launch @r_{{.*}}(%[[SUM]], %[[OLD]])
// CHECK: %[[NEW:.*]] = host.alloc
// CHECK: host.launch {{.*}}(%[[NEW]], {{.*}}%[[SUM]]
// CHECK-NOT: host.copy
// CHECK: host.free %[[SUM]]
// CHECK: host.free %[[OLD]]
// CHECK: scf.yield {{.*}}%[[NEW]]
// PLAN-LABEL: host.program @main
// PLAN: host.arena
// PLAN: scf.while
// PLAN-COUNT-1: host.alloc
// PLAN-NOT: host.alloc
// PLAN-COUNT-1: host.free
// PLAN-NOT: host.free
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %trips = graph.const 3 : i64 : tensor<i64>
  %0 = graph.loop trips(%trips : tensor<i64>) carry(%x : tensor<64x64xf32>) -> (tensor<64x64xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<64x64xf32>):
    %true = graph.const true : tensor<i1>
    %1 = graph.reduce add %h [0] : tensor<64x64xf32> to tensor<1x64xf32>
    %2 = graph.contiguous %1 : tensor<1x64xf32>
    %3 = graph.expand %2 : tensor<1x64xf32> to tensor<64x64xf32>
    %4 = graph.alu mul %h, %3 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    graph.yield %true, %4 : tensor<i1>, tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}
