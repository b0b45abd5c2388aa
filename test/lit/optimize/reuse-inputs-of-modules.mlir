// RUN: %kiln-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(builtin.module(kiln-stage-view,kiln-form-kernels,kiln-reuse-inputs))' | FileCheck %s

// One pass is run on a module, as recipes are, after another, and knows nothing of the first in the second. There a kernel is
// launched twice, and once in place; here once, so that it keeps its name.

// CHECK-LABEL: module @first
// CHECK: kernel.func @E_64_in_place
module @first {
  func.func @main(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.reduce add %x [0] : tensor<8x8xf32> to tensor<1x8xf32>
    %1 = graph.expand %0 : tensor<1x8xf32> to tensor<8x8xf32>
    %2 = graph.contiguous %1 : tensor<8x8xf32>
    %3 = graph.alu exp %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = graph.contiguous %3 : tensor<8x8xf32>
    %5 = graph.alu exp %4 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = graph.contiguous %5 : tensor<8x8xf32>
    %7 = graph.reduce max %6 [1] : tensor<8x8xf32> to tensor<8x1xf32>
    %8 = graph.reshape %7 : tensor<8x1xf32> to tensor<8xf32>
    %9 = graph.reduce max %4 [1] : tensor<8x8xf32> to tensor<8x1xf32>
    %10 = graph.reshape %9 : tensor<8x1xf32> to tensor<8xf32>
    return %8, %10 : tensor<8xf32>, tensor<8xf32>
  }
}

// CHECK-LABEL: module @second
// CHECK-NOT: in_place
module @second {
  func.func @main(%x: tensor<8x8xf32>) -> tensor<8xf32> {
    %0 = graph.reduce add %x [0] : tensor<8x8xf32> to tensor<1x8xf32>
    %1 = graph.expand %0 : tensor<1x8xf32> to tensor<8x8xf32>
    %2 = graph.contiguous %1 : tensor<8x8xf32>
    %3 = graph.alu exp %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = graph.contiguous %3 : tensor<8x8xf32>
    %5 = graph.reduce max %4 [1] : tensor<8x8xf32> to tensor<8x1xf32>
    %6 = graph.reshape %5 : tensor<8x1xf32> to tensor<8xf32>
    return %6 : tensor<8xf32>
  }
}
