"""Cuts a model to a smaller one that shows the same fault."""

import onnx

import schemas
from evaluation import evaluate, with_rank
from values import free_names


def single_outputs(model):
    """A model for each output, if there are several."""
    outputs = model.graph.output
    return [keep_needed(model, [output.name]) for output in outputs] if len(outputs) > 1 else []


def smallest(model, inputs, is_find):
    """The smallest model found, and its inputs: inputs stand in place of what nodes compute, the last nodes first.

    is_find: whether a model with inputs still shows the fault.
    """
    known = {name: value for name, value in evaluate(model, inputs).items() if value.dtype not in schemas.NARROW}
    count = len(model.graph.node) + 1
    while len(model.graph.node) < count:  # until no node gives way
        count = len(model.graph.node)
        model, inputs = with_fewer_nodes(model, inputs, known, is_find)
    return model, inputs


def with_fewer_nodes(model, inputs, known, is_find):
    outputs = {value.name for value in model.graph.output}
    for node in reversed(list(model.graph.node)):
        values = [value for name in node.output if (value := known.get(name))]
        if node.op_type == "Constant" or not any(node == each for each in model.graph.node) or outputs & set(node.output):
            continue
        if not values or len(values) < sum(bool(name) for name in node.output):
            continue
        for shaped in (with_shape, with_rank):
            cut = with_inputs(model, node, [shaped(value) for value in values])
            feeds = {**inputs, **{value.name: value.data for value in values}}
            if is_find(cut, feeds):
                model, inputs = cut, feeds
                break
    return model, inputs


def keep_needed(model, outputs):
    """The model with these outputs and the nodes, inputs and initializers that they need."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    needed, nodes = set(outputs), []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            nodes.append(node)
            needed |= set(node.input) | free_names(node)
    keep(made.graph.node, nodes[::-1])
    keep(made.graph.input, [value for value in model.graph.input if value.name in needed])
    keep(made.graph.initializer, [tensor for tensor in model.graph.initializer if tensor.name in needed])
    keep(made.graph.output, [value for value in model.graph.output if value.name in outputs])
    return made


def with_inputs(model, node, values):
    """The model without a node; its outputs are inputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    keep(made.graph.node, [each for each in model.graph.node if each != node])
    made.graph.input.extend(values)
    return keep_needed(made, [value.name for value in model.graph.output])


def keep(field, wanted):
    wanted = [type(each).FromString(each.SerializeToString()) for each in wanted]
    del field[:]
    field.extend(wanted)


def with_shape(value):
    return value.info(value.name, value.shape if value.kind == "tensor" else None)
