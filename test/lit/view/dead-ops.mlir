// An If or a loop that nothing reads stays as long as an op after it names a size of its result, and goes if none does.
// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s

// CHECK: scf.if
// CHECK-NOT: scf.if
func.func @main(%x: tensor<9xf32>, %c: tensor<i1>) -> tensor<i64> {
  %r = graph.if %c : tensor<i1> -> (tensor<?xf32, #kiln.dims<["i{1..9}"]>>) {
    %t = graph.shrink %x <[0]> <[2]> : tensor<9xf32> to tensor<2xf32>
    graph.yield %t : tensor<2xf32>
  } else {
    graph.yield %x : tensor<9xf32>
  }
  %u = graph.if %c : tensor<i1> -> (tensor<?xf32, #kiln.dims<["u{1..9}"]>>) {
    %t = graph.shrink %x <[0]> <[3]> : tensor<9xf32> to tensor<3xf32>
    graph.yield %t : tensor<3xf32>
  } else {
    graph.yield %x : tensor<9xf32>
  }
  %s = graph.size <"i{1..9}"> : tensor<i64>
  return %s : tensor<i64>
}
