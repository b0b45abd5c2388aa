// A view names the nodes that it stands for, the nearest to memory first; movement that moves nothing leaves its
// tensor's name to what it would have moved.
// RUN: %kiln-opt %s --kiln-fold-movement --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK:      graph.alu exp {{.*}} loc("exp"("y"))
// CHECK:      graph.view {{.*}} loc(fused["turn", "cut"("z")])
module {
  func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>) {
    %e = graph.alu exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("exp")
    %same = graph.reshape %e : tensor<2x3xf32> to tensor<2x3xf32> loc("exp"("y"))
    %turned = graph.permute %e [1, 0] : tensor<2x3xf32> to tensor<3x2xf32> loc("turn")
    %flat = graph.reshape %turned : tensor<3x2xf32> to tensor<6xf32> loc("cut"("z"))
    return %same, %flat : tensor<2x3xf32>, tensor<6xf32>
  }
}
