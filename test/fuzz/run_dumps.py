#!/usr/bin/env python3
"""run_dumps.py FUZZER KILN SOURCE [--runs N] [--seconds N] [--seed N] [--compile]: runs DumpFuzz from what kiln writes of samples
after each stage and from the dumps of the tests, and shows what it found. Without --runs only the time ends it."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("fuzzer")
parser.add_argument("kiln")
parser.add_argument("source")
parser.add_argument("--runs", type=int, default=2**62)
parser.add_argument("--seconds", type=int, default=30)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--compile", action="store_true")
options = parser.parse_args()

STAGES = ("import", "view", "schedule", "optimize", "lower")
SAMPLES = ("dot/graph.json", "batch/graph.json", "cache/graph.json")


def write_dumps(folder):
    for sample in SAMPLES:
        for stage in STAGES:
            name = os.path.join(folder, f"{os.path.dirname(sample)}-{stage}.mlir")
            # The dump holds the model's path, which is to be the same on any machine: what is tried depends on it.
            command = [os.path.abspath(options.kiln), "compile", f"samples/{sample}", "--mcpu", "x86-64-v3", "--emit", stage, "-o", name]
            subprocess.run(command, cwd=options.source, check=True)
    tests = os.path.join(options.source, "test")
    for path in glob.glob(os.path.join(tests, "e2e", "*.mlir")):
        shutil.copy(path, folder)
    shutil.copytree(os.path.join(tests, "fuzz", "corpus", "dumps"), os.path.join(folder, "finds"))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "dumps")
        os.mkdir(folder)
        write_dumps(folder)
        command = [os.path.abspath(options.fuzzer), folder, str(options.seed), str(options.runs), str(options.seconds)]
        done = subprocess.run(command + ["compile"] * options.compile, cwd=scratch, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        print("\n".join(done.stdout.splitlines()[-40:]))
        if done.returncode != 0:
            shutil.copy(os.path.join(scratch, "current.mlir"), "fuzz-find.mlir")
            print(f"status {done.returncode}; kept as {os.path.abspath('fuzz-find.mlir')}; once mended, it belongs into corpus/dumps")
        return done.returncode != 0


sys.exit(main())
