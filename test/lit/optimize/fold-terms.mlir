// RUN: %kiln-opt %s --kiln-fold-arithmetic=reals=true | FileCheck %s

// What has a number in it is a term like others: (x - 1) - (x - 1) / 2 is half of it.
// CHECK: kernel.func @E_8(
// CHECK-COUNT-2: kernel.alu
// CHECK-NOT: kernel.alu
// CHECK: kernel.store
kernel.func @E_8(%out: !kernel.buffer<f32>, %in: !kernel.buffer<f32>) attributes {
    domain = #kiln.dims<[8]>, axes = [#kernel.axis<0, <8>, loop>], index = #kiln.dims<["_x0{0..7}"]>, opts = [],
    scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %x = kernel.load %in <"(8):(1)"> : <f32> -> f32
  %minus = kernel.const -1.0 : f32
  %half = kernel.const 0.5 : f32
  %c = kernel.alu add %x, %minus : (f32, f32) -> f32
  %d = kernel.alu mul %c, %half : (f32, f32) -> f32
  %n = kernel.alu neg %d : (f32) -> f32
  %e = kernel.alu add %c, %n : (f32, f32) -> f32
  kernel.store %e, %out <"(8):(1)"> : f32, <f32>
}

// Terms that are one only once negations have gone inwards meet, too: of u = -(x - y) - y, -(-u / 2 + u - y) takes a
// negation, two additions for -u, a product and an addition.
// CHECK: kernel.func @E_8n1(
// CHECK-COUNT-5: kernel.alu
// CHECK-NOT: kernel.alu
// CHECK: kernel.store
kernel.func @E_8n1(%out: !kernel.buffer<f32>, %a: !kernel.buffer<f32>, %b: !kernel.buffer<f32>) attributes {
    domain = #kiln.dims<[8]>, axes = [#kernel.axis<0, <8>, loop>], index = #kiln.dims<["_x0{0..7}"]>, opts = [],
    scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %x = kernel.load %a <"(8):(1)"> : <f32> -> f32
  %y = kernel.load %b <"(8):(1)"> : <f32> -> f32
  %half = kernel.const 0.5 : f32
  %minus = kernel.alu neg %y : (f32) -> f32
  %s = kernel.alu add %x, %minus : (f32, f32) -> f32
  %t = kernel.alu neg %s : (f32) -> f32
  %u = kernel.alu add %t, %minus : (f32, f32) -> f32
  %v = kernel.alu neg %u : (f32) -> f32
  %p = kernel.alu mul %v, %half : (f32, f32) -> f32
  %q = kernel.alu add %p, %u : (f32, f32) -> f32
  %r = kernel.alu add %q, %minus : (f32, f32) -> f32
  %z = kernel.alu neg %r : (f32) -> f32
  kernel.store %z, %out <"(8):(1)"> : f32, <f32>
}
