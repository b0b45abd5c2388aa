// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-plan-memory | FileCheck %s

// A tensor of n bytes: its size is the symbol, which no op of the program computes.
// CHECK: host.program
// CHECK: ^bb0(%[[N:.*]]: i64):
// CHECK: arith.addi %[[N]]
// CHECK: host.arena
// CHECK-NOT: host.alloc
module attributes {kiln.symbols = [#kiln.symbol<"n", 0 to 2147483647, default 1>]} {
func.func @main(%x: tensor<?xf32, #kiln.dims<["n"]>>) -> tensor<?xi1, #kiln.dims<["n"]>> {
  %zero = graph.const 0.0 : f32 : tensor<?xf32, #kiln.dims<["n"]>>
  %0 = graph.alu cmplt %x, %zero : (tensor<?xf32, #kiln.dims<["n"]>>, tensor<?xf32, #kiln.dims<["n"]>>) -> tensor<?xi1, #kiln.dims<["n"]>>
  %1 = graph.contiguous %0 : tensor<?xi1, #kiln.dims<["n"]>>
  %2 = graph.flip %1 [0] : tensor<?xi1, #kiln.dims<["n"]>> to tensor<?xi1, #kiln.dims<["n"]>>
  %3 = graph.alu and %2, %0 : (tensor<?xi1, #kiln.dims<["n"]>>, tensor<?xi1, #kiln.dims<["n"]>>) -> tensor<?xi1, #kiln.dims<["n"]>>
  return %3 : tensor<?xi1, #kiln.dims<["n"]>>
}
}
