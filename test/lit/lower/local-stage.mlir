// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// Ten points over items of four: the items fill the memory together, each point gated, between barriers. Whether a group
// has points outside is asked once for the whole group (its last item is 3), so all items meet at the same barriers.
// CHECK: uop.func @r_10_6{{.*}}local = array<i64: 4>
// CHECK: %[[MEM:.*]] = uop.define "smem0" 12 : <f32, local>
// CHECK: %[[GROUP:.*]] = uop.special group 0
// CHECK: %[[INSIDE:.*]] = uop.alu cmplt %[[GROUP]]
// CHECK: uop.if %[[INSIDE]] {
// CHECK: uop.range
// CHECK: uop.barrier
// CHECK: uop.range %
// CHECK-NOT: gate
// CHECK: uop.store %{{.*}}, %[[MEM]]
// CHECK: uop.barrier
// CHECK: uop.range %
// CHECK: uop.load %[[MEM]]
// CHECK: } else {
// CHECK: uop.barrier
// CHECK: uop.load %arg1{{.*}} gate
// CHECK: uop.store %{{.*}}, %[[MEM]]
// CHECK: uop.barrier
// CHECK: uop.store %{{.*}}, %arg0{{.*}} gate
kernel.func @r_10_6(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <3>, group>, #kernel.axis<1, <2>, loop>, #kernel.axis<2, <4>, item>,
                        #kernel.axis<3, <3>, loop>],
                domain = #kiln.dims<[10, 6]>, index = #kiln.dims<["((_x0{0..2}*4)+_x2{0..3})", "((_x1{0..1}*3)+_x3{0..2})"]>,
                opts = [#kernel.opt<LOCAL, 0, 4>, #kernel.opt<GLOBAL, 0, 0>, #kernel.opt<TILE, 1, 3>, #kernel.opt<STAGE, 1, 1>],
                scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(10,6):(6,1)"> : <f32> -> f32
  %1 = kernel.stage %0 walk [#kernel.axis<4, <3>, loop>, #kernel.axis<5, <4>, loop>]
    index <["((_x0{0..2}*4)+_x5{0..3})", "((_x1{0..1}*3)+_x4{0..2})"]>
    layout [#kernel.part<1, 1, <3>>, #kernel.part<0, 1, <4>>] : f32
  %2 = kernel.reduce add %1 over [1, 3] : f32
  kernel.store %2, %out <"(10,1):(1,0)"> : f32, <f32>
}
