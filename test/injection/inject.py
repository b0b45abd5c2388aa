#!/usr/bin/env python3
"""inject.py KILN FAIL SAMPLES [--every N | --one-in N | --sample N | --stacks] [--seed N] [--only KIND] [--jobs N] [--seconds N]
[--results FILE]: the command when the machine fails it.

It is run again and again: its first allocation fails, its second and so on; its first call that has to do with a file, and so
on; and it is killed, and told to end, at each link and rename. Each time it succeeds, with the right files, or says in one line
what failed. Old files are whole, or all of them are replaced. Nothing else is left, except by a kill, which leaves a folder of
compile's and one file of run's. FAIL is the library that fails it.

--every N tries each N-th call alone. Without it the hundreds of thousands of allocations are tried in steps that make some 80 of
them, which takes half a minute. --one-in N tries that part of these. --sample N tries N allocations, drawn by the seed over all
commands, and every call of the other kinds. --stacks tries one allocation of each chain of calls that asks for memory (70,000);
the seed says which and in which order, and the last line says how many there were for each. --only leaves out the kinds but one.
--jobs N runs N commands at a time, each on one core. After --seconds N no further one is begun, and the last line says how many
were left. --results FILE appends a line of JSON for each, and leaves out those that have one there already."""

import argparse
import concurrent.futures
import ctypes
import glob
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("kiln", type=os.path.abspath)
parser.add_argument("fail", type=os.path.abspath)
parser.add_argument("samples", type=os.path.abspath)
parser.add_argument("--every", type=int)
parser.add_argument("--one-in", type=int, default=1)
parser.add_argument("--sample", type=int)
parser.add_argument("--stacks", action="store_true")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--seconds", type=float, default=float("inf"))
parser.add_argument("--only", choices=("memory", "files", "kill", "signal"))
parser.add_argument("--results", type=os.path.abspath)
options = parser.parse_args()

MNIST = os.path.join(options.samples, "mnist", "model.onnx")
BATCH = os.path.join(options.samples, "batch", "graph.json")
# A command, the files that it makes, and into how many parts the default divides each kind of call.
COMMANDS = [
    (["compile", MNIST, "--mcpu", "x86-64-v3", "--emit", "obj", "-o", "net.o", "--weights", "net.weights"],
     ["net.o", "net.h", "net.weights"], {"memory": 40, "files": 200, "kill": 10, "signal": 10}),
    (["compile", BATCH, "--mcpu", "x86-64-v3", "-o", "batch"], ["batch"], {"memory": 20, "files": 20, "kill": 10, "signal": 10}),
    (["run", BATCH, "--random", "--output-dir", "out"], ["out/output_0.npy"], {"memory": 20, "files": 20, "kill": 10, "signal": 10}),
]
# Where MLIR takes memory and does not look whether it got any, by a function that the list of calls then shows: tables of
# interfaces, operations and their operands. Such a crash must leave things as an error does.
UNCHECKED = ("getOrLoadDialect", "mlir::Operation::create", "OperandStorage::resize")
KINDS = ("memory", "files", "kill", "signal")
# What glibc ends a process with that has no memory for the list of what a thread destroys at its end.
UNCHECKED_BY_GLIBC = "Fatal glibc error: failed to register TLS destructor: out of memory"
OLD = b"/* what was there, made by kiln. */\n"


class Wrong(Exception):
    pass


