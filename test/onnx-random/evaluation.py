"""A model's nodes one by one, each by the first judge that runs it, so that what is between two nodes can be seen and changed."""

import onnx

import judges
import schemas
from values import free_names, value_of


def evaluate(model, inputs, change=lambda value: value):
    """{name: Value} of what the nodes compute, as far as a judge runs them and NumPy knows the dtype. `change` says what
    the nodes that follow get for a Value of a node other than Constant."""
    data = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer} | inputs
    known = {}
    for node in model.graph.node:
        try:
            given = [value_of(name, data[name]) for name in sorted({name for name in [*node.input, *free_names(node)] if name})]
        except (schemas.Unfit, KeyError):
            continue
        names = [name for name in node.output if name]
        made = onnx.ModelProto()
        made.CopyFrom(model)
        made.graph.CopyFrom(onnx.helper.make_graph([node], "node", [with_rank(value) for value in given],
                                                   [onnx.ValueInfoProto(name=name) for name in names]))
        for run in judges.JUDGES.values():
            try:
                found = [value_of(*each) for each in zip(names, run(made, {value.name: value.data for value in given}))]
            except (judges.NoAnswer, schemas.Unfit, KeyError):
                continue
            if node.op_type != "Constant":
                found = [change(value) for value in found]
            data |= {value.name: value.data for value in found}
            known |= {value.name: value for value in found}
            break
    return known


def with_rank(value):
    return value.info(value.name, [None] * value.rank if value.kind == "tensor" else None)
