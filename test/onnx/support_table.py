"""docs/onnx-support.md: what the tests of the onnx package show of each operator."""

import collections

import onnx

HEAD = """# ONNX support

What the backend tests of the onnx package, version {version}, show of kiln on the device `cpu`: {passed} of {count} pass.
[test/onnx/run.py](../test/onnx/run.py) writes this page, and a test holds it to what it runs.
[test/onnx/expected-failures](../test/onnx/expected-failures) has a line with the reason for each test that does not pass.

| tests | pass |
|---|---|
{kinds}
An operator's row counts the tests that are this one node. Opsets are the versions of the operator, dtypes those of inputs
and outputs, in the tests that pass.

| operator | opsets | dtypes | pass |
|---|---|---|---|
{rows}"""


def signature(model):
    """What the table says of a model that is one node: (operator, version, dtypes); None of any other."""
    if len(model.graph.node) != 1:
        return None
    node = model.graph.node[0]
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    if not onnx.defs.has(node.op_type, node.domain):
        return None  # a function of the model
    version = onnx.defs.get_schema(node.op_type, opsets[node.domain], node.domain).since_version
    types = {value.type.tensor_type.elem_type for value in [*model.graph.input, *model.graph.output]}
    dtypes = {onnx.TensorProto.DataType.Name(t).lower() for t in types if t}
    dtypes = {{"float": "float32", "double": "float64"}.get(dtype, dtype) for dtype in dtypes}
    return f"{node.domain}.{node.op_type}".lstrip("."), version, dtypes


def page(results):
    """`results`: (kind of test, signature or None, whether it passed), one per test."""
    kinds = collections.defaultdict(list)
    operators = collections.defaultdict(list)
    for kind, signed, passed in results:
        kinds[kind].append(passed)
        if signed:
            operators[signed[0]].append((signed, passed))
    rows = ""
    for name, tests in sorted(operators.items()):
        good = [signed for signed, passed in tests if passed]
        versions = ", ".join(map(str, sorted({version for _, version, _ in good})))
        dtypes = ", ".join(sorted(set().union(*(dtypes for _, _, dtypes in good))))
        rows += f"| {name} | {versions} | {dtypes} | {len(good)} of {len(tests)} |\n"
    return HEAD.format(
        version=onnx.__version__,
        passed=sum(passed for _, _, passed in results),
        count=len(results),
        kinds="".join(f"| {kind} | {sum(tests)} of {len(tests)} |\n" for kind, tests in sorted(kinds.items())),
        rows=rows,
    )
