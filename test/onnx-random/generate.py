#!/usr/bin/env python3
"""generate.py KILN [--seed S] [--count N] [--jobs J] [--keep FOLDER] [--only OP,OP]: random ONNX models against two judges.

Each model has a seed of its own; `--seed S --count 1` makes it again. Exit status 1 if there is a find. README.md says what the
classes are.
"""

import argparse
import collections
import json
import multiprocessing
import os
import random
import re
import shutil
import tempfile
import time

import environment

environment.enter()
import onnx

import compiler
import families
import growth
import judges
import reduction
import schemas

FOLDER = os.path.dirname(os.path.abspath(__file__))
FINDS = ("broken", "wrong", "wrong for the only judge", "differs from both")
RANKS = (*FINDS, "agree", "judges differ")
LOST = ("not made", "not valid", "not judged")
PATIENCE = 3 * compiler.PATIENCE


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
    """The class of the smallest model that shows a find of the class `whole`, and a line on it. If the next smaller one has
    both judges and kiln agrees with one of them, the only judge was wrong."""
    last, seen = os.path.join(folder, "small"), set()

    def is_find(small, feeds):
        shutil.rmtree(last, ignore_errors=True)
        kind = verdict(arguments, small, feeds, last)[0]
        same = kind == whole or whole not in ("broken", "wrong") and kind in FINDS and kind != "broken"
        if same:
            seen.clear()
        seen.add(kind)
        return same

    small, feeds = reduction.smallest(model, inputs, is_find)
    shutil.rmtree(last, ignore_errors=True)
    kind, text = verdict(arguments, small, feeds, last)
    names = [node.op_type for node in small.graph.node if node.op_type != "Constant"]
    if kind in ("wrong for the only judge", "differs from both"):
        if "judges differ" in seen:
            return "judge at fault", "a smaller model shows it"
        for name in names:
            first, newest, fault = arguments.faults.get(name, (1, 0, ""))
            if first <= small.opset_import[0].version <= newest:
                return "judge at fault", f"{name} {fault}"
    return kind, f"{' '.join(names)}: {text}"


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
    rtol, classes = judges.tolerance(model), []
    for place, value in enumerate(found):
        wanted = [result[place] for result in results.values()]
        texts = [judges.value_difference(value, each, 2 * rtol) for each in wanted]
        if len(wanted) == 2 and judges.value_difference(*wanted, rtol):
            classes.append(("differs from both" if all(texts) else "judges differ", f"output {place} {texts[0]}"))
        elif not all(texts):
            classes.append(("agree", ""))
        else:
            kind = "wrong" if len(wanted) == 2 else "wrong for the only judge"
            classes.append((kind, f"output {place} {texts[0]} ({', '.join(results)})"))
    kind, text = min(classes, key=lambda each: RANKS.index(each[0]))
    if kind.startswith(("wrong", "differs")) and not judges.is_stable(model, inputs, judges.JUDGES[next(iter(results))], rtol):
        return "not stable", text
    return kind, text


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


def work(arguments, seed, pipe):
    """One seed, in a process of its own, which a judge may end."""
    keep = os.path.join(arguments.keep, str(seed)) if arguments.keep else None
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with tempfile.TemporaryDirectory(prefix="kiln-random-") as folder:
        kind, text = one(arguments, seed, folder)
        if keep and kind in (*FINDS, *arguments.keep_also):
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(folder, keep)
        pipe.send((kind, text))


def run_all(arguments):
    """(seed, class, line) of each seed, as they end."""
    context, running = multiprocessing.get_context("fork"), {}
    seeds = iter(range(arguments.seed, arguments.seed + arguments.count))
    while True:
        while len(running) < arguments.jobs and (seed := next(seeds, None)) is not None:
            ours, theirs = context.Pipe(False)
            process = context.Process(target=work, args=(arguments, seed, theirs))
            process.start()
            theirs.close()
            running[ours] = (process, seed, time.monotonic() + PATIENCE)
        if not running:
            return
        for pipe in multiprocessing.connection.wait(list(running), 1) or [pipe for pipe in running if time.monotonic() > running[pipe][2]]:
            process, seed, _ = running.pop(pipe)
            try:
                kind, text = pipe.recv() if pipe.poll() else ("not judged", "a judge took too long")
            except EOFError:
                kind, text = "not judged", "a judge crashed"
            process.kill()
            process.join()
            yield seed, kind, text


def kind_of(text):
    """A refusal without its names and numbers, to count it by."""
    text = re.sub(r"^kiln: .*?: (node '.*?' (?=\()|input '.*?': )?", "", text)
    return re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"\[[^]]*\]", "[…]", re.sub(r"'[^']*'", "'…'", text)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("kiln")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the models of finds")
    parser.add_argument("--keep-also", default="", help="other classes to keep, separated by commas")
    parser.add_argument("--only", help="operators to choose from, separated by commas")
    parser.add_argument("--all", action="store_true", help="print a line for each seed")
    parser.add_argument("options", nargs="*", help="options of `kiln run`, after --")
    arguments = parser.parse_args()
    families.load()
    arguments.only = arguments.only and arguments.only.split(",")
    arguments.keep_also = arguments.keep_also.split(",")
    arguments.faults = read_faults()
    counts, refusals, lost = collections.Counter(), collections.Counter(), collections.Counter()
    examples = {}
    for seed, kind, text in run_all(arguments):
        counts[kind] += 1
        if kind in FINDS or arguments.all:
            print(f"seed {seed}: {kind}: {text}", flush=True)
        if kind == "refused":
            refusals[kind_of(text)] += 1
            examples.setdefault(kind_of(text), (seed, text))
        if kind in LOST:
            lost[f"{kind}: {text[:120]}"] += 1
    for text, count in refusals.most_common():
        print(f"refused {count}: seed {examples[text][0]}: {examples[text][1]}")
    for text, count in lost.most_common(5):
        print(f"lost {count}: {text}")
    print(json.dumps(counts, sort_keys=True))
    print(f"{sum(counts[each] for each in LOST)} of {arguments.count} models do not count")
    finds = sum(counts[each] for each in FINDS)
    if finds:
        print(f"{finds} finds; generate.py {arguments.kiln} --count 1 --seed SEED --keep FOLDER makes one again")
    return 1 if finds else 0


if __name__ == "__main__":
    raise SystemExit(main())
