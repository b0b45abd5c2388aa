// RUN: %kiln-opt %s --kiln-assign-aliases --split-input-file --verify-diagnostics | FileCheck %s

// A concatenation with the input in front: the rest is written after it, and readers of the two read that memory. A result
// longer than the room ends the run.
// CHECK-LABEL: func.func @main
// CHECK: %[[ROOM:.*]] = graph.room %arg0 axis 1 capacity 8 : {{.*}} to tensor<2x8xf32>
// CHECK: %[[PAST:.*]] = graph.shrink %[[ROOM]] <[0, 0]> <[2, "n{0..9}"]>
// CHECK: graph.check <"(n{0..9}<8)"> "output 'now': the size (1+n) is more than the capacity of 8; compile it with a larger one by --alias"
// CHECK: %[[ALL:.*]] = graph.assign %arg1 to %[[ROOM]] at <[0, "n{0..9}"]>
// CHECK: %[[NOW:.*]] = graph.shrink %[[ALL]] <[0, 0]> <[2, "(n{0..9}+1)"]>
// CHECK: graph.alu neg %[[NOW]]
// CHECK: graph.alu neg %[[PAST]]
// CHECK: return %[[NOW]]
#n = #kiln.dims<[2, "n{0..9}"]>
#n1 = #kiln.dims<[2, "(n{0..9}+1)"]>
func.func @main(%past: tensor<2x?xf32, #n> {graph.alias = #graph.alias<0, 1, 8>}, %step: tensor<2x1xf32>)
    -> (tensor<2x?xf32, #n1> {graph.name = "now"}, tensor<2x?xf32, #n1>, tensor<2x?xf32, #n>) {
  %0 = graph.pad %past <[0, 0]> <[0, 1]> : tensor<2x?xf32, #n> to tensor<2x?xf32, #n1>
  %1 = graph.pad %step <[0, "n{0..9}"]> <[0, 0]> : tensor<2x1xf32> to tensor<2x?xf32, #n1>
  %2 = graph.const true : tensor<2x1xi1>
  %3 = graph.pad %2 <[0, "n{0..9}"]> <[0, 0]> : tensor<2x1xi1> to tensor<2x?xi1, #n1>
  %4 = graph.alu where %3, %1, %0 : (tensor<2x?xi1, #n1>, tensor<2x?xf32, #n1>, tensor<2x?xf32, #n1>) -> tensor<2x?xf32, #n1>
  %5 = graph.alu neg %4 : (tensor<2x?xf32, #n1>) -> tensor<2x?xf32, #n1>
  %6 = graph.alu neg %past : (tensor<2x?xf32, #n>) -> tensor<2x?xf32, #n>
  return %4, %5, %6 : tensor<2x?xf32, #n1>, tensor<2x?xf32, #n1>, tensor<2x?xf32, #n>
}

// -----

// Several parts after the input are one value, and enough room needs no check.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.check
// CHECK: %[[BOTH:.*]] = graph.alu where {{.*}} -> tensor<2xf32>
// CHECK: graph.assign %[[BOTH]] to %{{.*}} at <[2]> : tensor<2xf32> to tensor<4xf32>
func.func @main(%past: tensor<2xf32> {graph.alias = #graph.alias<0, 0, 4>}, %a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<4xf32> {
  %0 = graph.pad %past <[0]> <[2]> : tensor<2xf32> to tensor<4xf32>
  %1 = graph.pad %a <[2]> <[1]> : tensor<1xf32> to tensor<4xf32>
  %2 = graph.const true : tensor<1xi1>
  %3 = graph.pad %2 <[2]> <[1]> : tensor<1xi1> to tensor<4xi1>
  %4 = graph.alu where %3, %1, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.pad %b <[3]> <[0]> : tensor<1xf32> to tensor<4xf32>
  %6 = graph.pad %2 <[3]> <[0]> : tensor<1xi1> to tensor<4xi1>
  %7 = graph.alu where %6, %5, %4 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %7 : tensor<4xf32>
}

// -----

// Of one shape: the whole is written, and who reads the input reads what it was.
// CHECK-LABEL: func.func @main
// CHECK: %[[NEXT:.*]] = graph.alu sqrt %arg0
// CHECK: %[[HELD:.*]] = graph.assign %[[NEXT]] to %arg0
// CHECK: %[[SUM:.*]] = graph.alu add %arg0, %[[HELD]]
// CHECK: return %[[HELD]], %[[SUM]]
func.func @main(%state: tensor<4xf32> {graph.alias = #graph.alias<0>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.alu sqrt %state : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.alu add %state, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An output that is the input is there already; one that is another input goes there.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[A:.*]] = graph.assign %arg1 to %arg0
// CHECK-NEXT: return %[[A]], %arg1
func.func @main(%a: tensor<4xf32> {graph.alias = #graph.alias<0>}, %b: tensor<4xf32> {graph.alias = #graph.alias<1>})
    -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%past: tensor<2xf32> {graph.alias = #graph.alias<0, 0, 4>}) -> tensor<3xf32> {
  // expected-error@+1 {{the output that lies in the memory of an input is not that input with more after it}}
  %0 = graph.pad %past <[1]> <[0]> : tensor<2xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}
