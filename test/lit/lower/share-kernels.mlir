// RUN: %kiln-opt %s --kiln-share-kernels | FileCheck %s
// RUN: %kiln-opt %s --kiln-share-kernels=all | FileCheck %s --check-prefix=ALL

// Kernels that differ in numbers alone become one, whose launches pass the numbers: floats, and integers that do not say
// where it reads. The same numbers are one weight. Scratch memory stays last. A kernel with another stride is another.
// CHECK: weights = [#host.weight<"numbers", tensor<2xf32>, dense<1.000000e+00> : tensor<2xf32>>,
// CHECK-SAME: #host.weight<"numbers1", tensor<1xi32>, dense<-3>
// CHECK-SAME: #host.weight<"numbers2", tensor<2xf32>, dense<[2.000000e+00, 1.000000e+00]>
// CHECK-SAME: #host.weight<"numbers3", tensor<1xi32>, dense<-5>
// CHECK-SAME: #host.weight<"numbers4", tensor<2xf32>, dense<[3.000000e+00, 1.000000e+00]>
// CHECK-SAME: #host.weight<"numbers5", tensor<2xf32>, dense<[2.000000e+00, 4.000000e+00]>
// CHECK: %[[ZERO:.*]] = host.weight 1
// CHECK: %[[FIRST:.*]] = host.weight 2
// CHECK: %[[OTHER:.*]] = host.weight 3
// CHECK: %[[SECOND:.*]] = host.weight 4
// CHECK: %[[LAST:.*]] = host.weight 5
// CHECK: host.launch @E_4(%[[Y:.*]], %[[X:.*]], %[[ZERO]], %[[FIRST]], %[[SCRATCH:.*]]) sizes
// CHECK: host.launch @E_4(%[[Y]], %[[X]], %[[OTHER]], %[[SECOND]], %[[SCRATCH]]) sizes
// CHECK: host.launch @E_4n2(%[[Y]], %[[X]], %[[SCRATCH]]) sizes
// CHECK: host.launch @E_4(%[[Y]], %[[X]], %[[ZERO]], %[[LAST]], %[[SCRATCH]]) sizes
// CHECK: uop.func @E_4(%arg0: !uop.ptr<f32, global>, %arg1: !uop.ptr<i32, global>, %[[I:.*]]: !uop.ptr<i32, global>, %[[F:.*]]: !uop.ptr<f32, global>, %arg4:
// CHECK: %[[ADDED:.*]] = uop.load %[[I]][
// CHECK: %[[SCALE:.*]] = uop.load %[[F]][
// CHECK: uop.alu add %{{.*}}, %[[ADDED]]
// CHECK: uop.alu mul %{{.*}}, %[[SCALE]]
// CHECK-NOT: uop.func @E_4n1
// CHECK: uop.func @E_4n2
// CHECK: uop.const 2.000000e+00
// CHECK-NOT: uop.func @E_4n3

