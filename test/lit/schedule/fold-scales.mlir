// RUN: %kiln-opt %s --split-input-file --kiln-shrink-constants --kiln-fold-scales | FileCheck %s

// A factor of what a sum is walks into the weights, seen through views; so does that of an addend on the way, and the
// addends become one.
// CHECK-LABEL: module
// CHECK-DAG: %[[W:.*]] = graph.weight "w"
// CHECK-DAG: %[[S:.*]] = graph.weight "s"
// CHECK: %[[AT:.*]] = graph.view %[[S]] <"(4,3):(1,0)">
// CHECK: %[[WS:.*]] = graph.alu mul %[[W]], %[[AT]] : (tensor<4x3xf32>, tensor<4x3xf32>)
// CHECK: %[[WIDE:.*]] = graph.view %[[WS]] <"(4,8,3):(3,0,1)">
// CHECK: %[[PRODUCT:.*]] = graph.alu mul %{{.*}}, %[[WIDE]]
// CHECK: %[[SUM:.*]] = graph.reduce add %[[PRODUCT]] [2]
// CHECK: %[[FLAT:.*]] = graph.view %[[SUM]] <"(4,8):(8,1)">
// CHECK: %[[Y:.*]] = graph.alu add %[[FLAT]], %{{.*}} : (tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
module {
func.func @main(%x: tensor<3x8xf32>) -> tensor<4x8xf32> {
  %w = graph.weight "w" : tensor<4x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]> : tensor<4x3xf32>
  %s = graph.weight "s" : tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = graph.weight "m" : tensor<4xf32> = dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32> = dense<[1.0, 0.0, -1.0, 2.0]> : tensor<4xf32>
  %xv = graph.view %x <"(4,8,3):(0,1,8)"> : tensor<3x8xf32> to tensor<4x8x3xf32>
  %wv = graph.view %w <"(4,8,3):(3,0,1)"> : tensor<4x3xf32> to tensor<4x8x3xf32>
  %p = graph.alu mul %xv, %wv : (tensor<4x8x3xf32>, tensor<4x8x3xf32>) -> tensor<4x8x3xf32>
  %sum = graph.reduce add %p [2] : tensor<4x8x3xf32> to tensor<4x8x1xf32>
  %flat = graph.view %sum <"(4,8):(8,1)"> : tensor<4x8x1xf32> to tensor<4x8xf32>
  %mv = graph.view %m <"(4,8):(1,0)"> : tensor<4xf32> to tensor<4x8xf32>
  %n = graph.alu neg %mv : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.alu add %flat, %n : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %sv = graph.view %s <"(4,8):(1,0)"> : tensor<4xf32> to tensor<4x8xf32>
  %d = graph.alu mul %c, %sv : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %bv = graph.view %b <"(4,8):(1,0)"> : tensor<4xf32> to tensor<4x8xf32>
  %y = graph.alu add %d, %bv : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
}

// -----

