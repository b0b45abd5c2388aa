// RUN: %kiln-opt %s --kiln-stage-view --kiln-stage-schedule | FileCheck %s

// A product and its sum are one kernel; the launch keeps the node's name, the kernel does not.
// CHECK: host.launch @r_2(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} from "['dot']"
// CHECK: kernel.func @r_2
// CHECK-SAME: domain = #kiln.dims<[2]>
// CHECK: kernel.alu mul
// CHECK: kernel.reduce add %{{.*}} over [0]
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<i32> {
  %0 = graph.alu mul %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32> loc("dot")
  %1 = graph.reduce add %0 [0] : tensor<2xi32> to tensor<1xi32> loc("dot")
  %2 = graph.reshape %1 : tensor<1xi32> to tensor<i32>
  return %2 : tensor<i32>
}
