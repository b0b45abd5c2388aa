// RUN: %kiln-opt %s --kiln-form-kernels | FileCheck %s

// Rows appended to an input are written through a view, and readers of both read that memory. Old rows are read before or
// after: they are not written.
// CHECK-LABEL: host.program @main
// CHECK-SAME: inputs = [#host.port<"", {{.*}} alias <0, 0, 8>>{{.*}}outputs = [#host.port<"", {{.*}} alias <0, 0, 8>>
// CHECK: %[[CACHE:.*]] = host.input 0
// CHECK-NOT: host.alloc
// CHECK: host.launch @[[STEP:.*]](%[[CACHE]], %{{.*}})
// CHECK: host.launch @{{.*}}(%{{.*}}, %[[CACHE]])
// CHECK: %[[SIZE:.*]] = host.eval <"(n{0..7}+1)">
// CHECK: host.output 0 dims(%[[SIZE]], %{{.*}})
// CHECK: kernel.func @[[STEP]]
// CHECK: kernel.store %{{.*}}, %arg0 <"(1,3):(0,1)+(n{0..7}*3)">
#n = #kiln.dims<["n{0..7}", 3]>
#n1 = #kiln.dims<["(n{0..7}+1)", 3]>
module attributes {kiln.symbols = [#kiln.symbol<"n", 0 to 7, default 1>]} {
func.func @main(%past: tensor<?x3xf32, #n> {graph.alias = #graph.alias<0, 0, 8>}, %step: tensor<1x3xf32>)
    -> (tensor<?x3xf32, #n1>, tensor<1x3xf32>) {
  %room = graph.room %past axis 0 capacity 8 : tensor<?x3xf32, #n> to tensor<8x3xf32>
  %0 = graph.alu neg %step : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = graph.assign %0 to %room at <["n{0..7}", 0]> : tensor<1x3xf32> to tensor<8x3xf32>
  %2 = graph.view %1 <"((n{0..7}+1),3):(3,1)"> : tensor<8x3xf32> to tensor<?x3xf32, #n1>
  %3 = graph.reduce add %2 [0] : tensor<?x3xf32, #n1> to tensor<1x3xf32>
  return %2, %3 : tensor<?x3xf32, #n1>, tensor<1x3xf32>
}
}
