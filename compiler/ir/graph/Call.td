//===- Call.td - The graph dialect: calls of the runtime's library -----------===//
#ifndef KILN_IR_GRAPH_CALL
#define KILN_IR_GRAPH_CALL

include "ir/graph/Graph.td"

def CallOp : PureGraphOp<"call"> {
  let summary = "a function of the runtime's library, which the host runs: kiln/call.h";
  let description = [{
    For what is not arithmetic at one point of a shape: an order that data decides, results whose number is data. The
    results' shapes are known before the call; where how many of their elements count is data, a result says it, and
    `graph.bind` and a shrink do the rest.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Tensor>:$operands, DimsAttr:$sizes);
  let results = (outs Variadic<Tensor>:$results);
  let assemblyFormat = "$callee `(` $operands `)` $sizes attr-dict `:` functional-type($operands, $results)";
}

#endif
