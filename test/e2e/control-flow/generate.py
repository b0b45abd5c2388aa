#!/usr/bin/env python3
"""Makes the models of this folder, their inputs, and their outputs as the onnx package's reference evaluator computes them.

Needs the Python packages onnx and numpy: python3 test/e2e/control-flow/generate.py
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

FOLDER = pathlib.Path(__file__).parent
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def const(name, dtype, dims, values):
    return helper.make_tensor(name, dtype, dims, values)


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or outputs[0], **attributes)


def until():
    """x is multiplied and summed up until its sum passes a limit or the trips are used up.

    The trip count is an input, the exit condition depends on the data; one carried tensor, one scan output.

    (Scan outputs have slices of rank 1: the reference evaluator adds an axis to those of scalars.)
    """
    body = helper.make_graph(
        [
            node("Mul", ["x_in", "factor"], ["x_out"]),
            node("ReduceSum", ["x_out"], ["total"], keepdims=0),
            node("Less", ["total", "limit"], ["again"]),
            node("Neg", ["x_out"], ["negative"]),
        ],
        "until_body",
        [value("i", INT64, []), value("go_on", BOOL, []), value("x_in", FLOAT, ["n"])],
        [value("again", BOOL, []), value("x_out", FLOAT, ["n"]), value("negative", FLOAT, ["n"])],
        [const("factor", FLOAT, [], [1.5])],
    )
    return helper.make_graph(
        [node("Loop", ["trips", "start", "x"], ["y", "history"], name="until", body=body)],
        "until",
        [value("trips", INT64, []), value("x", FLOAT, ["n"])],
        [value("y", FLOAT, ["n"]), value("history", FLOAT, ["steps", "n"])],
        [const("start", BOOL, [], [True]), const("limit", FLOAT, [], [40.0])],
    )


def grow():
    """A carried tensor that gets longer in every iteration."""
    body = helper.make_graph(
        [
            node("Cast", ["i"], ["i_float"], to=FLOAT),
            node("Unsqueeze", ["i_float", "zero"], ["item"]),
            node("Concat", ["list_in", "item"], ["list_out"], axis=0),
            node("Identity", ["go_on"], ["again"]),
        ],
        "grow_body",
        [value("i", INT64, []), value("go_on", BOOL, []), value("list_in", FLOAT, ["length"])],
        [value("again", BOOL, []), value("list_out", FLOAT, ["length + 1"])],
        [const("zero", INT64, [1], [0])],
    )
    return helper.make_graph(
        [node("Loop", ["trips", "start", "x"], ["y"], name="grow", body=body)],
        "grow",
        [value("trips", INT64, []), value("x", FLOAT, ["n"])],
        [value("y", FLOAT, ["m"])],
        [const("start", BOOL, [], [True])],
    )


def branches():
    """An If whose branches give results of different sizes: all of x where its mean is positive, else its first two."""
    whole = helper.make_graph([node("Neg", ["x"], ["whole"])], "whole", [], [value("whole", FLOAT, ["n", 3])])
    part = helper.make_graph(
        [node("Slice", ["x", "from", "to"], ["part"])],
        "part",
        [],
        [value("part", FLOAT, [2, 3])],
        [const("from", INT64, [1], [0]), const("to", INT64, [1], [2])],
    )
    return helper.make_graph(
        [
            node("ReduceMean", ["x"], ["mean"], keepdims=0),
            node("Greater", ["mean", "zero"], ["positive"]),
            node("If", ["positive"], ["chosen"], name="choose", then_branch=whole, else_branch=part),
            node("Exp", ["chosen"], ["y"]),
        ],
        "branches",
        [value("x", FLOAT, [4, 3])],
        [value("y", FLOAT, ["rows", 3])],
        [const("zero", FLOAT, [], [0.0])],
    )


def collatz():
    """A Loop that holds an If: a number is halved where it is even, else tripled and one added, until it is 1."""
    even = helper.make_graph([node("Div", ["x_in", "two"], ["half"])], "even", [], [value("half", INT64, [])])
    odd = helper.make_graph(
        [node("Mul", ["x_in", "three"], ["triple"]), node("Add", ["triple", "one"], ["odd_next"])],
        "odd",
        [],
        [value("odd_next", INT64, [])],
    )
    body = helper.make_graph(
        [
            node("Mod", ["x_in", "two"], ["rest"]),
            node("Equal", ["rest", "zero"], ["is_even"]),
            node("If", ["is_even"], ["x_out"], name="parity", then_branch=even, else_branch=odd),
            node("Greater", ["x_out", "one"], ["again"]),
            node("Reshape", ["x_out", "list"], ["step"]),
        ],
        "collatz_body",
        [value("i", INT64, []), value("go_on", BOOL, []), value("x_in", INT64, [])],
        [value("again", BOOL, []), value("x_out", INT64, []), value("step", INT64, [1])],
    )
    numbers = [const(name, INT64, [], [v]) for name, v in (("zero", 0), ("one", 1), ("two", 2), ("three", 3))]
    numbers.append(const("list", INT64, [1], [1]))
    return helper.make_graph(
        [
            node("Greater", ["x", "one"], ["start"]),
            node("Loop", ["", "start", "x"], ["y", "steps"], name="collatz", body=body),
        ],
        "collatz",
        [value("x", INT64, [])],
        [value("y", INT64, []), value("steps", INT64, ["count", 1])],
        numbers,
    )


def chosen():
    """How many elements Compress leaves is data; a Loop and a Scan carry them, and one branch of an If gives them as they are."""
    again = helper.make_graph(
        [node("Add", ["x_in", "x_in"], ["x_out"]), node("Identity", ["go_on"], ["more"])],
        "again_body",
        [value("i", INT64, []), value("go_on", BOOL, []), value("x_in", FLOAT, ["k"])],
        [value("more", BOOL, []), value("x_out", FLOAT, ["k"])],
    )
    step = helper.make_graph(
        [node("Add", ["state", "item"], ["next"]), node("Identity", ["next"], ["row"])],
        "step",
        [value("state", FLOAT, ["k"]), value("item", FLOAT, [1])],
        [value("next", FLOAT, ["k"]), value("row", FLOAT, ["k"])],
    )
    negative = helper.make_graph([node("Neg", ["kept"], ["minus"])], "negative", [], [value("minus", FLOAT, ["k"])])
    same = helper.make_graph([node("Identity", ["kept"], ["plus"])], "same", [], [value("plus", FLOAT, ["k"])])
    return helper.make_graph(
        [
            node("Compress", ["x", "keep"], ["kept"], axis=0),
            node("Loop", ["trips", "start", "kept"], ["doubled"], name="again", body=again),
            node("Scan", ["kept", "items"], ["last", "rows"], name="steps", body=step, num_scan_inputs=1),
            node("ReduceSum", ["kept"], ["total"], keepdims=0),
            node("Less", ["total", "zero"], ["is_negative"]),
            node("If", ["is_negative"], ["size"], name="sign", then_branch=negative, else_branch=same),
        ],
        "chosen",
        [value("x", FLOAT, ["n"]), value("keep", BOOL, ["n"]), value("items", FLOAT, ["m", 1])],
        [value(name, FLOAT, [None]) for name in ("doubled", "last")]
        + [value("rows", FLOAT, [None, None]), value("size", FLOAT, [None])],
        [const("trips", INT64, [], [3]), const("start", BOOL, [], [True]), const("zero", FLOAT, [], [0.0])],
    )


def squeeze():
    """An axis of x is dropped if its size is 1, as PyTorch's squeeze does; what follows has two ranks until it is restored.

    The rank of y is that of a run. v has one rank, though an If restores the axis, by the rank. w needs one rank, too.
    """
    dropped = helper.make_graph([node("Squeeze", ["x", "one"], ["less"])], "dropped", [], [value("less", FLOAT, None)])
    whole = helper.make_graph([node("Identity", ["x"], ["all"])], "whole", [], [value("all", FLOAT, None)])
    restored = helper.make_graph([node("Unsqueeze", ["y", "one"], ["back"])], "restored", [], [value("back", FLOAT, None)])
    kept = helper.make_graph([node("Identity", ["y"], ["same"])], "kept", [], [value("same", FLOAT, None)])
    return helper.make_graph(
        [
            node("Shape", ["x"], ["sizes"]),
            node("Gather", ["sizes", "one"], ["size"]),
            node("Equal", ["size", "one"], ["is_one"]),
            node("If", ["is_one"], ["t"], name="drop", then_branch=dropped, else_branch=whole),
            node("Neg", ["t"], ["y"]),
            node("Shape", ["y"], ["y_sizes"]),
            node("Size", ["y_sizes"], ["rank"]),
            node("Equal", ["rank", "two"], ["is_two"]),
            node("If", ["is_two"], ["u"], name="restore", then_branch=restored, else_branch=kept),
            node("Exp", ["u"], ["v"]),
            node("MatMul", ["y", "matrix"], ["product"]),
            node("Reshape", ["product", "flat"], ["w"]),
        ],
        "squeeze",
        [value("x", FLOAT, ["n", "k", 4])],
        [value("y", FLOAT, None), value("v", FLOAT, None), value("w", FLOAT, [None])],
        [
            const("one", INT64, [1], [1]),
            const("two", INT64, [], [2]),
            const("flat", INT64, [1], [-1]),
            const("matrix", FLOAT, [4, 2], [1, 2, 0, -1, 0.5, 0, 3, 1]),
        ],
    )


CASES = {
    "until": (until, [np.int64(12), np.array([1.0, 2.0, 0.5], np.float32)]),
    "until-trips": (until, [np.int64(3), np.array([0.25, -1.0, 0.5, 0.125], np.float32)]),
    "grow": (grow, [np.int64(5), np.array([9.0, 8.0], np.float32)]),
    "grow-none": (grow, [np.int64(0), np.array([9.0, 8.0], np.float32)]),
    "branches-whole": (branches, [np.linspace(-1, 2, 12, dtype=np.float32).reshape(4, 3)]),
    "branches-part": (branches, [np.linspace(-2, 1, 12, dtype=np.float32).reshape(4, 3)]),
    "collatz": (collatz, [np.int64(27)]),
    "squeeze-one": (squeeze, [np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 1, 4)]),
    "squeeze-more": (squeeze, [np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)]),
    "chosen": (
        chosen,
        [
            np.array([-4, 2, 0.5, -1], np.float32),
            np.array([True, False, True, True]),
            np.array([[1], [10]], np.float32),
        ],
    ),
}


def main():
    for name, (build, inputs) in CASES.items():
        folder = FOLDER / name
        folder.mkdir(exist_ok=True)
        model = helper.make_model(
            build(), opset_imports=[helper.make_opsetid("", 20)], ir_version=10, producer_name="kiln"
        )
        if build is not squeeze:  # the checker wants each output to have one rank
            onnx.checker.check_model(model)
        onnx.save(model, folder / "model.onnx")
        feeds = {given.name: np.asarray(data) for given, data in zip(model.graph.input, inputs)}
        outputs = ReferenceEvaluator(model).run(None, feeds)
        for i, data in enumerate(inputs):
            np.save(folder / f"input_{i}.npy", np.asarray(data))
        for i, data in enumerate(outputs):
            np.save(folder / f"output_{i}.npy", np.asarray(data))
        print(name, [np.asarray(output).tolist() for output in outputs])


if __name__ == "__main__":
    main()
