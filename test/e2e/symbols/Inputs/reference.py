"""Shared by this folder's scripts: their first arguments, PROGRAM GRAPH FOLDER, and a few lines of arithmetic to judge by."""

import json
import math
import pathlib
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
