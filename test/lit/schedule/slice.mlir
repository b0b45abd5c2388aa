// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true | FileCheck %s

// Rows 3 and 4 are where they are already, 144 bytes into the input; a transposed input is not. An output
// that is there already is copied.
// CHECK: %[[X:.*]] = host.input 0
// CHECK: %[[FIRST:.*]] = host.offset %[[X]]
// CHECK: %[[OUT:.*]] = host.output 2
// CHECK: host.copy %[[OUT]], %[[FIRST]]
// CHECK: %[[BYTES:.*]] = arith.constant 144
// CHECK: %[[ROWS:.*]] = host.offset %[[X]], %[[BYTES]]
// CHECK: host.launch @E_12_7(%[[T:.*]], %[[X]])
// CHECK: host.launch @E_24(%{{.*}}, %[[ROWS]])
// CHECK: host.launch @E_84(%{{.*}}, %[[T]])
func.func @main(%x: tensor<7x12xf32>) -> (tensor<2x12xf32>, tensor<12x7xf32>, tensor<1x12xf32>) {
  %0 = graph.shrink %x <[3, 0]> <[5, 12]> : tensor<7x12xf32> to tensor<2x12xf32>
  %1 = graph.contiguous %0 : tensor<2x12xf32>
  %2 = graph.alu neg %1 : (tensor<2x12xf32>) -> tensor<2x12xf32>
  %3 = graph.permute %x [1, 0] : tensor<7x12xf32> to tensor<12x7xf32>
  %4 = graph.contiguous %3 : tensor<12x7xf32>
  %5 = graph.alu neg %4 : (tensor<12x7xf32>) -> tensor<12x7xf32>
  %6 = graph.shrink %x <[1, 0]> <[2, 12]> : tensor<7x12xf32> to tensor<1x12xf32>
  return %2, %5, %6 : tensor<2x12xf32>, tensor<12x7xf32>, tensor<1x12xf32>
}
