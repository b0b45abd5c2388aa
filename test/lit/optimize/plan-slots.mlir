// RUN: %kiln-opt %s --kiln-plan-memory | FileCheck %s

// What a sample passes on lies in its slot. Of three in a row the first and the last share bytes; of three among zeros the
// first and the last share a block, but not the second, whose zeros are at other places.
// CHECK: %[[BYTES:.*]] = arith.constant 1024 : i64
// CHECK: %[[ARENA:.*]] = host.arena %[[BYTES]]
// CHECK: %[[BYTES:.*]] = arith.constant 2048 : i64
// CHECK: %[[ZEROS:.*]] = host.zeros %[[BYTES]]
// CHECK: %[[HALO:.*]] = host.offset %[[ZEROS]]
// CHECK: %[[OTHER:.*]] = host.offset %[[ZEROS]]
// CHECK: %[[BLOCK:.*]] = host.offset %[[ARENA]]
// CHECK: ^bb0(%{{[^:]*}}: i64, %[[SLOT:[^:]*]]: i64):
// CHECK: %[[AT:.*]] = host.eval <"(slot{0..7}*128)">(%[[SLOT]])
// CHECK: %[[C:.*]] = host.offset %[[BLOCK]], %[[AT]]
// CHECK: %[[AT:.*]] = host.eval <"((slot{0..7}*128)+64)">(%[[SLOT]])
// CHECK: %[[B:.*]] = host.offset %[[BLOCK]], %[[AT]]
// CHECK: %[[AT:.*]] = host.eval <"(slot{0..7}*128)">(%[[SLOT]])
// CHECK: %[[A:.*]] = host.offset %[[BLOCK]], %[[AT]]
// CHECK: %[[F:.*]] = host.offset %[[HALO]]
// CHECK: %[[E:.*]] = host.offset %[[OTHER]]
// CHECK: %[[D:.*]] = host.offset %[[HALO]]
// CHECK-NOT: host.free
// CHECK: host.launch @one(%[[A]],
// CHECK: host.launch @one(%[[B]], %[[A]])
// CHECK: host.launch @one(%[[C]], %[[B]])
// CHECK: host.launch @one(%[[D]], %[[C]])
// CHECK: host.launch @one(%[[E]], %[[D]])
// CHECK: host.launch @one(%[[F]], %[[E]])
host.program @main attributes {inputs = [#host.port<"x", tensor<32xf32>>], outputs = [#host.port<"y", tensor<32xf32>>], symbols = [], weights = []} {
  %x = host.input 0
  %none = arith.constant 0 : i64
  %size = arith.constant 32 : i64
  %y = host.output 0 dims(%size)
  host.batch 8 {
  ^bb0(%sample: i64, %slot: i64):
    %bytes = arith.constant 16 : i64
    %more = arith.constant 80 : i64
    %at = host.eval <"sample{0..7}*16">(%sample)
    %xs = host.offset %x, %at
    %ys = host.offset %y, %at
    %a = host.alloc %bytes
    host.launch @one(%a, %xs) sizes() grid() estimates(%none, %none) from "[]"
    %b = host.alloc %bytes
    host.launch @one(%b, %a) sizes() grid() estimates(%none, %none) from "[]"
    host.free %a
    %c = host.alloc %bytes
    host.launch @one(%c, %b) sizes() grid() estimates(%none, %none) from "[]"
    host.free %b
    %d = host.alloc %more halo <[4, 1, 2, 2]>
    host.launch @one(%d, %c) sizes() grid() estimates(%none, %none) from "[]"
    %e = host.alloc %more halo <[4, 1, 1, 3]>
    host.launch @one(%e, %d) sizes() grid() estimates(%none, %none) from "[]"
    %f = host.alloc %more halo <[4, 1, 2, 2]>
    host.launch @one(%f, %e) sizes() grid() estimates(%none, %none) from "[]"
    host.launch @one(%ys, %f) sizes() grid() estimates(%none, %none) from "[]"
  }
  host.done
}
kernel.func @one(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(4):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(4):(1)"> : f32, <f32>
}
