#loc = loc(unknown)
#target = #kiln.target<device = "cpu", cpu = "x86-64-v3", vectors = <registers = 16, widths = [128, 256]>, stores = [f16], emulates = [bf16], lacks = [exp2, log2, exp, log, sin, cos, tanh, erf, pow, threefry], fma = true, caches = [<bytes = 32768>, <bytes = 524288>, <bytes = 8388608, shared = true>], chunks = 32, rates = <bytes_per_ns = 10, ops_per_ns = 10, product_ops_per_ns = 60, launch_ns = 200, units = 1, tile_reuse = 8>>
#tensors = [#host.tensor<"a", "input", tensor<2xi32> memory 1>, #host.tensor<"b", "input", tensor<2xi32> memory 2>, #host.tensor<"dot", "mul" of [0, 1], tensor<2xi32> because <inside, 2, 203, 1>>, #host.tensor<"dot", "reduce add" of [2] named ["y"], tensor<1xi32> memory 3 because <output>>]
module @dot attributes {kiln.source = "samples/dot/graph.json", kiln.stage = "optimize", kiln.symbols = [], kiln.target = #target} {
  host.program @main attributes {inputs = [#host.port<"a", tensor<2xi32>, dense<[1, 2]> : tensor<2xi32>>, #host.port<"b", tensor<2xi32>, dense<[3, 4]> : tensor<2xi32>>], outputs = [#host.port<"y", tensor<i32>>], symbols = [], weights = []} {
    %0 = host.input 0 loc(#loc)
    %1 = host.input 1 loc(#loc)
    %2 = host.output 0 loc(#loc)
    %c0_i64 = arith.constant 0 : i64 loc(#loc)
    host.launch @r_2(%2, %0, %1) sizes() grid() estimates(%c0_i64, %c0_i64) from "['dot']" {tensors = #tensors} loc(#loc)
    host.done loc(#loc)
  } loc(#loc)
  kernel.func @r_2(%arg0: !kernel.buffer<i32> loc(unknown), %arg1: !kernel.buffer<i32> loc(unknown), %arg2: !kernel.buffer<i32> loc(unknown)) attributes {axes = [#kernel.axis<0, <2>, loop>], domain = #kiln.dims<[2]>, index = #kiln.dims<["_x0{0..1}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
    %0 = kernel.load %arg1 <"(2):(1)"> : <i32> -> i32 loc(#loc1)
    %1 = kernel.load %arg2 <"(2):(1)"> : <i32> -> i32 loc(#loc2)
    %2 = kernel.alu mul %0, %1 : (i32, i32) -> i32 loc(#loc3)
    %3 = kernel.reduce add %2 over [0] : i32 loc(#loc3)
    kernel.store %3, %arg0 <"(1):(0)"> : i32, <i32> loc(#loc3)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("a")
#loc2 = loc("b")
#loc3 = loc("dot")

