"""A random ONNX graph that grows node by node.

Each node is run on example data as soon as it is added, so the graph knows the shape and the values of all that it has.
A node that the schema forbids or that no judge runs raises Unfit, and the driver takes back what was added for it.
"""

import numpy
import onnx
from onnx import TensorProto, helper

import judges
import schemas
from schemas import Unfit
from values import Value, broadcasts, free_names, inside, tensor_of, value_of

SIZES = [1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 17]
MOST_ELEMENTS = 3000
ODD_NAMES = ["a/b:0", "it's", 'say "so"', "naïve", "名前", "two words", "back\\slash", "%0", "$HOME", "0", "1.5", "int", "..", "/",
             "a=b", "a,b", "x[0]", "{x}", " ", "-", "--help", "a\tb", "NULL", "main", "y'", "#1", "_", "__", "output_0", "é/é"]
ODD_DIMS = ["batch size", "n/2", "序列", "unk__1", "N", "n", "a.b", "1x", "None", "seq-len", "?", "int", "x'", ""]


class Scope:
    """What the graphs of one model share: the source of chance, the opset, names that are taken, functions."""

    def __init__(self, rng, opset):
        self.rng, self.opset = rng, opset
        self.generator = numpy.random.default_rng(rng.randrange(1 << 62))
        self.odd = rng.random() < 0.2
        self.open = rng.random() < 0.6
        self.taken, self.count, self.functions, self.sizes, self.symbols = set(), 0, [], {}, set()

    def name(self, stem):
        if self.odd and self.rng.random() < 0.5:
            odd = self.rng.choice(ODD_NAMES)
            if odd not in self.taken:
                self.taken.add(odd)
                return odd
        while True:
            self.count += 1
            name = f"{stem}{self.count}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def opsets(self):
        made = [helper.make_opsetid("", self.opset), helper.make_opsetid("ai.onnx.ml", schemas.ML_VERSION)]
        return made + [helper.make_opsetid("local", 1)] * bool(self.functions)


