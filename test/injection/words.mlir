// Strings and a sequence of them, given and made: z = x + the first tensor of s, y = s and z.
module attributes {kiln.stage = "import", kiln.symbols = []} {
  func.func @main(%s: tensor<i64> {graph.dtype = !object.sequence<tensor<2x!object.string>>, graph.name = "s"},
                  %x: tensor<2xi64> {graph.dtype = !object.string, graph.name = "x"})
      -> (tensor<i64> {graph.dtype = !object.sequence<tensor<2x!object.string>>, graph.name = "y"},
          tensor<2xi64> {graph.dtype = !object.string, graph.name = "z"}) {
    %at = graph.const 0 : i64 : tensor<i64>
    %first = graph.call "sequence_at"(%s, %at) <[25, 1, 2]> : (tensor<i64>, tensor<i64>) -> tensor<2xi64>
    %z = graph.call "string_concat"(%x, %first) <[2]> : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %y = graph.call "sequence_insert"(%s, %z) <[0, 25, 1, 2]> : (tensor<i64>, tensor<2xi64>) -> tensor<i64>
    return %y, %z : tensor<i64>, tensor<2xi64>
  }
}
