// RUN: split-file %s %t
// RUN: %kiln-opt %t/kept.mlir --kiln-mark-stage="stage=view" | FileCheck %s --check-prefix=KEPT
// RUN: not %kiln-opt %t/movement.mlir --kiln-mark-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=MOVEMENT
// RUN: not %kiln-opt %t/views.mlir --kiln-mark-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=VIEWS
// RUN: not %kiln-opt %t/kept.mlir --kiln-mark-stage="stage=schedule" 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not %kiln-opt %t/kept.mlir --kiln-mark-stage="stage=shedule" 2>&1 | FileCheck %s --check-prefix=NAME

// A module is marked with a stage whose promises it keeps, and with no other.
// KEPT: module attributes {kiln.stage = "view"}
// MOVEMENT: after stage view: a movement op is left
// VIEWS: after stage view: a view reads a view
// TENSOR: after stage schedule: a tensor op is left
// NAME: there is no stage 'shedule'

//--- kept.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = graph.view %x <"(1,4):(0,1)"> : tensor<4xf32> to tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
//--- movement.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = graph.reshape %x : tensor<4xf32> to tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
//--- views.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = graph.view %x <"(1,4):(0,1)"> : tensor<4xf32> to tensor<1x4xf32>
  %1 = graph.view %0 <"(2,4):(0,1)"> : tensor<1x4xf32> to tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
