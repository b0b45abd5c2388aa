// RUN: %kiln-opt %s --kiln-rewrite-uops | FileCheck %s
// RUN: sed 's/, fma = true//' %s > %t.mlir
// RUN: %kiln-opt %t.mlir --kiln-rewrite-uops | FileCheck %s --check-prefix=PLAIN
// RUN: %kiln-opt %s --kiln-rewrite-uops=listed | FileCheck %s --check-prefix=LISTED
// RUN: %kiln-opt %s '--kiln-rewrite-uops=log=*' 2>&1 >/dev/null | FileCheck %s --check-prefix=LOG

module attributes {kiln.target = #kiln.target<device = "cpu", lacks = [exp, ldexp], fma = true,
    rates = <bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, tile_reuse = 8>>} {

// A term that a total takes in is added with one rounding, where the device has that. Outside the domain the total stays.
// CHECK-LABEL: uop.func @total
// CHECK: uop.range {{.*}} init(%[[SUM:.*]] = %
// CHECK: %[[A:.*]] = uop.load
// CHECK: %[[B:.*]] = uop.load
// CHECK-NOT: uop.alu mul %[[A]]
// CHECK: %[[BODY:.*]] = uop.fma %[[A]], %[[B]], %[[SUM]] : f32
// CHECK: %[[EDGE:.*]] = uop.fma %[[A]], %[[B]], %[[BODY]] : f32
// CHECK: uop.alu where %{{.*}}, %[[EDGE]], %[[BODY]]
// PLAIN-LABEL: uop.func @total
// PLAIN-NOT: uop.fma
// PLAIN: uop.store
// LISTED-LABEL: uop.func @total
// LISTED-NOT: uop.fma
// LISTED: uop.store

// The log names kernel, set and pattern, and shows the op before and after.
// LOG: total: fma/fuse-term
// LOG-NEXT: - %{{.*}} = uop.alu add %[[T:.*]], %{{.*}} {contract} : (f32, f32) -> f32
// LOG-NEXT: + %{{.*}} = uop.fma %{{.*}}, %{{.*}}, %[[T]] : f32
uop.func @total(%o: !uop.ptr<f32, global>, %x: !uop.ptr<f32, global>, %y: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %four = uop.const 4 : i32
  %none = uop.const 0.0 : f32
  %sum = uop.range %i = %zero to %four : i32 init(%t = %none) : f32 attributes {axis = 0, reduce} {
    %a = uop.load %x[%i : i32] : !uop.ptr<f32, global> -> f32
    %b = uop.load %y[%i : i32] : !uop.ptr<f32, global> -> f32
    %p = uop.alu mul %a, %b : (f32, f32) -> f32
    %s = uop.alu add %t, %p {contract} : (f32, f32) -> f32
    %inside = uop.alu cmplt %zero, %i : (i32, i32) -> i1
    %q = uop.alu mul %a, %b : (f32, f32) -> f32
    %w = uop.alu where %inside, %q, %none : (i1, f32, f32) -> f32
    %u = uop.alu add %s, %w {contract} : (f32, f32) -> f32
    uop.yield %u : f32
  }
  uop.store %sum, %o[%zero : i32] : f32, !uop.ptr<f32, global>
  uop.yield
}

// A product that is read twice, a product of halves, and a sum that is not a total stay as they are.
// CHECK-LABEL: uop.func @apart
// CHECK-NOT: uop.fma
// CHECK: uop.yield
// CHECK-NEXT: }
uop.func @apart(%o: !uop.ptr<f32, global>, %h: !uop.ptr<f16, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %x = uop.load %o[%zero : i32] : !uop.ptr<f32, global> -> f32
  %y = uop.load %h[%zero : i32] : !uop.ptr<f16, global> -> f16
  %p = uop.alu mul %x, %x : (f32, f32) -> f32
  %s = uop.alu add %x, %p {contract} : (f32, f32) -> f32
  %t = uop.alu add %s, %p {contract} : (f32, f32) -> f32
  %q = uop.alu mul %t, %x : (f32, f32) -> f32
  %u = uop.alu add %t, %q : (f32, f32) -> f32
  %r = uop.alu mul %y, %y : (f16, f16) -> f16
  %v = uop.alu add %y, %r {contract} : (f16, f16) -> f16
  uop.store %u, %o[%zero : i32] : f32, !uop.ptr<f32, global>
  uop.store %v, %h[%zero : i32] : f16, !uop.ptr<f16, global>
  uop.yield
}

// What the device lacks is arithmetic, on as many lanes; wider floats stay.
// CHECK-LABEL: uop.func @exponential
// CHECK-NOT: uop.alu exp
// CHECK: uop.alu exp %{{.*}} : (f64) -> f64
// CHECK-NOT: uop.alu exp
// CHECK: bitcast %{{.*}} : (vector<8xi32>) -> vector<8xf32>
// LISTED-LABEL: uop.func @exponential
// LISTED: uop.alu exp %{{.*}} : (vector<8xf32>)
uop.func @exponential(%o: !uop.ptr<f32, global>, %d: !uop.ptr<f64, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %z = uop.load %d[%zero : i32] : !uop.ptr<f64, global> -> f64
  %w = uop.alu exp %z : (f64) -> f64
  uop.store %w, %d[%zero : i32] : f64, !uop.ptr<f64, global>
  %x = uop.load %o[%zero : i32] : !uop.ptr<f32, global> -> vector<8xf32>
  %y = uop.alu exp %x : (vector<8xf32>) -> vector<8xf32>
  uop.store %y, %o[%zero : i32] : vector<8xf32>, !uop.ptr<f32, global>
  uop.yield
}

// A term is added where its product stood, before the operands of the next one are there.
// CHECK-LABEL: uop.func @order
// CHECK: uop.load
// CHECK: %[[FIRST:.*]] = uop.fma
// CHECK: uop.load
// CHECK: uop.fma %{{.*}}, %{{.*}}, %[[FIRST]]
uop.func @order(%o: !uop.ptr<f32, global>, %x: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %none = uop.const 0.0 : f32
  %a = uop.load %x[%zero : i32] : !uop.ptr<f32, global> -> f32
  %p = uop.alu mul %a, %a : (f32, f32) -> f32
  %b = uop.load %x[%one : i32] : !uop.ptr<f32, global> -> f32
  %q = uop.alu mul %b, %b : (f32, f32) -> f32
  %s = uop.alu add %none, %p {contract} : (f32, f32) -> f32
  %t = uop.alu add %s, %q {contract} : (f32, f32) -> f32
  uop.store %t, %o[%zero : i32] : f32, !uop.ptr<f32, global>
  uop.yield
}
}
