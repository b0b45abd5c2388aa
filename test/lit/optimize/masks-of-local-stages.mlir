// A transposed convolution with a stride of 2: zeros lie between its sums, in the masks of both operands. The masks keep
// the weights' stage from the place that the heuristic wants; it is left out, and nothing is reported.
//
// RUN: %kiln compile %s --device opencl --emit opts 2>&1 | FileCheck %s
// CHECK-NOT: warning
// CHECK: r_24_16_49_24_31: UPCAST 1 2, UPCAST 2 2, LOCAL 1 16, LOCAL 2 16, GLOBAL 0 0, GLOBAL 2 0, TILE 4 4
module attributes {kiln.stage = "import", kiln.symbols = []} {
  func.func @main(%x: tensor<24x24x10xf32> {graph.name = "x"}, %w: tensor<24x16x31xf32> {graph.name = "w"}) -> (tensor<24x16x49xf32> {graph.name = "y"}) {
    %0 = graph.flip %w [2] : tensor<24x16x31xf32> to tensor<24x16x31xf32>
    %1 = graph.permute %0 [1, 0, 2] : tensor<24x16x31xf32> to tensor<16x24x31xf32>
    %2 = graph.reshape %1 : tensor<16x24x31xf32> to tensor<1x16x1x24x31xf32>
    %3 = graph.expand %2 : tensor<1x16x1x24x31xf32> to tensor<24x16x40x24x31xf32>
    %4 = graph.pad %x <[0, 0, 30]> <[0, 0, 30]> : tensor<24x24x10xf32> to tensor<24x24x70xf32>
    %5 = graph.reshape %4 : tensor<24x24x70xf32> to tensor<24x24x1x70xf32>
    %6 = graph.expand %5 : tensor<24x24x1x70xf32> to tensor<24x24x32x70xf32>
    %7 = graph.reshape %6 : tensor<24x24x32x70xf32> to tensor<24x24x2240xf32>
    %8 = graph.shrink %7 <[0, 0, 0]> <[24, 24, 2201]> : tensor<24x24x2240xf32> to tensor<24x24x2201xf32>
    %9 = graph.reshape %8 : tensor<24x24x2201xf32> to tensor<24x24x31x71xf32>
    %10 = graph.shrink %9 <[0, 0, 0, 0]> <[24, 24, 31, 40]> : tensor<24x24x31x71xf32> to tensor<24x24x31x40xf32>
    %11 = graph.permute %10 [0, 3, 1, 2] : tensor<24x24x31x40xf32> to tensor<24x40x24x31xf32>
    %12 = graph.reshape %11 : tensor<24x40x24x31xf32> to tensor<24x1x40x24x31xf32>
    %13 = graph.expand %12 : tensor<24x1x40x24x31xf32> to tensor<24x16x40x24x31xf32>
    %14 = graph.alu mul %13, %3 : (tensor<24x16x40x24x31xf32>, tensor<24x16x40x24x31xf32>) -> tensor<24x16x40x24x31xf32>
    %15 = graph.reduce add %14 [3, 4] : tensor<24x16x40x24x31xf32> to tensor<24x16x40x1x1xf32>
    %16 = graph.reshape %15 : tensor<24x16x40x1x1xf32> to tensor<24x16x40x1xf32>
    %17 = graph.pad %16 <[0, 0, 0, 0]> <[0, 0, 0, 1]> : tensor<24x16x40x1xf32> to tensor<24x16x40x2xf32>
    %18 = graph.reshape %17 : tensor<24x16x40x2xf32> to tensor<24x16x80xf32>
    %19 = graph.shrink %18 <[0, 0, 15]> <[24, 16, 64]> : tensor<24x16x80xf32> to tensor<24x16x49xf32>
    return %19 : tensor<24x16x49xf32>
  }
}
