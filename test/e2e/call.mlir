// What the host computes in the middle of a program, the same on every device: stores in order into rows that are data,
// and places whose number is data and the size of what follows.
// RUN: %kiln run %s | FileCheck %s
// RUN: %kiln run %s --device c | FileCheck %s
// RUN: %kiln run %s --device opencl | FileCheck %s
// RUN: %kiln run %s --device interp | FileCheck %s
// RUN: %kiln run %s --schedule classic | FileCheck %s
// RUN: %kiln verify %s
// CHECK: sums: float32 [3, 2]
// CHECK-NEXT: 0. {{.*}}1.
// CHECK-NEXT: 10. {{.*}}15.
// CHECK-NEXT: 8. {{.*}}11.
// CHECK: places: int64 [2]
// CHECK-NEXT: [0 6]
module attributes {kiln.stage = "import", kiln.symbols = []} {
  func.func @main(%x: tensor<3x2xf32> {graph.name = "x", graph.value = dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf32>},
                  %at: tensor<3xi64> {graph.name = "at", graph.value = dense<[1, 2, 1]> : tensor<3xi64>},
                  %mask: tensor<4xi1> {graph.name = "mask", graph.value = dense<[true, false, true, false]> : tensor<4xi1>})
      -> (tensor<3x2xf32> {graph.name = "sums"}, tensor<?xi64, #kiln.dims<["count{0..4}"]>> {graph.name = "places"}) {
    %update = graph.alu add %x, %x : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %turned = graph.flip %update [0] : tensor<3x2xf32> to tensor<3x2xf32>
    %0 = graph.call "scatter"(%x, %at, %turned) <[3, 3, 2, 11, 1]> : (tensor<3x2xf32>, tensor<3xi64>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %1:2 = graph.call "select"(%mask) <[4]> : (tensor<4xi1>) -> (tensor<4xi64>, tensor<i64>)
    graph.bind <"count", 0 to 4, default 1> %1#1 : tensor<i64>
    %2 = graph.shrink %1#0 <[0]> <["count{0..4}"]> : tensor<4xi64> to tensor<?xi64, #kiln.dims<["count{0..4}"]>>
    %three = graph.const 3 : i64 : tensor<?xi64, #kiln.dims<["count{0..4}"]>>
    %3 = graph.alu mul %2, %three : (tensor<?xi64, #kiln.dims<["count{0..4}"]>>, tensor<?xi64, #kiln.dims<["count{0..4}"]>>) -> tensor<?xi64, #kiln.dims<["count{0..4}"]>>
    return %0, %3 : tensor<3x2xf32>, tensor<?xi64, #kiln.dims<["count{0..4}"]>>
  }
}
