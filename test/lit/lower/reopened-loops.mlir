// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_6_12: TILE 1 7, SWAP 2 0'" --kiln-stage-lower | FileCheck %s

// The loops of a part and of what it is a part of stand around the store, and are opened again for the largest of a row:
// there the inner part comes first and is walked whole, wherever the outer loop around is; the outer part then ends where the
// domain does.
// CHECK: uop.func @r_6_12
// CHECK-DAG: %[[ZERO:.*]] = uop.const 0 : i32
// CHECK-DAG: %[[SEVEN:.*]] = uop.const 7 : i32
// CHECK: uop.range %{{.*}} = %[[ZERO]] to %[[SEVEN]] :
// CHECK: %[[WHOLES:.*]] = uop.alu idiv
// CHECK: %[[PARTS:.*]] = uop.alu add %[[WHOLES]]
// CHECK: uop.range %{{.*}} = %[[ZERO]] to %[[PARTS]] :
// CHECK: uop.range {{.*}} = %[[ZERO]] to %[[SEVEN]] : i32 init
// CHECK: %[[REST:.*]] = uop.alu idiv
// CHECK: %[[LEFT:.*]] = uop.alu add %[[REST]]
// CHECK: uop.range {{.*}} = %[[ZERO]] to %[[LEFT]] : i32 init
kernel.func @r_6_12(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <6>, loop>, #kernel.axis<1, <12>, loop>], domain = #kiln.dims<[6, 12]>,
                index = #kiln.dims<["_x0{0..5}", "_x1{0..11}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(6,12):(12,1)"> : <f32> -> f32
  %1 = kernel.reduce max %0 over [1] : f32
  %2 = kernel.alu cmplt %0, %1 : (f32, f32) -> i1
  %3 = kernel.alu where %2, %0, %1 : (i1, f32, f32) -> f32
  kernel.store %3, %out <"(6,12):(12,1)"> : f32, <f32>
}
