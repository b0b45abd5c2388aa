// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true --split-input-file | FileCheck %s

// 131072 elements to one: 256 parts of 512, then the parts. The part comes from the first axis that divides, not from
// one that repeats its elements.
// CHECK: host.launch @r_256_512_2(
// CHECK: host.launch @r_256(
// CHECK-NOT: host.launch
// CHECK: kernel.func @r_256_512_2
// CHECK: kernel.load %{{.*}} <"(512,2,256):(0,1,2)
func.func @main(%x: tensor<1x512xf32>) -> tensor<1x1xf32> {
  %0 = graph.expand %x : tensor<1x512xf32> to tensor<512x512xf32>
  %1 = graph.reduce add %0 [0, 1] : tensor<512x512xf32> to tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}

// -----

// A part as large as its axis: nothing of that axis is left to the first reduce.
// CHECK: host.launch @r_181_200(
// CHECK: host.launch @r_181(
// CHECK: kernel.reduce max %{{.*}} over [1]
// CHECK: kernel.reduce max %{{.*}} over [2]
func.func @main(%x: tensor<181x200xf32>) -> tensor<1x1xf32> {
  %0 = graph.reduce max %x [0, 1] : tensor<181x200xf32> to tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
