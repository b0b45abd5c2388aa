// Why each tensor is in memory or not stays with the launch that computes it, under the model's names.
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --split-input-file | grep '^#tensors' | FileCheck %s
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels=classic --split-input-file | grep '^#tensors' | FileCheck %s --check-prefix=CLASSIC

// The sum of a row joins what reads it; the rules of v0.9.2 give it memory.
// CHECK:        <"sum", "reduce add" of [0] named ["s", "wide"], tensor<4x1xf32> because <inside, {{[0-9]+}}, {{[0-9]+}}, 1>>
// CHECK-SAME:   <"y", "add" of [0, 1], tensor<4x8xf32> memory 2 because <output>>
// CLASSIC:      <"sum", "reduce add" of [0] named ["s"], tensor<4x1xf32> memory 2 because <expanded>>
// CLASSIC-NEXT: <"sum", "load" named ["s", "wide"], tensor<4x1xf32> memory 2>
module {
  func.func @main(%x: tensor<4x8xf32> loc("x")) -> tensor<4x8xf32> {
    %s = graph.reduce add %x [1] : tensor<4x8xf32> to tensor<4x1xf32> loc("sum"("s"))
    %v = graph.expand %s : tensor<4x1xf32> to tensor<4x8xf32> loc("wide")
    %y = graph.alu add %x, %v : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("y")
    return %y : tensor<4x8xf32>
  }
}

// -----

// A product that a product reads would be computed again for each of its columns.
// CHECK:   <"a", "reduce add" of [2], tensor<64x64x1xf32> memory [[A:[0-9]+]] because <cost, {{[0-9]+}}, {{[0-9]+}}, 1>>
// CHECK:   <"a", "load" {{.*}}tensor<64x64x1xf32> memory [[A]]>
// CLASSIC: <"a", "reduce add" of [2], tensor<64x64x1xf32> memory {{[0-9]+}} because <expanded>>
module {
  func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64x1xf32> {
    %x0 = graph.reshape %x : tensor<64x64xf32> to tensor<64x1x64xf32>
    %x1 = graph.expand %x0 : tensor<64x1x64xf32> to tensor<64x64x64xf32>
    %w0 = graph.reshape %w : tensor<64x64xf32> to tensor<1x64x64xf32>
    %w1 = graph.expand %w0 : tensor<1x64x64xf32> to tensor<64x64x64xf32>
    %m = graph.alu mul %x1, %w1 : (tensor<64x64x64xf32>, tensor<64x64x64xf32>) -> tensor<64x64x64xf32> loc("a")
    %a = graph.reduce add %m [2] : tensor<64x64x64xf32> to tensor<64x64x1xf32> loc("a")
    %a0 = graph.reshape %a : tensor<64x64x1xf32> to tensor<64x1x64xf32> loc("a")
    %a1 = graph.expand %a0 : tensor<64x1x64xf32> to tensor<64x64x64xf32> loc("b")
    %n = graph.alu mul %a1, %w1 : (tensor<64x64x64xf32>, tensor<64x64x64xf32>) -> tensor<64x64x64xf32> loc("b")
    %b = graph.reduce add %n [2] : tensor<64x64x64xf32> to tensor<64x64x1xf32> loc("b")
    return %b : tensor<64x64x1xf32>
  }
}

// -----

// Of what is padded after exp, zeros outside would have been ones; a reduce that a reduce reads ends its kernel.
// CLASSIC: <"e", "exp" of [0], tensor<4xf32> memory {{[0-9]+}} because <padded>>
// CLASSIC: <"r", "reduce max" of [0], tensor<1x4xf32> memory {{[0-9]+}} because <reduce>>
module {
  func.func @main(%x: tensor<4xf32>, %z: tensor<8x4xf32>) -> (tensor<6xf32>, tensor<1x1xf32>) {
    %e = graph.alu exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("e")
    %p = graph.pad %e <[1]> <[1]> : tensor<4xf32> to tensor<6xf32>
    %y = graph.alu neg %p : (tensor<6xf32>) -> tensor<6xf32>
    %r = graph.reduce max %z [0] : tensor<8x4xf32> to tensor<1x4xf32> loc("r")
    %t = graph.reduce add %r [1] : tensor<1x4xf32> to tensor<1x1xf32> loc("t")
    return %y, %t : tensor<6xf32>, tensor<1x1xf32>
  }
}

// -----

// A gather's table, what replaces an input, a copy that is asked for.
// CHECK: <"table", "exp" of [0], tensor<4x3xf32> memory {{[0-9]+}} because <table>>
// CHECK: <"next", "assign" of [{{[0-9]+}}], tensor<4x3xf32> memory {{[0-9]+}} because <assign>>
// CHECK: <"held", "copy" of [{{[0-9]+}}], tensor<5x3xf32> memory {{[0-9]+}} because <copy>>
module {
  func.func @main(%x: tensor<4x3xf32>, %i: tensor<5xi64>) -> tensor<5x3xf32> {
    %t = graph.alu exp %x : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("table")
    %n = graph.alu neg %x : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("n")
    %a = graph.assign %n to %x : tensor<4x3xf32> to tensor<4x3xf32> loc("next")
    %g = graph.gather %t[%i] 0 : tensor<4x3xf32>, tensor<5xi64> to tensor<5x3xf32> loc("g")
    %c = graph.contiguous %g : tensor<5x3xf32> loc("held")
    %y = graph.alu neg %c : (tensor<5x3xf32>) -> tensor<5x3xf32> loc("y")
    return %y : tensor<5x3xf32>
  }
}

// -----

// The condition of a branch, the result of a branch, and a size that is data.
// CHECK-DAG: <"go", "cmplt" of [{{[0-9, ]+}}], tensor<i1> memory {{[0-9]+}} because <control>>
// CHECK-DAG: <"then", "exp" of [0], tensor<4xf32> memory {{[0-9]+}} because <control>>
// CHECK-DAG: <"size", "add" of [{{[0-9, ]+}}], tensor<i64> memory {{[0-9]+}} because <size>>
// CHECK-DAG: <"choice", "if", tensor<4xf32> memory {{[0-9]+}}>
module {
  func.func @main(%x: tensor<4xf32>, %a: tensor<i64>) -> (tensor<4xf32>, tensor<?xf32, #kiln.dims<["n{1..9}"]>>) {
    %go = graph.alu cmplt %a, %a : (tensor<i64>, tensor<i64>) -> tensor<i1> loc("go")
    %size = graph.alu add %a, %a : (tensor<i64>, tensor<i64>) -> tensor<i64> loc("size")
    graph.bind <"n", 1 to 9, default 4> %size : tensor<i64>
    %r = graph.if %go : tensor<i1> -> (tensor<4xf32>) {
      %t = graph.alu exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("then")
      graph.yield %t : tensor<4xf32>
    } else {
      %f = graph.alu neg %x : (tensor<4xf32>) -> tensor<4xf32> loc("else")
      graph.yield %f : tensor<4xf32>
    } loc("choice")
    %y = graph.alu neg %r : (tensor<4xf32>) -> tensor<4xf32> loc("y")
    %c = graph.const 1.0 : f32 : tensor<?xf32, #kiln.dims<["n{1..9}"]>>
    %z = graph.alu exp %c : (tensor<?xf32, #kiln.dims<["n{1..9}"]>>) -> tensor<?xf32, #kiln.dims<["n{1..9}"]>> loc("z")
    return %y, %z : tensor<4xf32>, tensor<?xf32, #kiln.dims<["n{1..9}"]>>
  }
}
