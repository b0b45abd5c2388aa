// RUN: %kiln-opt %s --kiln-reuse-inputs --split-input-file | FileCheck %s

// A sample's part of a result lies where its part of what ends there was.
// CHECK-LABEL: host.program @main
// CHECK: %[[BYTES:.*]] = arith.constant 128
// CHECK: %[[BOTH:.*]] = host.alloc %[[BYTES]]
// CHECK-NOT: host.alloc
// CHECK: host.batch 8
// CHECK: %[[PART:.*]] = host.offset %[[BOTH]],
// CHECK: host.launch @one(%[[PART]])
// CHECK: host.launch @all(%{{[^,]*}}, %[[BOTH]])
host.program @main attributes {inputs = [#host.port<"x", tensor<32xf32>>], outputs = [#host.port<"y", tensor<32xf32>>], symbols = [], weights = []} {
  %x = host.input 0
  %none = arith.constant 0 : i64
  %bytes = arith.constant 128 : i64
  %a = host.alloc %bytes
  %b = host.alloc %bytes
  host.launch @all(%a, %x) sizes() grid() estimates(%none, %none) from "[]"
  host.batch 8 {
  ^bb0(%sample: i64, %slot: i64):
    %at_p = host.eval <"sample{0..7}*16">(%sample)
    %p = host.offset %a, %at_p
    %at_q = host.eval <"sample{0..7}*16">(%sample)
    %q = host.offset %b, %at_q
    host.launch @one(%q, %p) sizes() grid() estimates(%none, %none) from "[]"
  }
  %size = arith.constant 32 : i64
  %y = host.output 0 dims(%size)
  host.launch @all(%y, %b) sizes() grid() estimates(%none, %none) from "[]"
  host.done
}
kernel.func @all(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <32>, loop>], domain = #kiln.dims<[32]>, index = #kiln.dims<["_x0{0..31}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(32):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(32):(1)"> : f32, <f32>
}
kernel.func @one(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(4):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(4):(1)"> : f32, <f32>
}

// -----

// A later launch of the sample reads it once more.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-2: host.alloc
// CHECK: host.batch 8
// CHECK-COUNT-2: host.offset
// CHECK-NEXT: host.launch @one(%{{[^,]*}}, %
host.program @main attributes {inputs = [#host.port<"x", tensor<32xf32>>], outputs = [#host.port<"y", tensor<32xf32>>], symbols = [], weights = []} {
  %x = host.input 0
  %none = arith.constant 0 : i64
  %bytes = arith.constant 128 : i64
  %a = host.alloc %bytes
  %b = host.alloc %bytes
  host.launch @all(%a, %x) sizes() grid() estimates(%none, %none) from "[]"
  host.batch 8 {
  ^bb0(%sample: i64, %slot: i64):
    %own = arith.constant 16 : i64
    %at_p = host.eval <"sample{0..7}*16">(%sample)
    %p = host.offset %a, %at_p
    %at_q = host.eval <"sample{0..7}*16">(%sample)
    %q = host.offset %b, %at_q
    host.launch @one(%q, %p) sizes() grid() estimates(%none, %none) from "[]"
    %c = host.alloc %own
    host.launch @one(%c, %p) sizes() grid() estimates(%none, %none) from "[]"
  }
  %size = arith.constant 32 : i64
  %y = host.output 0 dims(%size)
  host.launch @all(%y, %b) sizes() grid() estimates(%none, %none) from "[]"
  host.done
}
kernel.func @all(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <32>, loop>], domain = #kiln.dims<[32]>, index = #kiln.dims<["_x0{0..31}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(32):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(32):(1)"> : f32, <f32>
}
kernel.func @one(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(4):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(4):(1)"> : f32, <f32>
}

// -----

// As does one after the batch.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-2: host.alloc
// CHECK: host.launch @one(%{{[^,]*}}, %
host.program @main attributes {inputs = [#host.port<"x", tensor<32xf32>>], outputs = [#host.port<"y", tensor<32xf32>>], symbols = [], weights = []} {
  %x = host.input 0
  %none = arith.constant 0 : i64
  %bytes = arith.constant 128 : i64
  %a = host.alloc %bytes
  %b = host.alloc %bytes
  host.launch @all(%a, %x) sizes() grid() estimates(%none, %none) from "[]"
  host.batch 8 {
  ^bb0(%sample: i64, %slot: i64):
    %at_p = host.eval <"sample{0..7}*16">(%sample)
    %p = host.offset %a, %at_p
    %at_q = host.eval <"sample{0..7}*16">(%sample)
    %q = host.offset %b, %at_q
    host.launch @one(%q, %p) sizes() grid() estimates(%none, %none) from "[]"
  }
  host.launch @one(%b, %a) sizes() grid() estimates(%none, %none) from "[]"
  %size = arith.constant 32 : i64
  %y = host.output 0 dims(%size)
  host.launch @all(%y, %b) sizes() grid() estimates(%none, %none) from "[]"
  host.done
}
kernel.func @all(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <32>, loop>], domain = #kiln.dims<[32]>, index = #kiln.dims<["_x0{0..31}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(32):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(32):(1)"> : f32, <f32>
}
kernel.func @one(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(4):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(4):(1)"> : f32, <f32>
}

// -----

// Another sample reads what this one would write.
// CHECK-LABEL: host.program @main
// CHECK-COUNT-2: host.alloc
// CHECK: host.launch @one(%{{[^,]*}}, %
host.program @main attributes {inputs = [#host.port<"x", tensor<32xf32>>], outputs = [#host.port<"y", tensor<32xf32>>], symbols = [], weights = []} {
  %x = host.input 0
  %none = arith.constant 0 : i64
  %bytes = arith.constant 128 : i64
  %a = host.alloc %bytes
  %b = host.alloc %bytes
  host.launch @all(%a, %x) sizes() grid() estimates(%none, %none) from "[]"
  host.batch 8 {
  ^bb0(%sample: i64, %slot: i64):
    %at_p = host.eval <"sample{0..7}*8">(%sample)
    %p = host.offset %a, %at_p
    %at_q = host.eval <"sample{0..7}*16">(%sample)
    %q = host.offset %b, %at_q
    host.launch @one(%q, %p) sizes() grid() estimates(%none, %none) from "[]"
  }
  %size = arith.constant 32 : i64
  %y = host.output 0 dims(%size)
  host.launch @all(%y, %b) sizes() grid() estimates(%none, %none) from "[]"
  host.done
}
kernel.func @all(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <32>, loop>], domain = #kiln.dims<[32]>, index = #kiln.dims<["_x0{0..31}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(32):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(32):(1)"> : f32, <f32>
}
kernel.func @one(%to: !kernel.buffer<f32>, %from: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %from <"(4):(1)"> : <f32> -> f32
  %1 = kernel.alu exp %0 : (f32) -> f32
  kernel.store %1, %to <"(4):(1)"> : f32, <f32>
}
