#!/usr/bin/env python3
"""regions.py COUNT: a graph of COUNT ifs, each reading the result of the one before, and one kernel after them."""

import sys


def main():
    print('module attributes {kiln.stage = "import", kiln.symbols = []} {\n'
          '  func.func @main(%c: tensor<i1> {graph.name = "c"}, %x: tensor<4xf32> {graph.name = "x"})\n'
          '      -> (tensor<4xf32> {graph.name = "y"}) {')
    count = int(sys.argv[1])
    value = "%x"
    for i in range(count):
        print(f'    %r{i} = graph.if %c : tensor<i1> -> (tensor<4xf32>) {{\n'
              f'      %t = graph.alu sin {value} : (tensor<4xf32>) -> tensor<4xf32>\n'
              '      graph.yield %t : tensor<4xf32>\n'
              '    } else {\n'
              f'      %t = graph.alu neg {value} : (tensor<4xf32>) -> tensor<4xf32>\n'
              '      graph.yield %t : tensor<4xf32>\n'
              '    }')
        value = f"%r{i}"
    print(f'    %y = graph.alu add {value}, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n'
          '    return %y : tensor<4xf32>\n  }\n}')


main()
