// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true --split-input-file --verify-diagnostics | FileCheck %s

// In place: one kernel, one buffer for what it reads and writes.
// CHECK-LABEL: host.program @main
// CHECK: %[[W:.*]] = host.input 0
// CHECK: %[[G:.*]] = host.input 1
// CHECK: host.launch @E_4(%[[W]], %[[G]])
// CHECK-NOT: host.launch
// CHECK: kernel.func @E_4(%[[A:.*]]: !kernel.buffer<f32>, %[[B:.*]]: !kernel.buffer<f32>)
// CHECK-DAG: kernel.load %[[A]]
// CHECK-DAG: kernel.load %[[B]]
// CHECK: kernel.store %{{.*}}, %[[A]]
func.func @main(%w: tensor<4xf32>, %g: tensor<4xf32>) {
  %0 = graph.alu add %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.assign %0 to %w : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

// Who reads the old value comes first, though the graph has it last.
// CHECK-LABEL: host.program @main
// CHECK: host.launch @E_4(%{{.*}}, %{{.*}})
// CHECK: %[[OUT:.*]] = host.output 0
// CHECK: host.launch @E_4n1(%[[OUT]]
// CHECK: kernel.func @E_4(
// CHECK: kernel.alu neg
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.alu sqrt %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.assign %0 to %w : tensor<4xf32> to tensor<4xf32>
  %2 = graph.alu neg %w : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.contiguous %2 : tensor<4xf32>
  %4 = graph.alu recip %3 : (tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Old and new value together: the old one is copied before it is overwritten. Elements in another order: the new value
// is complete before it is written.
// CHECK-LABEL: host.program @main
// CHECK: %[[W:.*]] = host.input 0
// CHECK: %[[NEW:.*]] = host.alloc
// CHECK: host.launch @E_4(%[[NEW]], %[[W]])
// CHECK: %[[OLD:.*]] = host.alloc
// CHECK: host.launch @[[COPY:E_4n1]](%[[OLD]], %[[W]])
// CHECK: host.launch @[[COPY]](%[[W]], %[[NEW]])
// CHECK: host.launch @{{.*}}(%{{.*}}, %[[OLD]], %[[W]])
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.flip %w [0] : tensor<4xf32> to tensor<4xf32>
  %1 = graph.assign %0 to %w : tensor<4xf32> to tensor<4xf32>
  %2 = graph.alu add %w, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Old and new value that only leave together need no copy of the old one.
// CHECK-LABEL: host.program @main
// CHECK-NOT: host.alloc
// CHECK: host.done
func.func @main(%w: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.alu add %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.assign %0 to %w : tensor<4xf32> to tensor<4xf32>
  %2 = graph.alu neg %w : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%w: tensor<2xf32> {graph.value = dense<[1.0, 2.0]> : tensor<2xf32>}, %g: tensor<2xf32>) {
  // expected-error@+1 {{an input with a stored default cannot be assigned to}}
  %0 = graph.assign %g to %w : tensor<2xf32> to tensor<2xf32>
  return
}

// -----

// A loop may run at any time that no kernel waits for: it reads a copy of what is overwritten.
// CHECK-LABEL: host.program @main
// CHECK: %[[W:.*]] = host.input 0
// CHECK: %[[OLD:.*]] = host.alloc
// CHECK: host.launch @{{.*}}(%[[OLD]], %[[W]])
// CHECK: host.launch @{{.*}}(%[[W]])
// CHECK: scf.while
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %trips = graph.const 3 : i64 : tensor<i64>
  %0 = graph.alu sqrt %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.assign %0 to %w : tensor<4xf32> to tensor<4xf32>
  %2 = graph.loop trips(%trips : tensor<i64>) carry(%w : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %carried: tensor<4xf32>):
    %go = graph.const true : tensor<i1>
    %3 = graph.alu neg %carried : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %go, %3 : tensor<i1>, tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}
