A special prints with single spaces, which FileCheck would not see.

RUN: split-file %s %t
RUN: kiln-opt %t/in.mlir | FileCheck %s --strict-whitespace
CHECK: {{^ *}}%0 = uop.special group 0 <4> : i32{{$}}

#--- in.mlir
uop.func @k(%p: !uop.ptr<i32, global>) attributes {bytes = #kiln.expr<0>, grid = #kiln.dims<[4]>, local = array<i64: 1>, operations = #kiln.expr<0>, sizes = #kiln.dims<[]>} {
  %g = uop.special group 0 <4> : i32
  %c = uop.const 0 : i32
  uop.store %g, %p[%c : i32] : i32, <i32, global>
  uop.yield
}
