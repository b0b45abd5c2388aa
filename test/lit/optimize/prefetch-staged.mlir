// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='E_8_15: PREFETCH 0 1, STAGE 0 1'" | FileCheck %s

// A load that is staged stands in another walk than the loop that it was to be read ahead of.
// CHECK: kernel.func @E_8_15
// CHECK-NOT: ahead
// CHECK: kernel.stage
// CHECK-NOT: ahead
func.func @main(%x: tensor<15x8xf32>) -> tensor<8x15xf32> {
  %0 = graph.view %x <"(8,15):(1,8)"> : tensor<15x8xf32> to tensor<8x15xf32>
  %1 = graph.alu neg %0 : (tensor<8x15xf32>) -> tensor<8x15xf32>
  return %1 : tensor<8x15xf32>
}
