"""Cuts a model to a smaller one that may still show the same fault."""

import onnx

import graph
import judges


def cut_to(model, output):
    """The model with the one output and the nodes, inputs and initializers that it needs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    needed, nodes = {output}, []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            nodes.append(node)
            needed |= set(node.input) | graph.free_names(node)
    keep(made.graph.node, nodes[::-1])
    keep(made.graph.input, [value for value in model.graph.input if value.name in needed])
    keep(made.graph.initializer, [tensor for tensor in model.graph.initializer if tensor.name in needed])
    keep(made.graph.output, [value for value in model.graph.output if value.name == output])
    return made


def keep(field, wanted):
    wanted = [type(each).FromString(each.SerializeToString()) for each in wanted]
    del field[:]
    field.extend(wanted)


def single_nodes(model, inputs):
    """Models of one node each, with open sizes and with known ones, of the nodes that compute the model's outputs, with the inputs that they have there.

    Values that only one judge can compute are that judge's. Nodes whose inputs or outputs are not tensors that NumPy knows
    are left out, as are calls of functions.
    """
    known = dict(inputs)
    known |= {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer if tensor.name not in inputs}
    for node in model.graph.node:
        names = [name for name in [*dict.fromkeys([*node.input, *sorted(graph.free_names(node))])] if name]
        if any(name not in known for name in names):
            continue
        made = onnx.ModelProto()
        made.CopyFrom(model)
        try:
            values = [graph.value_of(name, known[name]) for name in names]
        except graph.Unfit:
            continue
        feeds = {value.name: value.data for value in values}
        made.graph.CopyFrom(onnx.helper.make_graph([node], "node", [with_rank(value) for value in values],
                                                   [onnx.ValueInfoProto(name=name) for name in node.output if name]))
        for run in judges.JUDGES.values():
            try:
                results = run(made, feeds)
                break
            except judges.NoAnswer:
                continue
        else:
            continue
        try:
            outputs = [graph.value_of(name, data) for name, data in zip([name for name in node.output if name], results)]
        except graph.Unfit:
            continue
        known |= {value.name: value.data for value in outputs}
        if node.op_type == "Constant" or any(value.dtype in graph.schemas.NARROW for value in values + outputs):
            continue
        for shaped in (with_rank, with_shape):
            keep(made.graph.input, [shaped(value) for value in values])
            keep(made.graph.output, [shaped(value) for value in outputs])
            yield node, made, feeds


def with_shape(value):
    return value.info(value.name, value.shape if value.kind == "tensor" else None)


def with_rank(value):
    return value.info(value.name, [None] * value.rank if value.kind == "tensor" else None)