class Graph:
    def __init__(self, scope, outer=None, body=False):
        """outer: the graph around a branch or a body, whose values it may use. body: a function's, without initializers."""
        self.scope, self.rng, self.outer, self.body = scope, scope.rng, outer, body
        self.nodes, self.inputs, self.overridable, self.initializers, self.values = [], [], [], [], []
        self.siblings = set()  # names of another branch, which would hide those of the graph around both
        self.feeds, self.grows = {}, False

    # What was added since a mark can be taken back.
    def mark(self):
        lists = (self.nodes, self.inputs, self.overridable, self.initializers, self.values, self.scope.functions)
        used = {id(value): value.used for value in self.visible()}
        return [list(each) for each in lists], dict(self.feeds), used, self.outer.mark() if self.outer else None

    def back_to(self, mark):
        kept, feeds, used, outer = mark
        if outer:
            self.outer.back_to(outer)
        lists = (self.nodes, self.inputs, self.overridable, self.initializers, self.values, self.scope.functions)
        for each, old in zip(lists, kept):
            each[:] = old
        self.feeds = feeds
        for value in self.visible():
            value.used = used[id(value)]

    def visible(self):
        return self.values + (self.outer.visible() if self.outer else [])

    # Chance.
    def chance(self, share):
        return self.rng.random() < share

    def size(self):
        if self.chance(0.03):
            return 0
        return self.rng.choice(SIZES)

    def shape(self, rank=None, low=0, high=6):
        """A random shape of few elements."""
        if rank is None:
            rank = min(high, max(low, self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6])))
        while True:
            shape = tuple(self.size() for _ in range(rank))
            if numpy.prod(shape) <= MOST_ELEMENTS:
                return shape

    def array(self, dtype, shape, low=None, high=None):
        """Random data; integers from low to high - 1, floats from low to high. Half of the floats are multiples of 1/4."""
        generator = self.scope.generator
        if dtype == TensorProto.STRING:
            return generator.choice(numpy.array(["", "a", "b", "Ab c", "abc", "é x"], dtype=object), shape)
        if dtype == TensorProto.BOOL:
            return numpy.asarray(generator.integers(0, 2, shape)).astype(bool)
        kind = helper.tensor_dtype_to_np_dtype(dtype)
        if dtype in schemas.FLOATS:
            low, high = -4 if low is None else low, 4 if high is None else high
            made = numpy.asarray(generator.uniform(low, high, shape))
            made = numpy.clip(numpy.round(made * 4) / 4, low, high) if self.chance(0.5) else made
            return numpy.asarray(made, kind)
        low = (0 if dtype in schemas.UNSIGNED else -8) if low is None else low
        return numpy.asarray(generator.integers(low, 9 if high is None else high, shape)).astype(kind)

    def axis(self, rank, past=False):
        """An axis, negative in half of the cases; one more if past."""
        if rank + past == 0:
            raise Unfit("no axis")
        axis = self.rng.randrange(rank + past)
        return axis - rank - past if self.chance(0.4) else axis

    def axes(self, rank, some=True):
        """Different axes, in any order."""
        if rank == 0 and some:
            raise Unfit("no axis")
        chosen = self.rng.sample(range(rank), self.rng.randint(1 if some else 0, rank))
        return [axis - rank if self.chance(0.3) else axis for axis in chosen]

    # Tensors that no node computes.
    def source(self, data, kinds=None, dtype=None, closed=False):
        """Data as an input, an initializer, both or a Constant node. kinds: which of "input", "initializer", "both", "node".

        closed: an input whose sizes stay known in most cases, as those of weights are.
        """
        data = data if isinstance(data, list) or data is None else numpy.asarray(data)
        kinds = kinds or self.rng.choice(["input"] * 6 + ["initializer"] * 3 + ["both"] + ["node"] * 2)
        if kinds == "both" and schemas.dtype_of(data) == TensorProto.STRING and self.chance(0.9):
            kinds = "initializer"  # kiln refuses most of these in one line
        if self.outer and kinds in ("input", "both"):
            if self.body:
                kinds = "node"
            else:
                self.scope.taken |= self.siblings
                return self.outer.source(data, kinds, dtype, closed)
        if self.body or (kinds == "initializer" and self.outer and self.chance(0.5)):
            kinds = "node"
        dtype = dtype or schemas.dtype_of(data[0] if isinstance(data, list) else data)
        if dtype in schemas.NARROW:
            raise Unfit("narrow source")
        value = Value(self.scope.name({"input": "x", "node": "c"}.get(kinds, "w")), data, dtype,
                      "sequence" if isinstance(data, list) else "tensor", kinds in ("initializer", "node"))
        value.closed = closed and not self.chance(0.1)
        if kinds == "node" and value.type_text() not in schemas.schema("Constant", self.scope.opset).outputs[0].types:
            if self.body:
                raise Unfit("no such constant yet")
            kinds = "initializer"
        if kinds == "node":
            self.nodes.append(helper.make_node("Constant", [], [value.name], value=tensor_of(data)))
        elif kinds != "input":
            self.initializers.append(tensor_of(data, value.name))
        if kinds == "input":
            self.inputs.append(value)
            self.feeds[value.name] = data
        elif kinds == "both":
            self.overridable.append(value)
        self.values.append(value)
        return value

    def new(self, dtype, shape, low=None, high=None, closed=False):
        """A new tensor of random data. One of a narrow float is a Cast of a float32."""
        if dtype == TensorProto.BFLOAT16:
            wide = self.source(self.array(TensorProto.FLOAT, shape, low, high), closed=closed)
            return self.op("Cast", [wide], to=dtype)
        return self.source(self.array(dtype, shape, low, high), closed=closed)

    def weight(self, dtype, shape, low=None, high=None):
        """A new tensor whose sizes the operator or an attribute asks for."""
        return self.new(dtype, shape, low, high, closed=True)

    def parameter(self, data):
        """Axes, sizes and the like: constants in most cases."""
        return self.source(data, "input" if self.chance(0.08) else "initializer" if self.chance(0.6) else "node", closed=True)

    def dtype(self, op, place=0, among=None, domain=""):
        """One that the operator's input takes; float32 in half of the cases."""
        found = schemas.schema(op, self.scope.opset, domain)
        fit = [each for each in schemas.dtypes(found, place)
               if each in schemas.PLAIN + [TensorProto.STRING, TensorProto.BFLOAT16] and (among is None or each in among)]
        if not fit:
            raise Unfit(f"{op} takes none of these")
        if TensorProto.FLOAT in fit and self.chance(0.5):
            return TensorProto.FLOAT
        return self.rng.choice(fit)

    def pick(self, wanted, share=0.75):
        """A value that there is already, one that nothing uses first; None in the other cases."""
        fit = [value for value in self.visible() if value.kind == "tensor" and wanted(value)]
        if not fit or not self.chance(0.95 if self.body else share):
            return None
        unused = [value for value in fit if not value.used]
        return self.rng.choice(unused if unused and self.chance(0.8) else fit)

    def operand(self, op, place=0, low=0, high=6, rank=None, among=None, domain="", where=lambda value: True, limits=(None, None)):
        """A tensor for an operator's input, of low to high axes."""
        found = schemas.schema(op, self.scope.opset, domain)
        allowed = [each for each in schemas.dtypes(found, place) if among is None or each in among]
        low, high = (low, high) if rank is None else (rank, rank)
        value = self.pick(lambda value: value.dtype in allowed and low <= value.rank <= high and where(value) and inside(value, limits))
        if value:
            return value
        for _ in range(20):
            mark = self.mark()
            made = self.new(self.dtype(op, place, among, domain), self.shape(low=low, high=high), *limits)
            if where(made):
                return made
            self.back_to(mark)
        raise Unfit("no such tensor")

    def partner(self, value, limits=(None, None)):
        """A tensor of the value's dtype that broadcasts with it, of as many axes or fewer."""
        there = self.pick(lambda other: other is not value and other.dtype == value.dtype and broadcasts(other.shape, value.shape)
                          and inside(other, limits), 0.4)
        if there:
            return there
        if self.chance(0.5):
            return self.new(value.dtype, value.shape, *limits)
        shape = value.shape[self.rng.randint(0, value.rank):]
        return self.new(value.dtype, tuple(1 if self.chance(0.3) else size for size in shape), *limits)

    # Nodes.
    def op(self, op, inputs, outputs=1, domain="", want=None, graphs=None, **parameters):
        """Adds a node and returns its value, or a list of them if `outputs` is not 1.

        A parameter is an attribute or an input, whichever the opset's schema says; one that it lacks is left out. An
        attribute that has its default is left out in half of the cases. want: which outputs are named (default: all).
        """
        found = schemas.schema(op, self.scope.opset, domain)
        inputs, attributes = list(inputs), dict(graphs or {})
        for name, given in parameters.items():
            if given is None:
                continue
            if name in found.attributes:
                if given != schemas.default(found, name) or self.chance(0.5):
                    attributes[name] = given
                continue
            place = next((number for number, each in enumerate(found.inputs) if each.name == name), None)
            if place is not None:
                inputs += [None] * (place + 1 - len(inputs))
                inputs[place] = given if isinstance(given, Value) else self.as_input(found, place, given, inputs)
        attributes = {name: helper.make_attribute(name, given, attr_type=found.attributes[name].type.value) if given == [] else given
                      for name, given in attributes.items()}
        schemas.check_types(found, [value.type_text() if value else None for value in inputs])
        if len(inputs) < found.min_input:
            raise Unfit(f"{op} needs {found.min_input} inputs")
        return self.add(helper.make_node, op, inputs, outputs, domain, want, attributes)

    def as_input(self, found, place, given, inputs):
        """A parameter as a tensor: of the first input's type if both have one type variable, otherwise int64."""
        same = [value.dtype for number, value in enumerate(inputs)
                if value and number != place and schemas.formal(found, number).type_str == found.inputs[place].type_str]
        if same:
            dtype = same[0]
            if dtype == TensorProto.STRING:
                raise Unfit("a number among strings")
            if dtype in schemas.NARROW:
                return self.op("Cast", [self.parameter(numpy.asarray(given, numpy.float32))], to=dtype)
        else:
            allowed = schemas.dtypes(found, place)
            dtype = TensorProto.INT64 if TensorProto.INT64 in allowed else allowed[0]
            if TensorProto.INT32 in allowed and self.chance(0.25):
                dtype = TensorProto.INT32
        return self.parameter(numpy.asarray(given).astype(helper.tensor_dtype_to_np_dtype(dtype)))

    def add(self, make, op, inputs, outputs, domain, want, attributes):
        names = [self.scope.name("v") if want is None or number in want else "" for number in range(outputs)]
        while names and not names[-1]:
            names.pop()
        made = {name: given for name, given in attributes.items() if not isinstance(given, onnx.AttributeProto)}
        node = make(op, [value.name if value else "" for value in inputs], names, domain=domain, **made)
        node.attribute.extend(given for given in attributes.values() if isinstance(given, onnx.AttributeProto))
        if self.chance(0.5):
            node.name = self.scope.name("node")
        results = self.example(node, inputs)
        for value in inputs:
            if value:
                value.used = True
        self.nodes.append(node)
        made = []
        for name, data in zip(names, results):
            if name:
                value = value_of(name, data)
                self.values.append(value)
                made.append(value)
        return made[0] if outputs == 1 else made

    def proto(self, outputs):
        """The GraphProto with these outputs."""
        whole = self.outer is None
        inputs = [value.info(value.name, self.open_shape(value) if whole else self.inner_shape(value)) for value in self.inputs]
        inputs += [value.info(value.name, value.shape) for value in self.overridable]
        made = [value.info(value.name, self.declared(value) if whole else self.inner_shape(value)) for value in outputs]
        for value in outputs:
            value.used = True
        return helper.make_graph(self.nodes, self.scope.name("graph"), inputs, made, self.initializers)

    def open_shape(self, value):
        """The sizes of an input; some become names. Equal sizes may share a name."""
        if value.kind != "tensor":
            return None
        made, names = [], self.scope.sizes
        for size in value.shape:
            if not self.scope.open or value.closed or not self.chance(0.45):
                made.append(size)
            elif names.get(size) and self.chance(0.6):
                made.append(names[size])
            else:
                stem = self.rng.choice(ODD_DIMS if self.scope.odd and self.chance(0.4) else ["n", "m", "batch", "seq", "h"])
                name = f"{stem}{len(self.scope.symbols)}" if stem in self.scope.symbols else stem
                self.scope.symbols.add(name)
                names[size] = name
                made.append(name or None)
        return made

    def inner_shape(self, value):
        """Of a branch's or a body's value: only its rank, unless no size is open. A body's states may grow."""
        if value.kind != "tensor":
            return None
        return value.shape if not self.scope.open and not self.grows and self.chance(0.5) else [None] * value.rank

    def declared(self, value):
        """What an output declares: its rank, its sizes if the inputs leave none open, or names of its own."""
        if value.kind != "tensor":
            return None
        if self.chance(0.4):
            return [None] * value.rank
        return [self.scope.name("d") for _ in value.shape] if self.scope.open or self.chance(0.5) else value.shape

    def example(self, node, inputs):
        """What the node makes of the example data."""
        captured = [value for value in self.visible() if value.name in free_names(node)]
        known = {value.name: value for value in [*(value for value in inputs if value), *captured]}
        for value in captured:
            value.used = True
        graph = helper.make_graph([node], "g", [value.info(value.name) for value in known.values()],
                                  [onnx.ValueInfoProto(name=name) for name in node.output if name])
        model = helper.make_model(graph, opset_imports=self.scope.opsets(), functions=self.scope.functions, ir_version=10)
        feeds = {value.name: value.data for value in known.values()}
        runs, reasons = [judges.run_onnxruntime, judges.run_reference], []
        if any(value.dtype in schemas.NARROW for value in known.values()) or narrows(node):
            runs = runs[1:]
        for run in runs:
            try:
                results = run(model, feeds)
                break
            except judges.NoAnswer as error:
                reasons.append(str(error))
        else:
            raise Unfit(f"no judge runs {node.op_type}: {reasons}")
        named = dict(zip([name for name in node.output if name], results))
        if any(isinstance(data, numpy.ndarray) and data.size > 20 * MOST_ELEMENTS for data in results):
            raise Unfit("too large")
        return [named.get(name) for name in node.output]


def narrows(node):
    return any(each.name in ("to", "dtype", "output_dtype") and each.i in schemas.NARROW for each in node.attribute)
