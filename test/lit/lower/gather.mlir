// RUN: %kiln-opt %s --kiln-stage-lower --split-input-file | FileCheck %s

// The row is found once for the loop inside: a negative one counts from the end, one out of range closes the gate.
// CHECK: uop.func @E_4_3
// CHECK: uop.range
// CHECK: %[[AT:.*]] = uop.load %arg1
// CHECK: %[[NEGATIVE:.*]] = uop.alu cmplt %[[AT]]
// CHECK: %[[END:.*]] = uop.alu add %[[AT]]
// CHECK: %[[ROW:.*]] = uop.alu where %[[NEGATIVE]], %[[END]], %[[AT]]
// CHECK: %[[NATURAL:.*]] = uop.alu cast %[[ROW]] : (i64) -> ui64
// CHECK: %[[INSIDE:.*]] = uop.alu cmplt %[[NATURAL]]
// CHECK: uop.range
// CHECK: uop.load %arg2[{{.*}}] gate %[[INSIDE]]
kernel.func @E_4_3(%out: !kernel.buffer<f32>, %at: !kernel.buffer<i64>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <3>, loop>], domain = #kiln.dims<[4, 3]>,
                index = #kiln.dims<["_x0{0..3}", "_x1{0..2}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %at <"(4,1):(1,0)"> : <i64> -> i64
  %1 = kernel.load %x <"(4,3,10):(0,1,3)"> row %0 : i64 : <f32> -> f32
  kernel.store %1, %out <"(4,3):(3,1)"> : f32, <f32>
}

// -----

// Rows that are the same in all lanes are read as vectors.
// CHECK: uop.func @E_4_8
// CHECK: uop.load %arg2[{{.*}}] gate %{{.*}} : i1 else {{.*}} -> vector<8xf32>
kernel.func @E_4_8(%out: !kernel.buffer<f32>, %at: !kernel.buffer<i32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <8>, lane>], domain = #kiln.dims<[4, 8]>,
                index = #kiln.dims<["_x0{0..3}", "_x1{0..7}"]>, opts = [#kernel.opt<VECTOR, 1, 8>],
                scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %at <"(4,1):(1,0)"> : <i32> -> i32
  %1 = kernel.load %x <"(4,8,10):(0,1,8)"> row %0 : i32 : <f32> -> f32
  kernel.store %1, %out <"(4,8):(8,1)"> : f32, <f32>
}

// -----

// Where each lane has a row of its own, each is a load; the indices are one vector. A lane whose row is out of range reads the first
// row, so that no lane has a branch, and then takes 0.
// CHECK: uop.func @E_4
// CHECK: uop.load %arg1[{{.*}}] : <i32, global> -> vector<4xi32>
// CHECK: %[[INSIDE:.*]] = uop.alu cmplt {{.*}} : (vector<4xui{{.*}} -> vector<4xi1>
// CHECK: uop.alu where %[[INSIDE]]
// CHECK-COUNT-4: uop.load %arg2[{{.*}}] : <f32, global> -> f32
// CHECK: %[[READ:.*]] = uop.vectorize
// CHECK: uop.alu where %[[INSIDE]], %[[READ]]
kernel.func @E_4(%out: !kernel.buffer<f32>, %at: !kernel.buffer<i32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, lane>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>,
                opts = [#kernel.opt<VECTOR, 0, 4>], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %at <"(4):(1)"> : <i32> -> i32
  %1 = kernel.load %x <"(4,10):(0,1)"> row %0 : i32 : <f32> -> f32
  kernel.store %1, %out <"(4):(1)"> : f32, <f32>
}

// -----

// If only a run knows whether there are rows, each lane asks that alone.
// CHECK: uop.func @E_4
// CHECK: %[[ANY:.*]] = uop.alu cmplt %{{.*}}, %arg3 : (i32, i32) -> i1
// CHECK-COUNT-4: uop.load %arg2[{{.*}}] gate %[[ANY]] : i1
kernel.func @E_4(%out: !kernel.buffer<f32>, %at: !kernel.buffer<i64>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, lane>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>,
                opts = [#kernel.opt<VECTOR, 0, 4>], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n"]>} {
  %0 = kernel.load %at <"(4):(1)"> : <i64> -> i64
  %1 = kernel.load %x <"(4,n):(0,1)"> row %0 : i64 : <f32> -> f32
  kernel.store %1, %out <"(4):(1)"> : f32, <f32>
}
