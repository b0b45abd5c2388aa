// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes --split-input-file | FileCheck %s

// Neighbours that every view walks as one are merged: [5,3] is 15.
// CHECK: kernel.func @E_15
// CHECK-SAME: domain = #kiln.dims<[15]>
func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = graph.alu neg %x : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// A fixed size stays one that opts can split: it is not merged into an outer one that is known when the program runs.
// CHECK: kernel.func @E_n_15
// CHECK-SAME: domain = #kiln.dims<["n{1..8}", 15]>
module attributes {kiln.symbols = [#kiln.symbol<"n", 1 to 8, default 1>]} {
  func.func @main(%x: tensor<?x5x3xf32, #kiln.dims<["n{1..8}", 5, 3]>>) -> tensor<?x5x3xf32, #kiln.dims<["n{1..8}", 5, 3]>> {
    %0 = graph.alu neg %x : (tensor<?x5x3xf32, #kiln.dims<["n{1..8}", 5, 3]>>) -> tensor<?x5x3xf32, #kiln.dims<["n{1..8}", 5, 3]>>
    return %0 : tensor<?x5x3xf32, #kiln.dims<["n{1..8}", 5, 3]>>
  }
}

// -----

// Short lines of an unknown length are longer together, whether their number is known or not.
// CHECK: kernel.func @E_n15
// CHECK-SAME: domain = #kiln.dims<["(n{1..8}*15)"]>
module attributes {kiln.symbols = [#kiln.symbol<"n", 1 to 8, default 1>]} {
  func.func @main(%x: tensor<5x3x?xf32, #kiln.dims<[5, 3, "n{1..8}"]>>) -> tensor<5x3x?xf32, #kiln.dims<[5, 3, "n{1..8}"]>> {
    %0 = graph.alu neg %x : (tensor<5x3x?xf32, #kiln.dims<[5, 3, "n{1..8}"]>>) -> tensor<5x3x?xf32, #kiln.dims<[5, 3, "n{1..8}"]>>
    return %0 : tensor<5x3x?xf32, #kiln.dims<[5, 3, "n{1..8}"]>>
  }
}
