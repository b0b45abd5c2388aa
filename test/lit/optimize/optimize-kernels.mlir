// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: UPCAST 0 3, UNROLL 1 2'" | FileCheck %s

// A split changes axes and index, never a load. 8 is not a multiple of 3: three steps of three.
// CHECK: kernel.func @r_8_4
// CHECK-SAME: #kernel.axis<0, <3>, loop>, #kernel.axis<1, <2>, loop>, #kernel.axis<2, <3>, upcast>, #kernel.axis<3, <2>, upcast>
// CHECK-SAME: opts = [#kernel.opt<UPCAST, 0, 3>, #kernel.opt<UNROLL, 1, 2>]
// CHECK: kernel.load %{{.*}} <"(8,4):(4,1)">
// CHECK: kernel.reduce add %{{.*}} over [1, 3]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %0 = graph.reduce add %x [1] : tensor<8x4xf32> to tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}
