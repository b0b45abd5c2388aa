// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-plan-memory | FileCheck %s

// A temporary of one byte per element: its size is the symbol itself.
// CHECK: host.plan %arg0 first
// CHECK-NOT: host.alloc
module attributes {kiln.symbols = [#kiln.symbol<"n", 0 to 100, default 1>]} {
  func.func @main(%x: tensor<?xf32, #kiln.dims<["n{0..100}"]>>) -> tensor<4x?xi1, #kiln.dims<[4, "n{0..100}"]>> {
    %0 = graph.alu cmpne %x, %x
      : (tensor<?xf32, #kiln.dims<["n{0..100}"]>>, tensor<?xf32, #kiln.dims<["n{0..100}"]>>) -> tensor<?xi1, #kiln.dims<["n{0..100}"]>>
    %1 = graph.contiguous %0 : tensor<?xi1, #kiln.dims<["n{0..100}"]>>
    %2 = graph.reshape %1 : tensor<?xi1, #kiln.dims<["n{0..100}"]>> to tensor<1x?xi1, #kiln.dims<[1, "n{0..100}"]>>
    %3 = graph.expand %2 : tensor<1x?xi1, #kiln.dims<[1, "n{0..100}"]>> to tensor<4x?xi1, #kiln.dims<[4, "n{0..100}"]>>
    %4 = graph.contiguous %3 : tensor<4x?xi1, #kiln.dims<[4, "n{0..100}"]>>
    return %4 : tensor<4x?xi1, #kiln.dims<[4, "n{0..100}"]>>
  }
}
