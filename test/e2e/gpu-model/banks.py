#!/usr/bin/env python3
"""banks.py KILN FOLDER: what kiln chooses for cuda makes no two words of an access meet in a bank of local memory.

Kernels of every kind that uses local memory are made for cuda, and the interpreter runs their uops and counts turns."""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "cuda"))
from graphs import graph, unary

TURNS = re.compile(r"^(\S+ \S+): reads take (\d+) turns, (\d+) without conflicts of banks, writes (\d+), (\d+)$", re.M)
kiln, folder = sys.argv[1:]


def product(rows, terms, columns, dtype="float32", turned=False):
    b = {"op": "permute", "inputs": ["b"], "order": [1, 0], "output": "t"}
    multiply = {"op": "matmul", "inputs": ["a", "t" if turned else "b"], "output": "y"}
    of_b = [columns, terms] if turned else [terms, columns]
    return graph([("a", dtype, [rows, terms]), ("b", dtype, of_b)], [*([b] if turned else []), multiply], ["y"])


def cases():
    yield "rows", unary([3, 4097], "sum", axes=[1])
    yield "columns", unary([300, 33], "max", axes=[0])
    yield "middle", unary([2, 300, 48], "sum", axes=[1])
    yield "bytes", unary([5, 8192], "max", "int8", axes=[1])
    yield "wide", unary([5, 2048], "sum", "float64", axes=[1])
    yield "held in registers", unary([5, 1024], "softmax", "bfloat16", axis=1)
    yield "held in local memory", unary([2, 6001], "layernorm", axes=[1])
    yield "parts of a product", product(64, 128, 40)
    yield "small tiles", product(50, 37, 45)
    yield "tiles with runs", product(1280, 16, 1280)
    yield "tiles with uneven columns", product(1280, 16, 1180)
    yield "tiles of a transposed operand", product(1180, 16, 1300, turned=True)
    yield "tiles of bfloat16", product(1280, 16, 1280, "bfloat16")


wrong = 0
for name, document in cases():
    model, lowered = os.path.join(folder, "model.json"), os.path.join(folder, "lowered.mlir")
    with open(model, "w", encoding="utf-8") as file:
        json.dump(document, file)
    command = [kiln, "compile", model, "--device", "cuda", "--mcpu", "x86-64-v3", "--emit", "lower", "-o", lowered]
    subprocess.run(command, check=True)
    with open(lowered, encoding="utf-8") as file:
        text = file.read()
    with open(lowered, "w", encoding="utf-8") as file:
        file.write(text.replace('device = "cuda"', 'device = "interp"'))
    run = subprocess.run([kiln, "run", lowered, "--device", "interp", "--random"], capture_output=True, text=True,
                         env={**os.environ, "DEBUG": "2"})  # fmt: skip
    found = TURNS.findall(run.stdout + run.stderr)
    conflicts = [memory for memory, reads, least, writes, fewest in found if (reads, writes) != (least, fewest)]
    good = run.returncode == 0 and found and not conflicts
    wrong += not good
    print(f"{name}: {len(found)} local memories, " + (f"conflicts in {conflicts} {run.stderr}" if not good else "none waits"))
sys.exit(1 if wrong else 0)
