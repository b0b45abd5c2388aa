// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s --check-prefix=DEFAULT
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true | FileCheck %s --check-prefix=CLASSIC

// exp(0) is 1: padding after it may not move to the load. The default keeps one kernel and masks the value.
// DEFAULT: kernel.valid
// DEFAULT: kernel.alu where
// DEFAULT-NOT: kernel.func
// CLASSIC: kernel.func @E_3
// CLASSIC: kernel.func @E_4
func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> {
  %0 = graph.alu exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.pad %0 <[1]> <[0]> : tensor<3xf32> to tensor<4xf32>
  %2 = graph.alu neg %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
