#!/usr/bin/env python3
"""generate.py KILN [--seed S] [--count N] [--jobs J] [--keep FOLDER] [--only OP,OP] [-- OPTION...]: random ONNX
models against two judges.

Each model has a seed of its own; `--seed S --count 1` makes it again. Exit status 1 if there is a find. README.md says what the
classes are.
"""

import argparse
import collections
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

import environment

environment.enter()
import compiler
import families
from verdict import FINDS, LOST, one, read_faults

PATIENCE = 3 * compiler.PATIENCE


def work(arguments, seed, pipe):
    """One seed, in a process of its own, which a judge may end."""
    keep = os.path.join(arguments.keep, str(seed)) if arguments.keep else None
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with tempfile.TemporaryDirectory(prefix="kiln-random-") as folder:
        try:
            kind, text = one(arguments, seed, folder)
        except Exception:  # a fault of the generator's own, which must not pass for a judge's crash
            kind, text = "not generated", " ".join(traceback.format_exc().splitlines()[-3:])
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
        ready = multiprocessing.connection.wait(list(running), 1)
        for pipe in [*ready, *(pipe for pipe in running if pipe not in ready and time.monotonic() > running[pipe][2])]:
            process, seed, _ = running.pop(pipe)
            try:
                kind, text = pipe.recv() if pipe.poll() else ("not judged", "it took too long")
            except EOFError:
                process.join()
                kind, text = "not judged", "a judge took too long" if process.exitcode == -signal.SIGPROF else "a judge crashed"
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
    given = [*sys.argv[1:], "--"]
    arguments = parser.parse_args(given[: given.index("--")])
    arguments.options = given[given.index("--") + 1 : -1]
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
