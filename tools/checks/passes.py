"""Checks the form in which passes explain themselves: a head with four labels, a small input and output, and a test of their
name."""

import os
import re

LABELS = ("Stage:", "Expects:", "Guarantees:", "Position:")
DEFINITION = re.compile(r"^def (\w+) : Pass<.*?^}", re.M | re.S)
BETWEEN_STAGES = {"VerifyStage"}  # runs at the end of each stage, so it belongs to none


def labels(text):
    """The labels that lines of a file's head begin with."""
    head = text.split("#include")[0].splitlines()
    return [label for label in LABELS if any(line.startswith(f"// {label} ") for line in head)]


def test_names(name):
    """The files of test/lit that may test a pass: fold-movement.mlir, or .test, for FoldMovement."""
    dashed = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
    return [f"{dashed}.mlir", f"{dashed}.test"]


def check(root, table, files):
    """Returns the problems, one line each; `table` is the path of the passes' definitions, `files` where they may be."""
    problems = []
    with open(os.path.join(root, table), encoding="utf-8") as source:
        definitions = list(DEFINITION.finditer(source.read()))
    for definition in definitions:
        name = definition[1]
        if not re.search(r"let description = \[\{\s*\S.*\n\s*⇒ \S", definition[0]):
            problems.append(f"{table}: {name} has no description of two lines, BEFORE and ⇒ AFTER")
        if not any(file.startswith("test/lit/") and os.path.basename(file) in test_names(name) for file in files):
            problems.append(f"{table}: {name} has no test of its name in test/lit")
        own = [file for file in files if os.path.basename(file) == f"{name}.cpp" and file.startswith("passes/")]
        if len(own) != 1:
            problems.append(f"{table}: {name} is not in just one file passes/*/{name}.cpp")
            continue
        with open(os.path.join(root, own[0]), encoding="utf-8") as source:
            found = labels(source.read())
        if missing := [label for label in LABELS if label not in found and name not in BETWEEN_STAGES]:
            problems.append(f"{own[0]}: no line of its head begins with {', '.join(missing)}")
    return problems if definitions else [f"{table}: no pass is defined there"]
