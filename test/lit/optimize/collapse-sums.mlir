// RUN: %kiln-opt %s --kiln-collapse-sums --kiln-normalize-axes --kiln-fold-arithmetic | FileCheck %s

// The running sum of ones is 1, 2, 3 …; less one it is the position.
// CHECK-LABEL: kernel.func @range
// CHECK-SAME: domain = #kiln.dims<[16]>
// CHECK-NEXT: %[[AT:.*]] = kernel.index <"(16):(1)"> : i32
// CHECK-NEXT: kernel.store %[[AT]]
kernel.func @range(%out: !kernel.buffer<i32>) attributes {
    domain = #kiln.dims<[16, 16]>, axes = [#kernel.axis<0, <16>, loop>, #kernel.axis<1, <16>, loop>],
    index = #kiln.dims<["_x0{0..15}", "_x1{0..15}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %valid = kernel.valid <"(17,31):(0,0)?[0:17,15:31] -> (16,16):(1,32)">
  %one = kernel.const 1 : i32
  %zero = kernel.const 0 : i32
  %masked = kernel.alu where %valid, %one, %zero : (i1, i32, i32) -> i32
  %sum = kernel.reduce add %masked over [1] : i32
  %less = kernel.const -1 : i32
  %range = kernel.alu add %sum, %less : (i32, i32) -> i32
  kernel.store %range, %out <"(16,1):(1,0)"> : i32, <i32>
}

// As many points as fit: max(0, i - 2), which is not an index.
// CHECK-LABEL: kernel.func @bent
// CHECK: kernel.reduce add
kernel.func @bent(%out: !kernel.buffer<i32>) attributes {
    domain = #kiln.dims<[8, 8]>, axes = [#kernel.axis<0, <8>, loop>, #kernel.axis<1, <8>, loop>],
    index = #kiln.dims<["_x0{0..7}", "_x1{0..7}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %valid = kernel.valid <"(15):(0)?[10:15] -> (8,8):(1,1)">
  %one = kernel.const 1 : i32
  %zero = kernel.const 0 : i32
  %masked = kernel.alu where %valid, %one, %zero : (i1, i32, i32) -> i32
  %sum = kernel.reduce add %masked over [1] : i32
  kernel.store %sum, %out <"(8,1):(1,0)"> : i32, <i32>
}