// With `all`, one that is alone loads its numbers too, so that it is equal to those of other modules.
// ALL: host.launch @E_4n2(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) sizes
// ALL: uop.func @E_4n2
// ALL: uop.const 0 : i32
// ALL-NOT: uop.const {{.*}} : f32
module {
  host.program @main attributes {inputs = [#host.port<"x", tensor<8xi32>>], outputs = [#host.port<"y", tensor<4xf32>>],
                                 symbols = [], weights = [#host.weight<"numbers", tensor<2xf32>, dense<1.0> : tensor<2xf32>>]} {
    %x = host.input 0
    %y = host.output 0
    %none = arith.constant 0 : i64
    %scratch = host.scratch %none
    host.launch @E_4(%y, %x, %scratch) sizes() grid() estimates(%none, %none) from "['layer']"
    host.launch @E_4n1(%y, %x, %scratch) sizes() grid() estimates(%none, %none) from "['layer']"
    host.launch @E_4n2(%y, %x, %scratch) sizes() grid() estimates(%none, %none) from "['layer']"
    host.launch @E_4n3(%y, %x, %scratch) sizes() grid() estimates(%none, %none) from "['layer']"
    host.done
  }
  uop.func @E_4(%out: !uop.ptr<f32, global>, %x: !uop.ptr<i32, global>, %scratch: !uop.ptr<f32, global>)
      attributes {bytes = #kiln.expr<32>, grid = #kiln.dims<[]>, local = array<i64>, operations = #kiln.expr<8>,
                  sizes = #kiln.dims<[]>} {
    %c0 = uop.const 0 : i32
    %c4 = uop.const 4 : i32
    %stride = uop.const 1 : i32
    %zero = uop.const -3 : i32
    %scale = uop.const 2.000000e+00 : f32
    %one = uop.const 1.000000e+00 : f32
    uop.range %i = %c0 to %c4 : i32 attributes {axis = 0 : i64} {
      %at = uop.alu mul %i, %stride : (i32, i32) -> i32
      %0 = uop.load %x[%at : i32] : <i32, global> -> i32
      %1 = uop.alu add %0, %zero : (i32, i32) -> i32
      %2 = uop.alu cast %1 : (i32) -> f32
      %3 = uop.alu mul %2, %scale : (f32, f32) -> f32
      %4 = uop.alu add %3, %one : (f32, f32) -> f32
      uop.store %4, %out[%i : i32] : f32, <f32, global>
      uop.yield
    }
    uop.yield
  }
  uop.func @E_4n1(%out: !uop.ptr<f32, global>, %x: !uop.ptr<i32, global>, %scratch: !uop.ptr<f32, global>)
      attributes {bytes = #kiln.expr<32>, grid = #kiln.dims<[]>, local = array<i64>, operations = #kiln.expr<8>,
                  sizes = #kiln.dims<[]>} {
    %c0 = uop.const 0 : i32
    %c4 = uop.const 4 : i32
    %stride = uop.const 1 : i32
    %zero = uop.const -5 : i32
    %scale = uop.const 3.000000e+00 : f32
    %one = uop.const 1.000000e+00 : f32
    uop.range %i = %c0 to %c4 : i32 attributes {axis = 0 : i64} {
      %at = uop.alu mul %i, %stride : (i32, i32) -> i32
      %0 = uop.load %x[%at : i32] : <i32, global> -> i32
      %1 = uop.alu add %0, %zero : (i32, i32) -> i32
      %2 = uop.alu cast %1 : (i32) -> f32
      %3 = uop.alu mul %2, %scale : (f32, f32) -> f32
      %4 = uop.alu add %3, %one : (f32, f32) -> f32
      uop.store %4, %out[%i : i32] : f32, <f32, global>
      uop.yield
    }
    uop.yield
  }
  uop.func @E_4n2(%out: !uop.ptr<f32, global>, %x: !uop.ptr<i32, global>, %scratch: !uop.ptr<f32, global>)
      attributes {bytes = #kiln.expr<32>, grid = #kiln.dims<[]>, local = array<i64>, operations = #kiln.expr<8>,
                  sizes = #kiln.dims<[]>} {
    %c0 = uop.const 0 : i32
    %c4 = uop.const 4 : i32
    %stride = uop.const 2 : i32
    %zero = uop.const -3 : i32
    %scale = uop.const 2.000000e+00 : f32
    %one = uop.const 1.000000e+00 : f32
    uop.range %i = %c0 to %c4 : i32 attributes {axis = 0 : i64} {
      %at = uop.alu mul %i, %stride : (i32, i32) -> i32
      %0 = uop.load %x[%at : i32] : <i32, global> -> i32
      %1 = uop.alu add %0, %zero : (i32, i32) -> i32
      %2 = uop.alu cast %1 : (i32) -> f32
      %3 = uop.alu mul %2, %scale : (f32, f32) -> f32
      %4 = uop.alu add %3, %one : (f32, f32) -> f32
      uop.store %4, %out[%i : i32] : f32, <f32, global>
      uop.yield
    }
    uop.yield
  }
  uop.func @E_4n3(%out: !uop.ptr<f32, global>, %x: !uop.ptr<i32, global>, %scratch: !uop.ptr<f32, global>)
      attributes {bytes = #kiln.expr<32>, grid = #kiln.dims<[]>, local = array<i64>, operations = #kiln.expr<8>,
                  sizes = #kiln.dims<[]>} {
    %c0 = uop.const 0 : i32
    %c4 = uop.const 4 : i32
    %stride = uop.const 1 : i32
    %zero = uop.const -3 : i32
    %scale = uop.const 2.000000e+00 : f32
    %one = uop.const 4.000000e+00 : f32
    uop.range %i = %c0 to %c4 : i32 attributes {axis = 0 : i64} {
      %at = uop.alu mul %i, %stride : (i32, i32) -> i32
      %0 = uop.load %x[%at : i32] : <i32, global> -> i32
      %1 = uop.alu add %0, %zero : (i32, i32) -> i32
      %2 = uop.alu cast %1 : (i32) -> f32
      %3 = uop.alu mul %2, %scale : (f32, f32) -> f32
      %4 = uop.alu add %3, %one : (f32, f32) -> f32
      uop.store %4, %out[%i : i32] : f32, <f32, global>
      uop.yield
    }
    uop.yield
  }
}
