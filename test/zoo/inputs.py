"""The inputs of a run, drawn from a fixed seed by the rules of its case (case.py)."""

import numpy

SEED = 11
DTYPES = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(int64)": "int64",
    "tensor(int32)": "int32", "tensor(int16)": "int16", "tensor(int8)": "int8", "tensor(uint8)": "uint8",
    "tensor(bool)": "bool", "tensor(string)": "str",
}  # fmt: skip


def array(random, dtype, shape, rule):
    if "of" in rule:
        return numpy.resize(numpy.array(rule["of"], dtype), shape)
    if dtype == "str":
        return numpy.array(random.choice(rule["words"], shape))
    if "from" in rule:
        return random.integers(rule["from"], rule["to"], shape).astype(dtype)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if numpy.dtype(dtype).kind in "iu":
        raise SystemExit("an input of integers needs a rule that says from where to where")
    return (random.standard_normal(shape) * rule.get("scale", 1)).astype(dtype)


def arrays(declared, run, values):
    """The arrays of one run, in the order in which ONNX Runtime's session declares its inputs."""
    random = numpy.random.default_rng(SEED)
    made = []
    for port in declared:
        shape = run.get(port.name, port.shape)
        if not all(isinstance(size, int) for size in shape):
            raise SystemExit(f"input {port.name}: no shape is given, and {shape} is open")
        made.append(array(random, DTYPES[port.type], shape, values.get(port.name, {})))
    return made


def has_open_sizes(declared):
    return any(not isinstance(size, int) or size <= 0 for port in declared for size in port.shape)
