// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-reuse-inputs | FileCheck %s

// Not where the kernel sums what it reads too: a row's sum needs what its first element would overwrite.
// CHECK-LABEL: host.program @main
// CHECK: host.alloc
// CHECK: host.launch @E_64
// CHECK: host.alloc
// CHECK: host.launch @r_8_8(
// CHECK-NOT: host.alloc
module attributes {kiln.target = #kiln.target<device = "cpu", rates = <bytes_per_ns = 10, ops_per_ns = 10,
    product_ops_per_ns = 60, launch_ns = 1.0e+9, units = 1, tile_reuse = 8>>} {
func.func @main(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = graph.alu exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.contiguous %0 : tensor<8x8xf32>
  %2 = graph.reduce add %1 [0] : tensor<8x8xf32> to tensor<1x8xf32>
  %3 = graph.expand %2 : tensor<1x8xf32> to tensor<8x8xf32>
  %4 = graph.alu mul %3, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = graph.contiguous %4 : tensor<8x8xf32>
  %6 = graph.reduce max %5 [1] : tensor<8x8xf32> to tensor<8x1xf32>
  %7 = graph.reshape %6 : tensor<8x1xf32> to tensor<8xf32>
  return %7 : tensor<8xf32>
}
}
