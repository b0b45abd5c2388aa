"""Runs one program of samples/batch with the numbers of rows given, and checks it: PROGRAM GRAPH FOLDER ROWS..."""

import subprocess
import sys

import npy
from reference import check, flat, folder, number, product, program, softmax, weights

for rows in map(int, sys.argv[4:]):
    x = [[number(6 * i + j) for j in range(6)] for i in range(rows)]
    npy.write(folder / "x.npy", [rows, 6], flat(x))
    subprocess.run([program, folder / "x.npy", "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
    hidden = [[max(0, h + b) for h, b in zip(row, weights["b1"])] for row in product(x, weights["w1"])]
    scores = [[s + b for s, b in zip(row, weights["b2"])] for row in product(hidden, weights["w2"])]
    check(f"batch {rows}", 0, [rows, 4], flat(softmax(row) for row in scores))
