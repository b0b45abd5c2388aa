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
      attributes {kiln.device = -1 : i64, sizes = #kiln.dims<[]>, grid = #kiln.dims<[4]>, local = array<i64: 1>,
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
