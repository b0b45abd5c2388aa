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

// Of a size whose result is small, a step on the way may be large, and so may what a mask compares with.
// CHECK: uop.func @E_1({{.*}}, %{{.*}}: i64, %{{.*}}: i64)
kernel.func @E_1(%out: !kernel.buffer<i64>)
    attributes {axes = [], domain = #kiln.dims<[]>, index = #kiln.dims<[]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n", "m"]>} {
  %0 = kernel.size <"(n*m)%10"> : i64
  kernel.store %0, %out <"():()"> : i64, <i64>
}

// A mask compares with n + m - k, which int32 does not hold, though all of its parts and the index fit.
// CHECK: uop.func @E_10({{.*}}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
kernel.func @E_10(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <10>, loop>], domain = #kiln.dims<[10]>, index = #kiln.dims<["_x0{0..9}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n", "m", "k"]>} {
  %0 = kernel.load %x <"(10):(1)?[n+m+-1*k:10]"> : <f32> -> f32
  kernel.store %0, %out <"(10):(1)"> : f32, <f32>
}
