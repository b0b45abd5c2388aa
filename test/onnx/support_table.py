"""docs/onnx-support.md: what the tests of the onnx package show of each operator."""

import collections
import os

import onnx
import onnx.backend.test.loader

KINDS = ("node", "real", "simple", "pytorch-converted", "pytorch-operator")
PACKAGES = os.path.dirname(os.path.dirname(onnx.__file__))  # a light model's url is a path from there

HEAD = """# ONNX support

What the backend tests of the onnx package, version {version}, show of kiln on the device `cpu`: {passed} of {count} pass.
[test/onnx/expected-failures](../test/onnx/expected-failures) has a line with the reason for each that does not;
[test/onnx/run.py](../test/onnx/run.py) holds the list to what runs, and writes this page from the list.

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


def models():
    """(kind, test, model) of every test."""
    for kind in KINDS:
        for test in onnx.backend.test.loader.load_model_tests(kind=kind):
            path = os.path.join(test.model_dir or "", "model.onnx") if not test.url else os.path.join(PACKAGES, test.url)
            yield kind, test.name, test.model or onnx.load(path)


def page(failing):
    """The page, where `failing` has the names of the tests that do not pass."""
    kinds = collections.defaultdict(list)
    operators = collections.defaultdict(list)
    for kind, name, model in models():
        passes = name not in failing
        kinds[kind].append(passes)
        if signed := signature(model):
            operators[signed[0]].append((signed, passes))
    rows = ""
    for name, tests in sorted(operators.items()):
        good = [signed for signed, passes in tests if passes]
        versions = ", ".join(map(str, sorted({version for _, version, _ in good})))
        dtypes = ", ".join(sorted(set().union(*(dtypes for _, _, dtypes in good))))
        rows += f"| {name} | {versions} | {dtypes} | {len(good)} of {len(tests)} |\n"
    counts = list(kinds.values())
    return HEAD.format(
        version=onnx.__version__,
        passed=sum(map(sum, counts)),
        count=sum(map(len, counts)),
        kinds="".join(f"| {kind} | {sum(tests)} of {len(tests)} |\n" for kind, tests in kinds.items()),
        rows=rows,
    )
