"""random_programs.py KILN NPY [--count N] [--seconds N] [--seed S]

Random graphs from end to end: each becomes C, that C a program under AddressSanitizer and UndefinedBehaviorSanitizer, and
the program's results on random inputs are compared with the graph interpreter's. So each access of each kernel and of the
runtime is checked, which `random_graphs.py` in this folder does not do. Each graph has a seed of its own, printed where it
fails: --seed S --count 1 does that one alone. --seconds N begins no further one after that time.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from random_graphs import Graph

CC = ["clang-22", "-std=c11", "-w", "-O1", "-g", "-fwrapv", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
NPY = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "float16": "<f2", "bfloat16": "<V2", "float32": "<f4", "float64": "<f8",
       **{f"{sign}int{bits}": f"<{sign or 'i'}{bits // 8}" for sign in ("", "u") for bits in (16, 32, 64)}}
LEAST = [1, 2, 5, 8]  # sizes of the dim that a graph leaves open


class Failed(Exception):
    pass


def element(chance, dtype):
    """A number of this dtype, as npy.py takes it: of bfloat16 its bits."""
    if dtype == "bfloat16":
        return str(chance.choice([0, 0x8000]) + 0x3c00 + chance.randrange(0x380))
    return f"{chance.uniform(-1, 1):.6f}" if "float" in dtype else str(chance.randrange(2 if dtype == "bool" else 10))


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-800:]}{done.stderr[-3000:]}")


def attempt(kiln, npy, program, seed, folder):
    chance = random.Random(seed)
    graph = Graph(chance)
    document = graph.document()
    size = chance.choice(LEAST)
    with open(os.path.join(folder, "graph.json"), "w", encoding="utf-8") as file:
        json.dump(document, file)
    inputs = []
    for number, tensor in enumerate(document["inputs"]):
        shape = [size if dim == "n" else dim for dim in tensor["shape"]]
        values = [element(chance, tensor["dtype"]) for _ in range(61)]
        inputs.append(f"input_{number}.npy")
        run([sys.executable, npy, inputs[-1], NPY[tensor["dtype"]], ",".join(map(str, shape)), *values], folder)
    run([kiln, "compile", "graph.json", "--device", "c", "--emit", "source", "--name", "m", "-o", "m.c"], folder)
    run([*CC, "-I.", "m.c", program, "-lm", "-pthread", "-o", "program"], folder)
    run(["./program", *inputs, "--output-dir", "."], folder)
    run([kiln, "verify", ".", "--graph", "--atol", "1e-4"], folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kiln", type=os.path.abspath)
    parser.add_argument("npy", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    failed = done = 0
    with tempfile.TemporaryDirectory() as scratch:
        # All of a program but its model, once.
        runtime = os.path.join(os.path.dirname(given.kiln), "..", "lib", "kiln", "source")
        program = os.path.join(scratch, "program.o")
        run([*CC, "-Dkiln_the_model=m_model", "-c", os.path.join(runtime, "program.c"), "-o", program], scratch)
        for seed in range(given.seed, given.seed + given.count):
            if time.monotonic() > end:
                break
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                try:
                    attempt(given.kiln, given.npy, program, seed, folder)
                except (Failed, subprocess.TimeoutExpired) as error:
                    failed += 1
                    with open(os.path.join(folder, "graph.json"), encoding="utf-8") as file:
                        print(f"seed {seed}: {error}\n{file.read()}", flush=True)
            done += 1
    print(f"{done} programs from seed {given.seed} on: {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
