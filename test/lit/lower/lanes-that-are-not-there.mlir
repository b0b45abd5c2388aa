// RUN: %kiln-opt %s --split-input-file --verify-diagnostics

uop.func @past(%o: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %four = uop.load %o[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
  // expected-error @+1 {{takes lanes past the last}}
  %two = uop.gep %four[3] : vector<4xf32> -> vector<2xf32>
  uop.yield
}

// -----

uop.func @other(%o: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %four = uop.load %o[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
  // expected-error @+1 {{takes lanes of another dtype}}
  %one = uop.gep %four[0] : vector<4xf32> -> i32
  uop.yield
}

// -----

uop.func @before(%o: !uop.ptr<f32, global>)
    attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[1]>, local = array<i64: 1>, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %four = uop.load %o[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
  // expected-error @+1 {{takes lanes past the last}}
  %two = uop.gep %four[-1] : vector<4xf32> -> vector<2xf32>
  uop.yield
}
