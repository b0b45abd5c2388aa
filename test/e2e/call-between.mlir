// A kernel that reads what a call gives waits for the kernel whose result the call takes: although both walk the same
// input they do not become one.
// RUN: %kiln run %s | FileCheck %s
// RUN: %kiln run %s --schedule classic | FileCheck %s
// RUN: %kiln verify %s
// RUN: %kiln compile %s --stats -o %t | FileCheck %s --check-prefix=STATS
// CHECK: y: float32 [4]
// CHECK-NEXT: [ 2.  4.  6. 20.]
// CHECK: z: int64 []
// CHECK-NEXT: 9
// The result of a call is only read there.
// STATS: E_4n1 {{ *}}writes '', float32 [4], 16 bytes: an output of the model
// STATS-NOT: E_4n1
module attributes {kiln.stage = "import", kiln.symbols = []} {
  func.func @main(%x: tensor<4xf32> {graph.name = "x", graph.value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>},
                  %at: tensor<4xi64> {graph.name = "at", graph.value = dense<[3, 3, 3, 3]> : tensor<4xi64>},
                  %n: tensor<i64> {graph.name = "n", graph.value = dense<3> : tensor<i64>})
      -> (tensor<4xf32> {graph.name = "y"}, tensor<i64> {graph.name = "z"}) {
    %0 = graph.alu mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.call "scatter"(%x, %at, %0) <[4, 4, 1, 11, 3]> : (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4xf32>
    %2 = graph.alu add %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = graph.alu add %n, %n : (tensor<i64>, tensor<i64>) -> tensor<i64>
    graph.bind <"s", 0 to 9, default 1> %3 : tensor<i64>
    %4 = graph.size <"s{0..9}"> : tensor<i64>
    %5 = graph.alu add %4, %n : (tensor<i64>, tensor<i64>) -> tensor<i64>
    return %2, %5 : tensor<4xf32>, tensor<i64>
  }
}
