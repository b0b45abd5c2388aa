#!/usr/bin/env python3
"""inject.py KILN FAIL SAMPLES [--every N | --sample N [--seed N]] [--only KIND]: what the command does when the machine
fails it. It is run again and again: its first allocation fails, its second and so on; its first call that has to do with a file, and
so on; and it is killed at each rename. Each time it succeeds, with the right files, or says in one line what failed; what was there is
there whole, or all of the new; nothing else is left, but by a kill. FAIL is the library that fails it. --every N tries each N-th call alone;
without it the allocations, of which there are a hundred thousand, are tried in steps that make some 80 of them, which takes half a
minute. --sample N tries N allocations, drawn by the seed over all commands, and every call of the other kinds. --only leaves out
the kinds but one."""

import argparse
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("kiln")
parser.add_argument("fail")
parser.add_argument("samples")
parser.add_argument("--every", type=int)
parser.add_argument("--sample", type=int)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--only", choices=("memory", "files", "kill"))
options = parser.parse_args()

MNIST = os.path.join(options.samples, "mnist", "model.onnx")
BATCH = os.path.join(options.samples, "batch", "graph.json")
# A command, the files that it makes, and into how many parts the default divides each kind of call.
COMMANDS = [
    (["compile", MNIST, "--mcpu", "x86-64-v3", "--emit", "obj", "-o", "net.o", "--weights", "net.weights"],
     ["net.o", "net.h", "net.weights"], {"memory": 40, "files": 200, "kill": 10}),
    (["compile", BATCH, "--mcpu", "x86-64-v3", "-o", "batch"], ["batch"], {"memory": 20, "files": 20, "kill": 10}),
    (["run", BATCH, "--random", "--output-dir", "out"], ["out/output_0.npy"], {"memory": 20, "files": 20, "kill": 10}),
]
# Where MLIR takes memory and does not look whether it got any, by a function that the list of calls then shows: tables of
# interfaces, operations and their operands. Such a crash must leave things as an error does.
UNCHECKED = ("getOrLoadDialect", "mlir::Operation::create", "OperandStorage::resize")
OLD = b"/* what was there, made by kiln. */\n"


class Wrong(Exception):
    pass


def execute(command, folder, files, failure, counts=None):
    """Runs the command in `folder`, where `files` are old. Its status and what it said."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in files:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(OLD)
    environment = dict(os.environ, LD_PRELOAD=options.fail, KILN_FAIL=failure, TMPDIR=folder)
    if counts:
        environment["KILN_FAIL_COUNTS"] = counts
    done = subprocess.run([options.kiln, *command], cwd=folder, env=environment, capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode(errors="replace")


def read(folder, files):
    contents = []
    for name in files:
        with open(os.path.join(folder, name), "rb") as file:
            contents.append(file.read())
    return contents


def judge(folder, files, kind, is_lasting, status, said, old, new):
    found = read(folder, files)
    if any(have not in (before, after) for have, before, after in zip(found, old, new)):
        raise Wrong("a file is neither what it was nor what it should become")
    if kind == "kill":
        if status not in (-9, 0):
            raise Wrong(f"ended with {status}")
        return
    if status == 0 and found != new:
        raise Wrong("it says that it succeeded, and has not")
    is_unchecked = kind == "memory" and status == -11 and any(name in said for name in UNCHECKED)
    if status not in (0, 1) and not is_unchecked:
        raise Wrong(f"ended with {status}")
    # Where no rename succeeds from some time on, those before cannot be taken back either.
    if status != 0 and found not in (old, new) and not is_lasting:
        raise Wrong("some files are new and some are not")
    if status == 1 and not (said.startswith("kiln: ") and said.count("\n") == 1 and said.endswith("\n")):
        raise Wrong("its error is not one line")
    left = [path for path in glob.glob(os.path.join(folder, "**"), recursive=True)
            if os.path.isfile(path) and os.path.relpath(path, folder) not in files]
    left += glob.glob(os.path.join(folder, "kiln-tmp-*"))
    if left:
        raise Wrong(f"it left {left}")


def moments(counts):
    """Which calls are tried: [command][kind] -> their numbers, from 1. `counts` says of each command how many of each kind there are."""
    if options.sample is None:
        return [{kind: range(1, count + 1, options.every or max(1, count // parts[kind])) for kind, count in calls.items()}
                for calls, (_, _, parts) in zip(counts, COMMANDS)]
    allocations = [(command, at) for command, calls in enumerate(counts) for at in range(1, calls["memory"] + 1)]
    drawn = random.Random(options.seed).sample(allocations, min(options.sample, len(allocations)))
    return [{kind: [at for of, at in drawn if of == command] if kind == "memory" else range(1, count + 1)
             for kind, count in calls.items()} for command, calls in enumerate(counts)]


def main():
    wrong = 0
    tried = {"memory": 0, "files": 0, "kill": 0}
    with tempfile.TemporaryDirectory() as scratch:
        folder, counts_file = os.path.join(scratch, "work"), os.path.join(scratch, "counts")
        counts, wanted = [], []
        for command, files, _ in COMMANDS:
            status, said = execute(command, folder, files, "", counts_file)
            assert status == 0 and not said, (status, said)
            wanted.append(read(folder, files))
            with open(counts_file, encoding="ascii") as file:
                counts.append({kind: int(count) for kind, count in (line.split() for line in file)})
            os.remove(counts_file)
            assert all(counts[-1][kind] > 0 for kind in tried), (command, counts[-1])
        for (command, files, _), new, calls, chosen in zip(COMMANDS, wanted, counts, moments(counts)):
            for kind, at, lasting in [(kind, at, lasting) for kind in tried if options.only in (None, kind) for at in chosen[kind]
                                      for lasting in (("", "+") if kind == "files" else ("",))]:
                failure = f"{kind}:{at}{lasting}"
                said = ""
                try:
                    status, said = execute(command, folder, files, failure)
                    judge(folder, files, kind, bool(lasting), status, said, [OLD] * len(files), new)
                except (Wrong, OSError, subprocess.TimeoutExpired) as error:
                    wrong += 1
                    print(f"KILN_FAIL={failure} of {calls[kind]}: kiln {' '.join(command)}: {error}\n    {said.strip()}", flush=True)
                tried[kind] += 1
    each = ", ".join(f"{count} of {kind}" for kind, count in tried.items())
    print(f"{sum(tried.values())} failures ({each}), {wrong} handled wrongly")
    return wrong > 0


sys.exit(main())
