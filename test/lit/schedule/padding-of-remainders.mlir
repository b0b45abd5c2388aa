// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s --check-prefix=DEFAULT
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic=true | FileCheck %s --check-prefix=CLASSIC

// A remainder by 0 is not a number, so padding after it may not move to the loads. The default masks the value.
// DEFAULT: kernel.alu mod
// DEFAULT-NEXT: kernel.valid
// DEFAULT: kernel.alu where
// DEFAULT-NOT: kernel.func
// CLASSIC: kernel.func @E_3
// CLASSIC: kernel.func @E_4
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<4xf32> {
  %0 = graph.alu mod %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.pad %0 <[1]> <[0]> : tensor<3xf32> to tensor<4xf32>
  %2 = graph.alu neg %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
