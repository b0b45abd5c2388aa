"""Runs one program of samples/cache with the sizes given, and checks it: PROGRAM GRAPH FOLDER BATCH,SEQ,PAST..."""

import json
import math
import pathlib
import subprocess
import sys

import npy

program, graph, folder = map(pathlib.Path, sys.argv[1:4])
weights = {weight["name"]: weight["value"] for weight in json.loads(graph.read_text())["weights"]}
folder.mkdir(parents=True, exist_ok=True)


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def softmax(row):
    powers = [math.exp(x - max(row)) for x in row]
    return [power / sum(powers) for power in powers]


def number(seed):
    return round(math.sin(12.9898 * seed + 1.0), 2)


def flat(rows):
    return [x for row in rows for x in row]


def check(what, index, shape, wanted):
    got_shape, got = npy.read(folder / f"output_{index}.npy")
    assert got_shape == shape, f"{what}: output {index} has shape {got_shape}, not {shape}"
    for place, (x, y) in enumerate(zip(got, wanted)):
        assert abs(x - y) <= 1e-5 + 1e-4 * abs(y), f"{what}: output {index}[{place}] is {x}, not {y}"
    print(f"{what}: output {index} {shape} is right")


for sizes in sys.argv[4:]:
    batch, seq, past = map(int, sizes.split(","))

    def tensor(rows, seed):
        return [[[number(seed + 8 * (rows * n + i) + j) for j in range(8)] for i in range(rows)] for n in range(batch)]

    x, old_keys, old_values = tensor(seq, 0), tensor(past, 1000), tensor(past, 2000)
    for name, rows, value in (("x", seq, x), ("past_keys", past, old_keys), ("past_values", past, old_values)):
        npy.write(folder / f"{name}.npy", [batch, rows, 8], flat(flat(value)))
    inputs = [item for name in ("past_keys", "past_values") for item in ("--input", f"{name}={folder}/{name}.npy")]
    subprocess.run([program, folder / "x.npy", *inputs, "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
    keys = [old + product(new, weights["wk"]) for old, new in zip(old_keys, x)]
    values = [old + product(new, weights["wv"]) for old, new in zip(old_values, x)]
    results = []
    for n in range(batch):
        for i, query in enumerate(product(x[n], weights["wq"])):
            seen = past + i + 1  # itself and all before it
            scores = product([query], list(zip(*keys[n][:seen])))[0]
            results += product([softmax([score / math.sqrt(8) for score in scores])], values[n][:seen])
    check(sizes, 0, [batch, seq, 8], flat(results))
    check(sizes, 1, [batch, past + seq, 8], flat(flat(keys)))
    check(sizes, 2, [batch, past + seq, 8], flat(flat(values)))
