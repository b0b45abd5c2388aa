kernel.func @k(%a: !kernel.buffer<f32>, %b: !kernel.buffer<f32>) attributes {axes = [#kernel.axis<0, <64>, loop>], domain = #kiln.dims<[64]>, index = #kiln.dims<["_x0{0..63}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %a <"(64):(1)"> ahead 7 : <f32> -> f32
  kernel.store %0, %b <"(64):(1)"> ahead 0 : f32, <f32>
}
