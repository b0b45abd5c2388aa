"""Runs one program of samples/cache with the sizes given, and checks it: PROGRAM GRAPH FOLDER BATCH,SEQ,PAST..."""

import math
import subprocess
import sys

import npy
from reference import check, flat, folder, number, product, program, softmax, weights

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
