// The value assigned to an input is the output, and readers of the old value still find it.
// RUN: %kiln verify %s --device cpu
// RUN: %kiln verify %s --device interp --schedule classic
module attributes {kiln.stage = "import", kiln.symbols = []} {
  func.func @main(%w: tensor<4x3xf32> {graph.name = "w"}, %g: tensor<4x3xf32> {graph.name = "g"},
                  %m: tensor<3x3xf32> {graph.name = "m"})
      -> (tensor<4x3xf32> {graph.name = "next"}, tensor<4x3xf32> {graph.name = "both"},
          tensor<3x3xf32> {graph.name = "turned"}) {
    %0 = graph.alu add %w, %g : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %1 = graph.assign %0 to %w : tensor<4x3xf32> to tensor<4x3xf32>
    %2 = graph.alu mul %1, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %3 = graph.permute %m [1, 0] : tensor<3x3xf32> to tensor<3x3xf32>
    %4 = graph.assign %3 to %m : tensor<3x3xf32> to tensor<3x3xf32>
    return %1, %2, %4 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>
  }
}
