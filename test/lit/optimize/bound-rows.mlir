// A gather whose rows follow from a table of known numbers compares none of them with its own table: `next` has numbers from 0 to
// 6, so a walk through it stays in range, also after a step of 0 or 1. What a run gives may be anything, and so may what two
// launches of one kernel give if one has a table that leads out of range.
// Rows that another kernel has clamped are in range, too.
// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule --kiln-bound-rows | FileCheck %s

// CHECK-LABEL: kernel.func @E_5(
// CHECK: kernel.load %{{[a-z0-9]+}} <"(5,8):(0,1)"> row %{{[0-9]+}} : i64 : <i64>
// CHECK: kernel.load %{{[a-z0-9]+}} <"(5,8):(0,1)"> row %{{[0-9]+}} : i64 in_bounds : <i64>
// CHECK: kernel.load %{{[a-z0-9]+}} <"(5,8):(0,1)"> row %{{[0-9]+}} : i64 in_bounds : <f32>
// CHECK-LABEL: kernel.func @E_3(
// CHECK: kernel.load %{{[a-z0-9]+}} <"(3,8):(0,1)"> row %{{[0-9]+}} : i64 : <f32>
// CHECK: kernel.load %{{[a-z0-9]+}} <"(5,8):(0,1)"> row %{{[0-9]+}} : i64 in_bounds : <f32>
func.func @main(%at: tensor<5xi64>, %less: tensor<5xi1>, %x: tensor<8xf32>, %z: tensor<8xf32>)
    -> (tensor<5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<5xf32>) {
  %next = graph.weight "next" : tensor<8xi64> = dense<[1, 3, 5, 6, 0, 2, 4, 6]> : tensor<8xi64>
  %a = graph.gather %next[%at] 0 : tensor<8xi64>, tensor<5xi64> to tensor<5xi64>
  %step = graph.alu cast %less : (tensor<5xi1>) -> tensor<5xi64>
  %b = graph.alu add %a, %step : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  %c = graph.gather %next[%b] 0 : tensor<8xi64>, tensor<5xi64> to tensor<5xi64>
  %y = graph.gather %x[%c] 0 : tensor<8xf32>, tensor<5xi64> to tensor<5xf32>
  %near = graph.weight "near" : tensor<3xi64> = dense<[7, 0, 3]> : tensor<3xi64>
  %far = graph.weight "far" : tensor<3xi64> = dense<[7, 8, 3]> : tensor<3xi64>
  %v = graph.gather %x[%near] 0 : tensor<8xf32>, tensor<3xi64> to tensor<3xf32>
  %w = graph.gather %z[%far] 0 : tensor<8xf32>, tensor<3xi64> to tensor<3xf32>
  %least = graph.const 0 : i64 : tensor<5xi64>
  %most = graph.const 7 : i64 : tensor<5xi64>
  %up = graph.alu max %at, %least : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  %between = graph.alu min %up, %most : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  %clamped = graph.contiguous %between : tensor<5xi64>
  %u = graph.gather %z[%clamped] 0 : tensor<8xf32>, tensor<5xi64> to tensor<5xf32>
  return %y, %v, %w, %u : tensor<5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<5xf32>
}