// Weights that stand transposed in memory are scaled where they are, and a quotient is a factor; the batch may have any
// size.
// CHECK-LABEL: symbols = [#kiln.symbol<"batch"
// CHECK: %[[S:.*]] = graph.weight "s"
// CHECK: %[[R:.*]] = graph.alu recip
// CHECK: %[[AT:.*]] = graph.view %[[R]] <"(3,4):(0,1)">
// CHECK: %[[WS:.*]] = graph.alu mul %{{.*}}, %[[AT]] : (tensor<3x4xf32>
// CHECK: graph.view %[[WS]] <"(batch{{.*}},4,3):(0,1,4)">
// CHECK: %[[SUM:.*]] = graph.reduce add
// CHECK-NEXT: return %[[SUM]]
module attributes {kiln.symbols = [#kiln.symbol<"batch", 0 to 100, default 1>]} {
func.func @main(%x: tensor<?x3xf32, #kiln.dims<["batch{0..100}", 3]>>) -> tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>> {
  %w = graph.weight "w" : tensor<3x4xf32> = dense<[[1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0], [7.0, 8.0, 9.0, 1.0]]> : tensor<3x4xf32>
  %s = graph.weight "s" : tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %xv = graph.view %x <"(batch{0..100},4,3):(3,0,1)"> : tensor<?x3xf32, #kiln.dims<["batch{0..100}", 3]>> to tensor<?x4x3xf32, #kiln.dims<["batch{0..100}", 4, 3]>>
  %wv = graph.view %w <"(batch{0..100},4,3):(0,1,4)"> : tensor<3x4xf32> to tensor<?x4x3xf32, #kiln.dims<["batch{0..100}", 4, 3]>>
  %p = graph.alu mul %wv, %xv : (tensor<?x4x3xf32, #kiln.dims<["batch{0..100}", 4, 3]>>, tensor<?x4x3xf32, #kiln.dims<["batch{0..100}", 4, 3]>>) -> tensor<?x4x3xf32, #kiln.dims<["batch{0..100}", 4, 3]>>
  %sum = graph.reduce add %p [2] : tensor<?x4x3xf32, #kiln.dims<["batch{0..100}", 4, 3]>> to tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>>
  %sv = graph.view %s <"(batch{0..100},4,1):(0,1,0)"> : tensor<4xf32> to tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>>
  %y = graph.alu fdiv %sum, %sv : (tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>>, tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>>) -> tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>>
  return %y : tensor<?x4x1xf32, #kiln.dims<["batch{0..100}", 4, 1]>>
}
}

// -----

// A number is a factor too.
// CHECK-LABEL: module
// CHECK: %[[W:.*]] = graph.weight "w"
// CHECK: %[[HALF:.*]] = graph.const 5.000000e-01 : f32 : tensor<4x3xf32>
// CHECK: %[[WS:.*]] = graph.alu mul %[[W]], %[[HALF]]
// CHECK: graph.alu mul %arg0, %[[WS]]
// CHECK: %[[SUM:.*]] = graph.reduce add
// CHECK-NEXT: return %[[SUM]]
module {
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x1xf32> {
  %w = graph.weight "w" : tensor<4x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]> : tensor<4x3xf32>
  %half = graph.const 0.5 : f32 : tensor<4x1xf32>
  %p = graph.alu mul %x, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %sum = graph.reduce add %p [1] : tensor<4x3xf32> to tensor<4x1xf32>
  %y = graph.alu mul %sum, %half : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
}

// -----

// What another op reads stays as it was: the sum would be computed twice.
// CHECK-LABEL: module
// CHECK: %[[SUM:.*]] = graph.reduce add
// CHECK: %[[Y:.*]] = graph.alu mul %[[SUM]]
// CHECK-NEXT: return %[[SUM]], %[[Y]]
module {
func.func @main(%x: tensor<4x3xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %w = graph.weight "w" : tensor<4x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]> : tensor<4x3xf32>
  %s = graph.weight "s" : tensor<4x1xf32> = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %p = graph.alu mul %x, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %sum = graph.reduce add %p [1] : tensor<4x3xf32> to tensor<4x1xf32>
  %y = graph.alu mul %sum, %s : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %sum, %y : tensor<4x1xf32>, tensor<4x1xf32>
}
}

// -----

// A factor along an axis that the weight does not move along would need a larger weight.
// CHECK-LABEL: module
// CHECK: %[[SUM:.*]] = graph.reduce add
// CHECK: graph.alu mul %[[SUM]]
module {
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x1xf32> {
  %w = graph.weight "w" : tensor<3xf32> = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %s = graph.weight "s" : tensor<4x1xf32> = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %wv = graph.view %w <"(4,3):(0,1)"> : tensor<3xf32> to tensor<4x3xf32>
  %p = graph.alu mul %x, %wv : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %sum = graph.reduce add %p [1] : tensor<4x3xf32> to tensor<4x1xf32>
  %y = graph.alu mul %sum, %s : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
}

// -----

// A weight that something else reads as well would be there twice.
// CHECK-LABEL: module
// CHECK: %[[SUM:.*]] = graph.reduce add
// CHECK: graph.alu mul %[[SUM]]
module {
func.func @main(%x: tensor<4x3xf32>) -> (tensor<4x1xf32>, tensor<4x3xf32>) {
  %w = graph.weight "w" : tensor<4x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]> : tensor<4x3xf32>
  %s = graph.weight "s" : tensor<4x1xf32> = dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %p = graph.alu mul %x, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %sum = graph.reduce add %p [1] : tensor<4x3xf32> to tensor<4x1xf32>
  %y = graph.alu mul %sum, %s : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %z = graph.alu max %x, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y, %z : tensor<4x1xf32>, tensor<4x3xf32>
}
}

// -----

// The largest product is not a sum, and half precision could overflow.
// CHECK-LABEL: module
// CHECK: %[[MOST:.*]] = graph.reduce max
// CHECK: graph.alu mul %[[MOST]]
// CHECK: %[[HALF:.*]] = graph.reduce add
// CHECK: graph.alu mul %[[HALF]]
module {
func.func @main(%x: tensor<4x3xf32>, %h: tensor<4x3xf16>) -> (tensor<4x1xf32>, tensor<4x1xf16>) {
  %w = graph.weight "w" : tensor<4x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]> : tensor<4x3xf32>
  %v = graph.weight "v" : tensor<4x3xf16> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]> : tensor<4x3xf16>
  %s = graph.const 2.0 : f32 : tensor<4x1xf32>
  %t = graph.const 2.0 : f16 : tensor<4x1xf16>
  %p = graph.alu mul %x, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %most = graph.reduce max %p [1] : tensor<4x3xf32> to tensor<4x1xf32>
  %y = graph.alu mul %most, %s : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %q = graph.alu mul %h, %v : (tensor<4x3xf16>, tensor<4x3xf16>) -> tensor<4x3xf16>
  %sum = graph.reduce add %q [1] : tensor<4x3xf16> to tensor<4x1xf16>
  %z = graph.alu mul %sum, %t : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  return %y, %z : tensor<4x1xf32>, tensor<4x1xf16>
}
}
