// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s
// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_4_8_6: UPCAST 1 8, UNROLL 2 2'" --kiln-stage-lower | FileCheck %s --check-prefix=UNROLLED
// RUN: not %kiln-opt %s --kiln-optimize-kernels="opts='r_4_8_6: GROUP 2 2'" 2>&1 | FileCheck %s --check-prefix=GROUP

// One walk carries the largest score and the total, scaled down where a larger score comes. Exponents are taken from a
// finite number.
// CHECK: %[[NEVER:.*]] = uop.const 0xFF800000 : f32
// CHECK: %[[LOWEST:.*]] = uop.const -3.40282347E+38 : f32
// CHECK: uop.range {{.*}} init(%[[MOST:.*]] = %[[NEVER]], %[[SUM:.*]] = %{{.*}})
// CHECK: %[[SCORE:.*]] = uop.load
// CHECK: %[[NOW:.*]] = uop.alu max %[[MOST]], %[[SCORE]]
// CHECK: %[[FINITE:.*]] = uop.alu max %[[NOW]], %[[LOWEST]]
// CHECK: %[[WEIGHT:.*]] = uop.alu exp
// CHECK: %[[DECAY:.*]] = uop.alu exp
// CHECK: %[[SCALED:.*]] = uop.alu mul %[[SUM]], %[[DECAY]]
// CHECK: %[[TERM:.*]] = uop.alu mul %{{.*}}, %[[WEIGHT]]
// CHECK: %[[TOTAL:.*]] = uop.alu add %[[SCALED]], %[[TERM]]
// CHECK: uop.yield %[[NOW]], %[[TOTAL]]

// Eight totals share a score: three exponentials for two scores, one for the decay.
// UNROLLED: uop.range
// UNROLLED: uop.range
// UNROLLED-COUNT-3: uop.alu exp
// UNROLLED-NOT: uop.alu exp

// GROUP: opt GROUP 2 2: items would go by different largest scores
kernel.func @r_4_8_6(%out: !kernel.buffer<f32>, %s: !kernel.buffer<f32>, %v: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <8>, loop>, #kernel.axis<2, <6>, loop>],
                domain = #kiln.dims<[4, 8, 6]>, index = #kiln.dims<["_x0{0..3}", "_x1{0..7}", "_x2{0..5}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %s <"(4,8,6):(6,0,1)"> : <f32> -> f32
  %1 = kernel.load %v <"(4,8,6):(0,1,8)"> : <f32> -> f32
  %2 = kernel.reduce add %1 scored by %0 : f32 over [2] : f32
  kernel.store %2, %out <"(4,8,1):(8,1,0)"> : f32, <f32>
}
