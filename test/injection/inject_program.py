#!/usr/bin/env python3
"""inject_program.py KILN FAIL NPY: a program that kiln made, when the machine fails it.

Its inputs and outputs are strings and sequences (words.mlir in this folder). Each of its allocations fails alone, and each of
its calls that have to do with files. It says in one line what failed, or succeeds; each file of the results is as it was, right,
or missing, and nothing else is left. It is told to end at each link and rename: then all files get their names before it does.
FAIL is the library that fails it, NPY the script that writes .npy files."""

import os
import shutil
import subprocess
import sys
import tempfile

KILN, FAIL, NPY = (os.path.abspath(path) for path in sys.argv[1:4])
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.mlir")
OUTPUTS = ["output_0/0.npy", "output_0/1.npy", "output_0/2.npy", "output_1.npy"]
OLD = b"what was there"


def write(path, *words):
    subprocess.run([sys.executable, NPY, path, "|S4", str(len(words)), *words], check=True)


def execute(folder, failure, counts=None):
    """Runs the program where one of two results stands already. Its status, what it said, and the files it left."""
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    os.makedirs(os.path.join(folder, "out"))
    with open(os.path.join(folder, "out", "output_1.npy"), "wb") as file:
        file.write(OLD)
    environment = dict(os.environ, LD_PRELOAD=FAIL, KILN_FAIL=failure)
    if counts:
        environment["KILN_FAIL_COUNTS"] = counts
    done = subprocess.run(["./kiln", "s", "x.npy", "--output-dir", "out"], cwd=folder, env=environment, capture_output=True, timeout=60)
    left = {}
    for path, _, names in os.walk(os.path.join(folder, "out")):
        for name in names:
            whole = os.path.join(path, name)
            with open(whole, "rb") as file:
                left[os.path.relpath(whole, os.path.join(folder, "out"))] = file.read()
    return done.returncode, done.stderr.decode(errors="replace"), left


def judge(status, said, left, wanted):
    """The fault, or nothing."""
    if status not in (0, 1):
        return f"ended with {status}"
    if status == 0 and left != wanted:
        return "it says that it succeeded, and has not"
    if status == 1 and not (said.startswith("kiln: ") and said.count("\n") == 1 and said.endswith("\n")):
        return "its error is not one line"
    for name, data in left.items():
        if name not in wanted or data not in (wanted[name], OLD):
            return f"it left {name} of {len(data)} bytes"
    return ""


def traces_left(folder):
    """What is wrong with what a trace leaves in the place of an older one, where SIGTERM comes at a link or rename; of each of these."""
    place = os.path.join(folder, "trace")
    os.mkdir(place)
    for at in range(1, 100):
        with open(os.path.join(place, "trace.json"), "wb") as file:
            file.write(OLD)
        environment = dict(os.environ, LD_PRELOAD=FAIL, KILN_FAIL=f"signal:{at}")
        done = subprocess.run(["./kiln", "s", "x.npy", "--profile=trace/trace.json"], cwd=folder, env=environment, capture_output=True, timeout=60)
        if done.returncode == 0:
            if at == 1:
                yield "no link or rename of a trace came to a signal"
            return
        with open(os.path.join(place, "trace.json"), "rb") as file:
            is_new = file.read() != OLD
        is_right = done.returncode == -15 and is_new and os.listdir(place) == ["trace.json"]
        yield "" if is_right else f"KILN_FAIL=signal:{at} of a trace: ended with {done.returncode} and left {os.listdir(place)}"


def main():
    tried = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        # The library counts in programs of this name alone.
        subprocess.run([KILN, "compile", MODEL, "-o", os.path.join(folder, "kiln")], check=True)
        os.mkdir(os.path.join(folder, "s"))
        write(os.path.join(folder, "s", "0.npy"), "a", "bcd")
        write(os.path.join(folder, "s", "1.npy"), "", "e")
        write(os.path.join(folder, "x.npy"), "f", "gh")
        counts = os.path.join(folder, "counts")
        status, said, wanted = execute(folder, "", counts)
        assert status == 0 and not said and sorted(wanted) == OUTPUTS, (status, said, wanted)
        with open(counts, encoding="ascii") as file:
            calls = {kind: int(count) for kind, count in (line.split() for line in file)}
        assert all(calls[kind] > 0 for kind in ("memory", "files", "signal")), calls
        for kind in ("memory", "files"):
            for at in range(1, calls[kind] + 1):
                for lasting in ("", "+"):
                    failure = f"{kind}:{at}{lasting}"
                    status, said, left = execute(folder, failure)
                    tried += 1
                    if cause := judge(status, said, left, wanted):
                        wrong += 1
                        print(f"KILN_FAIL={failure} of {calls[kind]}: {cause}\n    {said.strip()}")
        for at in range(1, calls["signal"] + 1):
            status, said, left = execute(folder, f"signal:{at}")
            tried += 1
            if status != -15 or left != wanted:
                wrong += 1
                print(f"KILN_FAIL=signal:{at} of {calls['signal']}: ended with {status} and left {sorted(left)}\n    {said.strip()}")
        for cause in traces_left(folder):
            tried += 1
            if cause:
                wrong += 1
                print(cause)
    print(f"{tried} failures, {wrong} handled wrongly")
    return wrong > 0


sys.exit(main())
