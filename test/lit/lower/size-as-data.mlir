// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// A size that is data may be larger than any index: here n·m, of a kernel with one point.
// CHECK: uop.func @E({{.*}}, %[[N:arg1]]: i64, %[[M:arg2]]: i64)
// CHECK: %[[SIZE:.*]] = uop.alu mul %{{.*}}, %{{.*}} : (i64, i64) -> i64
// CHECK: uop.store %[[SIZE]]
kernel.func @E(%out: !kernel.buffer<i64>)
    attributes {axes = [], domain = #kiln.dims<[]>, index = #kiln.dims<[]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n", "m"]>} {
  %0 = kernel.size <"n*m"> : i64
  kernel.store %0, %out <"():()"> : i64, <i64>
}
