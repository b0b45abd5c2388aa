// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-reuse-inputs --split-input-file | FileCheck %s

// The product's last reader adds to it, element by element: the sum lies where the product was.
// CHECK-LABEL: host.program @main
// CHECK: host.launch @r_8_8(%[[SUM:[^,]*]],
// CHECK-NOT: host.alloc
// CHECK: host.launch @E_64(%[[SUM]], %{{[^,]*}})
// CHECK: host.launch @r_8_8n1(%{{.*}}, %[[SUM]])
// CHECK: kernel.func @E_64(%[[BOTH:.*]]: !kernel.buffer<f32>, %{{.*}}: !kernel.buffer<f32>)
// CHECK: kernel.load %[[BOTH]]
// CHECK: kernel.store %{{.*}}, %[[BOTH]]
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = graph.reduce add %x [0] : tensor<8x8xf32> to tensor<1x8xf32>
  %1 = graph.expand %0 : tensor<1x8xf32> to tensor<8x8xf32>
  %2 = graph.alu mul %1, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = graph.contiguous %2 : tensor<8x8xf32>
  %4 = graph.alu exp %3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = graph.alu add %4, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = graph.contiguous %5 : tensor<8x8xf32>
  %7 = graph.reduce max %6 [1] : tensor<8x8xf32> to tensor<8x1xf32>
  %8 = graph.reshape %7 : tensor<8x1xf32> to tensor<8xf32>
  return %8 : tensor<8xf32>
}

// -----

// Elements in another order may be overwritten before they are read.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-2: host.alloc
func.func @main(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = graph.alu exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.contiguous %0 : tensor<8x8xf32>
  %2 = graph.permute %1 [1, 0] : tensor<8x8xf32> to tensor<8x8xf32>
  %3 = graph.alu mul %2, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = graph.contiguous %3 : tensor<8x8xf32>
  %5 = graph.reduce max %4 [1] : tensor<8x8xf32> to tensor<8x1xf32>
  %6 = graph.reshape %5 : tensor<8x1xf32> to tensor<8xf32>
  return %6 : tensor<8xf32>
}

// -----

// Nor where a later kernel reads it once more.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-2: host.alloc
func.func @main(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = graph.alu exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.contiguous %0 : tensor<8x8xf32>
  %2 = graph.alu sin %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = graph.contiguous %2 : tensor<8x8xf32>
  %4 = graph.alu mul %3, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = graph.reduce max %4 [1] : tensor<8x8xf32> to tensor<8x1xf32>
  %6 = graph.reshape %5 : tensor<8x1xf32> to tensor<8xf32>
  return %6 : tensor<8xf32>
}
