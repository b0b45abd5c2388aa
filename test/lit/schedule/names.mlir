// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels | FileCheck %s

// A kernel of 2·n elements reads as the third of a single one: each has a name of its own.
// CHECK-DAG: kernel.func @E_n2(
// CHECK-DAG: kernel.func @E_(
// CHECK-DAG: kernel.func @E_n1(
// CHECK-DAG: kernel.func @E_n3(
module attributes {kiln.symbols = [#kiln.symbol<"n", 0 to 2147483647, default 1>]} {
  func.func @main(%x: tensor<?x2xf32, #kiln.dims<["n", 2]>>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>)
      -> (tensor<?xf32, #kiln.dims<["(n*2)"]>>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %all = graph.reshape %x : tensor<?x2xf32, #kiln.dims<["n", 2]>> to tensor<?xf32, #kiln.dims<["(n*2)"]>>
    %0 = graph.alu neg %all : (tensor<?xf32, #kiln.dims<["(n*2)"]>>) -> tensor<?xf32, #kiln.dims<["(n*2)"]>>
    %1 = graph.alu neg %y : (tensor<f32>) -> tensor<f32>
    %2 = graph.alu sin %z : (tensor<f32>) -> tensor<f32>
    %3 = graph.alu exp %w : (tensor<f32>) -> tensor<f32>
    return %0, %1, %2, %3 : tensor<?xf32, #kiln.dims<["(n*2)"]>>, tensor<f32>, tensor<f32>, tensor<f32>
  }
}
