"""Functions that the model defines itself, with attributes of their own."""

from onnx import AttributeProto, helper

from families import operators
from graph import Graph, Scope
from growth import grow
from schemas import Unfit
from values import value_of


@operators("local:Function")
def function(g, op):
    x = g.operand("Identity")
    if g.scope.functions and g.chance(0.3):
        made = g.rng.choice(g.scope.functions)
        g.add(helper.make_node, made.name, [x] * len(made.input), len(made.output), made.domain, None, {})
        return
    inner = Scope(g.rng, g.scope.opset)
    body = Graph(inner, body=True)
    formal = value_of(inner.name("x"), x.data)
    body.values.append(formal)
    while not formal.used and len(body.nodes) < 6:
        grow(body, g.rng.choice([1, 2, 3]), avoid=("local:Function",))
    results = [value for value in body.values if value is not formal and not value.fixed and value.kind == "tensor" and not value.used]
    if not formal.used or not results:
        raise Unfit("a function of nothing")
    nodes = list(body.nodes)
    attributes = refer(g, nodes)
    name = g.rng.choice(["F", "Relu", "my.func", "block/1", "f"]) + str(len(g.scope.functions))
    made = helper.make_function("local", name, [formal.name], [value.name for value in results], nodes, inner.opsets()[:2], list(attributes))
    g.scope.functions.append(made)
    for _ in range(g.rng.choice([1, 1, 2])):
        g.add(helper.make_node, name, [x], len(results), "local", None, attributes)


def refer(g, nodes):
    """Has an attribute of a node refer to one of the function's; returns what a call must give."""
    found = [attribute for node in nodes for attribute in node.attribute
             if attribute.type in (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.INTS)]
    if not found or g.chance(0.5):
        return {}
    attribute = g.rng.choice(found)
    value = helper.get_attribute_value(attribute)
    value = list(value) if attribute.type == AttributeProto.INTS else value
    if value == []:
        return {}
    kind, name = attribute.type, attribute.name
    attribute.Clear()
    attribute.name, attribute.type, attribute.ref_attr_name = name, kind, "outer_" + name
    return {"outer_" + name: value}