def execute(command, folder, files, failure, **more):
    """Runs the command in `folder`, where `files` are old. Its status and what it said."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in files:
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(OLD)
    environment = dict(os.environ, LD_PRELOAD=options.fail, KILN_FAIL=failure, TMPDIR=folder, **more)
    done = subprocess.run([options.kiln, *command], cwd=folder, env=environment, capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode(errors="replace")


def read(folder, files):
    contents = []
    for name in files:
        with open(os.path.join(folder, name), "rb") as file:
            contents.append(file.read())
    return contents


def judge(folder, files, kind, is_lasting, writes_folders, status, said, old, new):
    found = read(folder, files)
    if any(have not in (before, after) for have, before, after in zip(found, old, new)):
        raise Wrong("a file is neither what it was nor what it should become")
    if kind == "kill":
        if status not in (-9, 0):
            raise Wrong(f"ended with {status}")
        # A run's outputs have no names until they are whole, and one after the other gets one of its own just before it replaces another.
        left = glob.glob(os.path.join(folder, "**", "kiln-tmp-*"), recursive=True)
        if not writes_folders and (len(left) > 1 or any(map(os.path.isdir, left))):
            raise Wrong(f"it left {left}")
        return
    if status == 0 and found != new:
        raise Wrong("it says that it succeeded, and has not")
    is_unchecked = kind == "memory" and (status == -11 and any(name in said for name in UNCHECKED) or
                                         status == -6 and said.startswith(UNCHECKED_BY_GLIBC))
    if status not in (0, -15 if kind == "signal" else 1) and not is_unchecked:
        raise Wrong(f"ended with {status}")
    # Where no rename succeeds from some time on, those before cannot be taken back either.
    if status != 0 and found not in (old, new) and not is_lasting:
        raise Wrong("some files are new and some are not")
    if status == 1 and not is_unchecked and not (said.startswith("kiln: ") and said.count("\n") == 1 and said.endswith("\n")):
        raise Wrong("its error is not one line")
    left = [path for path in glob.glob(os.path.join(folder, "**"), recursive=True)
            if os.path.isfile(path) and os.path.relpath(path, folder) not in files]
    left += glob.glob(os.path.join(folder, "kiln-tmp-*"))
    if left:
        raise Wrong(f"it left {left}")


def take_stacks(path):
    """The stacks that FAIL wrote to the file, which goes away."""
    try:
        with open(path, encoding="ascii") as file:
            stacks = file.read().split()
        os.remove(path)
    except FileNotFoundError:
        return []
    return stacks


def measure(command, folder, files):
    """What the command makes, how many calls of each kind it does, and the stack of each allocation."""
    counts_file, stacks_file = folder + ".counts", folder + ".stacks"
    more = {"KILN_FAIL_STACKS": stacks_file} if options.stacks else {}
    status, said = execute(command, folder, files, "", KILN_FAIL_COUNTS=counts_file, **more)
    assert status == 0 and not said, (status, said)
    with open(counts_file, encoding="ascii") as file:
        counts = {kind: int(count) for kind, count in (line.split() for line in file)}
    os.remove(counts_file)
    assert all(counts[kind] > 0 for kind in KINDS), (command, counts)
    stacks = take_stacks(stacks_file)
    assert len(stacks) == (counts["memory"] if options.stacks else 0), (len(stacks), counts)
    return read(folder, files), counts, stacks


def moments(counts, stacks):
    """Which calls are tried, as tuples of command, kind, number, from 1, and the stack of an allocation where stacks are asked for.
    `counts` says of each command how many of each kind there are, `stacks` has a stack for each of its allocations."""
    chance = random.Random(options.seed)
    if options.sample is None and not options.stacks:
        # The first allocations are those of a thread that begins.
        return [(command, kind, at, "") for command, (calls, (_, _, parts)) in enumerate(zip(counts, COMMANDS))
                for kind, count in calls.items()
                for at in sorted({1, 2, 3, *range(1, count + 1, options.every or max(1, count // parts[kind]) * options.one_in)}) if at <= count]
    drawn = [(command, "memory", at, stacks[command][at - 1] if options.stacks else "")
             for command, calls in enumerate(counts) for at in range(1, calls["memory"] + 1)]
    chance.shuffle(drawn)
    if options.stacks:
        every = len(drawn)
        drawn = list({moment[3]: moment for moment in drawn}.values())
        print(f"{every} allocations of {len(drawn)} stacks", flush=True)
    else:
        drawn = drawn[:options.sample]
    return [(command, kind, at, "") for command, calls in enumerate(counts) for kind in KINDS[1:]
            for at in range(1, calls[kind] + 1)] + drawn


def attempt(moment, measured, folder):
    """Fails the command at one moment. What is to be told of that: "wrong" says what was handled wrongly, "" if nothing, and "failed"
    which stack had no memory."""
    command, kind, at, lasting, stack = moment
    arguments, files, _ = COMMANDS[command]
    new, counts, _ = measured[command]
    result = {"command": command, "failure": f"{kind}:{at}{lasting}" + (f"@{stack}" if stack else ""), "stack": stack, "status": None, "said": "", "wrong": ""}
    more = {"KILN_FAIL_STACKS": folder + ".stacks"} if stack else {}
    try:
        result["status"], result["said"] = execute(arguments, folder, files, result["failure"], **more)
        judge(folder, files, kind, bool(lasting), arguments[0] == "compile", result["status"], result["said"], [OLD] * len(files), new)
    except (Wrong, OSError, subprocess.TimeoutExpired) as error:
        result["wrong"] = f"KILN_FAIL={result['failure']} of {counts[kind]}: kiln {' '.join(arguments)}: {error}"
    if stack:
        result["failed"] = "".join(take_stacks(folder + ".stacks")[:1])
    return result


def earlier_results():
    if not options.results or not os.path.exists(options.results):
        return []
    with open(options.results, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    # Where memory lies must not change from run to run: the N-th allocation is then the same one.
    ctypes.CDLL(None).personality(0x0040000)  # ADDR_NO_RANDOMIZE
    end = time.monotonic() + options.seconds
    wrong = left = 0
    tried = dict.fromkeys(KINDS, 0)
    results = earlier_results()
    failed = {result.get("failed") for result in results}
    done = {(result["command"], result["failure"]) for result in results if not result["stack"]}
    core = itertools.count()

    def take_core():
        """Keeps this thread, and what it runs, on one core: the fewer threads a command begins, the more often its N-th allocation is
        the same one."""
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[next(core) % len(cores)]})

    with tempfile.TemporaryDirectory() as scratch:
        def folder():
            """The thread's own. The names are equally long, so that memory for them is where it is in other runs."""
            return os.path.join(scratch, f"work{threading.get_ident():020}")

        with concurrent.futures.ThreadPoolExecutor(1, initializer=take_core) as pool:
            measured = list(pool.map(lambda each: measure(each[0], folder(), each[1]), COMMANDS))
        chosen = [(command, kind, at, lasting, stack)
                  for command, kind, at, stack in moments([counts for _, counts, _ in measured], [stacks for _, _, stacks in measured])
                  if options.only in (None, kind) for lasting in (("", "+") if kind == "files" else ("",))
                  if (stack not in failed if stack else (command, f"{kind}:{at}{lasting}") not in done)]

        def attempt_in_time(moment):
            return attempt(moment, measured, folder()) if time.monotonic() < end else None

        with (concurrent.futures.ThreadPoolExecutor(options.jobs, initializer=take_core) as pool,
              open(options.results or os.devnull, "a", encoding="utf-8") as written):
            for moment, result in zip(chosen, pool.map(attempt_in_time, chosen)):
                if result is None:
                    left += 1
                    continue
                tried[moment[1]] += 1
                failed.add(result.get("failed"))
                print(json.dumps(result), file=written, flush=True)
                if result["wrong"]:
                    wrong += 1
                    print(f"{result['wrong']}\n    {result['said'].strip()}", flush=True)
    each = ", ".join(f"{count} of {kind}" for kind, count in tried.items())
    print(f"{sum(tried.values())} failures ({each}), {wrong} handled wrongly" + (f", {left} left" if left else ""))
    if options.stacks:
        asked = set().union(*(stacks for _, _, stacks in measured))
        print(f"{len(failed & asked)} of {len(asked)} stacks had no memory")
    return wrong > 0


sys.exit(main())
