// A model whose kernels are on two devices, as a dump of stage lower by hand: y = (x w + w) x, products on the CPU and
// the sum on another device, with a copy there and back, and a weight that both read. The judge is the interpreter in place of both, which finds
// memory of another device as an address that is not its own.
// REQUIRES: opencl
// RUN: %kiln compile %s -o %t && %t | FileCheck %s && env DEBUG=2 %t 2>&1 | FileCheck %s --check-prefix=LOG
// RUN: %kiln run %s | FileCheck %s
// RUN: sed 's/device = "cpu"/device = "c"/' %s > %t.c.mlir && %kiln compile %t.c.mlir -o %t && %t | FileCheck %s
// RUN: sed 's/device = "[a-z]*"/device = "interp"/' %s > %t.interp.mlir && %kiln run %t.interp.mlir | FileCheck %s
// CHECK: y: float32 [4]
// CHECK-NEXT: [ 2. 12. 36. 80.]
// CHECK: z: float32 [4]
// CHECK-NEXT: [ 2. 6. 12. 20.]
// LOG: *** CPU 1 product
// LOG: *** OPENCL 2 sum
// LOG: *** CPU 3 product

// The printed dump compiles to the same program, and weights in a file are found for both devices.
// RUN: %kiln compile %s --emit lower > %t.again.mlir && %kiln compile %t.again.mlir --emit lower | diff - %t.again.mlir
// RUN: %kiln compile %t.again.mlir -o %t --weights=%t.safetensors && %t --weights=%t.safetensors | FileCheck %s

#rates = #kiln.rates<bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, tile_reuse = 8>
#first = #kiln.target<device = "cpu", chunks = 4, rates = #rates>
#second = #kiln.target<device = "opencl", groups = <items = 64, local_bytes = 16384>, rates = #rates>
module @pair attributes {kiln.stage = "lower", kiln.symbols = [], kiln.target = #first, kiln.devices = [#second]} {
  uop.func @product(%out: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>, %b: !uop.ptr<f32, global>)
      attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[4]>, local = array<i64: 1>, operations = #kiln.expr<4>,
                  bytes = #kiln.expr<48>} {
    %i = uop.special chunk 0 <4> : i32
    %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
    %y = uop.load %b[%i : i32] : !uop.ptr<f32, global> -> f32
    %z = uop.alu mul %x, %y : (f32, f32) -> f32
    uop.store %z, %out[%i : i32] : f32, !uop.ptr<f32, global>
    uop.yield
  }
  uop.func @sum(%out: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>, %b: !uop.ptr<f32, global>)
      attributes {kiln.device = 1 : i64, sizes = #kiln.dims<[]>, grid = #kiln.dims<[4]>, local = array<i64: 1>,
                  operations = #kiln.expr<4>, bytes = #kiln.expr<48>} {
    %i = uop.special group 0 <4> : i32
    %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
    %y = uop.load %b[%i : i32] : !uop.ptr<f32, global> -> f32
    %z = uop.alu add %x, %y : (f32, f32) -> f32
    uop.store %z, %out[%i : i32] : f32, !uop.ptr<f32, global>
    uop.yield
  }
  host.program @main attributes {
      inputs = [#host.port<"x", tensor<4xf32>, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>>],
      outputs = [#host.port<"y", tensor<4xf32>>, #host.port<"z", tensor<4xf32>>],
      weights = [#host.weight<"w", tensor<4xf32>, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>>], symbols = []} {
    %n = arith.constant 16 : i64
    %four = arith.constant 4 : i64
    %all = arith.constant 48 : i64
    %x = host.input 0
    %w = host.weight 0
    %there = host.weight 0 on 1
    %y = host.output 0 dims (%four)
    %z = host.output 1 dims (%four) on 1
    %here = host.arena %n
    %arena = host.arena %n on 1
    host.launch @product(%here, %x, %w) sizes () grid (%four) estimates (%four, %all) from "['product']"
    host.copy %arena, %here, %n to 1 from 0
    host.launch @sum(%z, %arena, %there) sizes () grid (%four) estimates (%four, %all) from "['sum']" on 1
    host.copy %here, %z, %n to 0 from 1
    host.launch @product(%y, %here, %x) sizes () grid (%four) estimates (%four, %all) from "['product']"
    host.done
  }
}
