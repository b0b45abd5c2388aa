//===- Call.td - The host dialect: calls of the runtime's library ------------===//
#ifndef KILN_IR_HOST_CALL
#define KILN_IR_HOST_CALL

include "ir/host/Host.td"

def CallOp : HostOp<"call", [AttrSizedOperandSegments]> {
  let summary = "runs a function of the runtime's library on the host: kiln/call.h";
  let description = [{
    `buffers`, memory of one device of which the first `results` are written, have `bytes` bytes each; `sizes` are what the
    function says they are. It ends the run with KILN_INDEX_ERROR where the function finds fault with what it is given; the message names
    `origin`.
  }];
  let arguments = (ins StrAttr:$callee, I64Attr:$results, Variadic<SliceType>:$buffers, Variadic<I64>:$bytes,
                       Variadic<I64>:$sizes, StrAttr:$origin);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $callee $results `(` $buffers `)` `bytes` `(` $bytes `)` `sizes` `(` $sizes `)` `from` $origin
    `` custom<Devices>(ref($buffers), type($buffers)) attr-dict
  }];
}

#endif
