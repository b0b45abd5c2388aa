// RUN: %kiln-opt %s --kiln-rewrite-uops | FileCheck %s

// Known conditions and lanes are not tested again.
// CHECK-LABEL: uop.func @known
// CHECK: %[[X:.*]] = uop.load %arg1[%{{.*}} : i32] : <f32, global> -> vector<2xf32>
// CHECK-NOT: uop.alu
// CHECK-NOT: uop.gep
// CHECK: uop.store %[[X]], %arg0[%{{.*}} : i32] : vector<2xf32>
// CHECK-NOT: uop.store
uop.func @known(%o: !uop.ptr<f32, global>, %x: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %yes = uop.alu cmplt %zero, %one : (i32, i32) -> i1
  %no = uop.const false
  %true = uop.const true
  %none = uop.const 0.0 : f32
  %nones = uop.vectorize %none : f32 -> vector<2xf32>
  %v = uop.load %x[%zero : i32] gate %true : i1 else %nones : vector<2xf32> : !uop.ptr<f32, global> -> vector<2xf32>
  %a = uop.gep %v[0] : vector<2xf32> -> f32
  %b = uop.gep %v[1] : vector<2xf32> -> f32
  %w = uop.vectorize %a, %b : f32, f32 -> vector<2xf32>
  %bits = uop.alu bitcast %w : (vector<2xf32>) -> vector<2xi32>
  %back = uop.alu bitcast %bits : (vector<2xi32>) -> vector<2xf32>
  %m = uop.alu neg %back : (vector<2xf32>) -> vector<2xf32>
  %n = uop.alu neg %m : (vector<2xf32>) -> vector<2xf32>
  uop.store %n, %o[%zero : i32] gate %true : i1 : vector<2xf32>, !uop.ptr<f32, global>
  uop.store %none, %o[%one : i32] gate %no : i1 : f32, !uop.ptr<f32, global>
  uop.yield
}

// CHECK-LABEL: uop.func @arm
// CHECK: %[[FIRST:.*]] = uop.load
// CHECK-NOT: uop.alu
// CHECK: uop.store %[[FIRST]]
uop.func @arm(%o: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %yes = uop.alu cmplt %zero, %one : (i32, i32) -> i1
  %a = uop.load %o[%zero : i32] : !uop.ptr<f32, global> -> f32
  %b = uop.load %o[%one : i32] : !uop.ptr<f32, global> -> f32
  %c = uop.alu where %yes, %a, %b : (i1, f32, f32) -> f32
  uop.store %c, %o[%zero : i32] : f32, !uop.ptr<f32, global>
  uop.yield
}

// Lanes of lanes are lanes of the first vector, and those of a vector of scalars are these scalars.
// CHECK-LABEL: uop.func @lanes
// CHECK: %[[FOUR:.*]] = uop.load %arg1[%{{.*}} : i32] : <f32, global> -> vector<4xf32>
// CHECK: %[[THIRD:.*]] = uop.gep %[[FOUR]][3] : vector<4xf32> -> f32
// CHECK: %[[PAIR:.*]] = uop.vectorize %[[THIRD]], %[[ONE:.*]] : f32, f32 -> vector<2xf32>
// CHECK: uop.store %[[PAIR]]
uop.func @lanes(%o: !uop.ptr<f32, global>, %x: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %one = uop.const 1.0 : f32
  %four = uop.load %x[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
  %high = uop.gep %four[2] : vector<4xf32> -> vector<2xf32>
  %third = uop.gep %high[1] : vector<2xf32> -> f32
  %all = uop.vectorize %one, %third, %one, %one : f32, f32, f32, f32 -> vector<4xf32>
  %pair = uop.gep %all[1] : vector<4xf32> -> vector<2xf32>
  uop.store %pair, %o[%zero : i32] : vector<2xf32>, !uop.ptr<f32, global>
  uop.yield
}
