// RUN: split-file %s %t
// RUN: %kiln-opt %t/kept.mlir --kiln-verify-stage="stage=view" | FileCheck %s --check-prefix=KEPT
// RUN: not %kiln-opt %t/movement.mlir --kiln-verify-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=MOVEMENT
// RUN: not %kiln-opt %t/views.mlir --kiln-verify-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=VIEWS
// RUN: not %kiln-opt %t/number.mlir --kiln-verify-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not %kiln-opt %t/cast.mlir --kiln-verify-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not %kiln-opt %t/point.mlir --kiln-verify-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=POINT
// RUN: not %kiln-opt %t/alias.mlir --kiln-verify-stage="stage=view" 2>&1 | FileCheck %s --check-prefix=ALIAS
// RUN: not %kiln-opt %t/kept.mlir --kiln-verify-stage="stage=schedule" 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not %kiln-opt %t/kept.mlir --kiln-verify-stage="stage=shedule" 2>&1 | FileCheck %s --check-prefix=NAME

// A module is marked with a stage whose promises it keeps, and with no other.
// KEPT: module attributes {kiln.stage = "view"}
// MOVEMENT: after stage view: a movement op is left
// VIEWS: after stage view: a view reads a view
// NUMBER: after stage view: a view of a number is not the number
// CAST: after stage view: a cast is of a view of a number
// POINT: after stage view: a reduce is over an axis of one point
// ALIAS: after stage view: an output is to lie in an input's memory and is not assigned there
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
//--- number.mlir
func.func @main() -> tensor<2x4xf32> {
  %0 = graph.const 1.0 : f32 : tensor<4xf32>
  %1 = graph.view %0 <"(2,4):(0,1)"> : tensor<4xf32> to tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
//--- cast.mlir
func.func @main() -> tensor<6xi32> {
  %0 = graph.const 1.0 : f32 : tensor<4xf32>
  %1 = graph.view %0 <"(6):(1)+-1?[1:5]"> : tensor<4xf32> to tensor<6xf32>
  %2 = graph.alu cast %1 : (tensor<6xf32>) -> tensor<6xi32>
  return %2 : tensor<6xi32>
}
//--- point.mlir
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = graph.reduce add %x [1] : tensor<4x1xf32> to tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
//--- alias.mlir
func.func @main(%state: tensor<4xf32> {graph.alias = #graph.alias<0>}) -> tensor<4xf32> {
  %0 = graph.alu neg %state : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
