"""The class of a seed's model: what the judges and kiln make of it. README.md says what the classes are."""

import os
import random
import shutil

import onnx

import compiler
import growth
import judges
import reduction
import schemas
from stability import is_stable

FOLDER = os.path.dirname(os.path.abspath(__file__))
FINDS = ("broken", "wrong", "wrong for the only judge", "differs from both", "not generated")
RANKS = (*FINDS, "not stable", "agree", "judges differ")
LOST = ("not made", "not valid", "not judged")


def one(arguments, seed, folder):
    """The class of a seed's model, and a line on it."""
    try:
        model, inputs = growth.random_model(random.Random(seed), arguments.only)
    except schemas.Unfit as reason:
        return "not made", str(reason)
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # the checker's, the inference's and protobuf's have no class in common
        return "not valid", first_line(error)
    kind, text = verdict(arguments, model, inputs, folder)
    if kind not in FINDS:
        return kind, text
    return reduced(arguments, model, inputs, folder, kind)


def reduced(arguments, model, inputs, folder, whole):
    """The class of the smallest model that shows a find of the class `whole`, and a line on it. If an output by
    itself, or the next smaller model, has both judges, and kiln agrees with one of them, the only judge was wrong."""
    last, seen = os.path.join(folder, "small"), set()

    def is_find(small, feeds):
        shutil.rmtree(last, ignore_errors=True)
        kind = verdict(arguments, small, feeds, last)[0]
        same = kind == whole or whole not in ("broken", "wrong") and kind in FINDS and kind != "broken"
        if same:
            seen.clear()
        seen.add(kind)
        return same

    cuts = reduction.single_outputs(model)
    cut = next((each for each in cuts if is_find(each, inputs)), model)
    if cuts and cut is model and whole != "broken" and seen <= {"agree", "judges differ"}:
        return "judge at fault", "no output by itself shows it"
    small, feeds = reduction.smallest(cut, inputs, is_find)
    shutil.rmtree(last, ignore_errors=True)
    kind, text = verdict(arguments, small, feeds, last)
    names = operators(small)
    if kind in ("wrong for the only judge", "differs from both"):
        if "judges differ" in seen:
            return "judge at fault", "a smaller model shows it"
        for name in names:
            first, newest, fault = arguments.faults.get(name, (1, 0, ""))
            if first <= small.opset_import[0].version <= newest:
                return "judge at fault", f"{name} {fault}"
    return kind, f"{' '.join(names)}: {text}"


def operators(model):
    """Of the nodes in the order of the file, those of branches, bodies and functions as well."""
    def inside(nodes):
        for node in nodes:
            yield node.op_type
            for attribute in node.attribute:
                yield from inside(attribute.g.node)
    called = [node for function in model.functions for node in function.node]
    return [name for name in inside([*model.graph.node, *called]) if name != "Constant"]


def verdict(arguments, model, inputs, folder):
    """The class of a valid model, and a line on it; the model and its data are in the folder then."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    inputs = {value.name: inputs[value.name] for value in model.graph.input if value.name in inputs}
    write_data(model, inputs, folder)
    results, reasons = {}, {}
    for name, run in judges.JUDGES.items():
        try:
            results[name] = run(model, inputs)
        except judges.NoAnswer as error:
            reasons[name] = str(error)
    if not results:
        return "not judged", reasons["onnxruntime"]
    sequences = [value.type.HasField("sequence_type") for value in model.graph.output]
    try:
        found = compiler.run(arguments.kiln, path, list(inputs.values()), sequences, folder, arguments.options)
    except compiler.Refusal as line:
        return "refused", str(line).replace(path, "model.onnx")
    except compiler.Broken as text:
        return "broken", str(text)
    return compare(model, inputs, found, results)


def compare(model, inputs, found, results):
    """The worst of the outputs' classes. An output on which the judges differ is as good as not there."""
    classes = [compare_output(model, inputs, place, value, results) for place, value in enumerate(found)]
    return min(classes, key=lambda each: RANKS.index(each[0]))


def compare_output(model, inputs, place, found, results):
    rtol, wanted = judges.tolerance(model), [result[place] for result in results.values()]
    texts = [judges.value_difference(found, each, 2 * rtol) for each in wanted]
    differ = len(wanted) == 2 and judges.value_difference(*wanted, rtol)
    text = f"output {place} {texts[0]} ({', '.join(results)})"
    if not all(texts) or differ and not judges.value_difference(found, judges.nearer(found, *wanted), 2 * rtol):
        return ("judges differ", text) if differ else ("agree", "")
    if not is_stable(model, inputs, found, wanted[0], place, 2 * rtol):
        return "not stable", text
    return "differs from both" if differ else "wrong" if len(wanted) == 2 else "wrong for the only judge", text


def read_faults():
    """{operator: (first opset, last opset, what)} of judge-faults.txt."""
    with open(os.path.join(FOLDER, "judge-faults.txt"), encoding="utf-8") as file:
        lines = [line.split(None, 2) for line in file if line.strip() and line[0] != "#"]
    return {name: (*map(int, opsets.split("-")), what.strip()) for name, opsets, what in lines}


def first_line(error):
    return f"{type(error).__name__}: {error}".split("\n")[0][:200]


def write_data(model, inputs, folder):
    """test_data_set_0, so that `kiln verify FOLDER` takes the folder."""
    data = os.path.join(folder, "test_data_set_0")
    os.mkdir(data)
    for place, value in enumerate(each for each in model.graph.input if each.name in inputs):
        given = inputs[value.name]
        proto = onnx.numpy_helper.from_list(given, value.name) if isinstance(given, list) else \
            onnx.numpy_helper.from_array(given, value.name)
        with open(os.path.join(data, f"input_{place}.pb"), "wb") as file:
            file.write(proto.SerializeToString())
