"""kiln on a model: what it gives, or how it ends."""

import os
import resource
import subprocess

import numpy

SECONDS, MEMORY = 60, 6 << 30  # of a processor's time, and of addresses
PATIENCE = 5 * SECONDS  # on a busy machine


class Refusal(Exception):
    """One line, as docs/errors.md promises."""


class Broken(Exception):
    """A crash, a time-out, several lines, or an exit status that is not there."""


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def save(path, value):
    """A tensor as a file, a sequence as a folder of files."""
    if isinstance(value, list):
        os.mkdir(path)
        for number, each in enumerate(value):
            save(os.path.join(path, f"{number}.npy"), each)
        return path
    path = path if path.endswith(".npy") else path + ".npy"
    numpy.save(path, value.astype(str) if value.dtype == object else value)
    return path


def load(path, is_sequence):
    if is_sequence:
        return [numpy.load(os.path.join(path, f"{place}.npy")) for place in range(len(os.listdir(path)))]
    return numpy.load(path + ".npy")


def run(kiln, path, inputs, outputs, folder, options=()):
    """The outputs. inputs: arrays and lists of arrays in declared order; outputs: whether each is a sequence."""
    results = os.path.join(folder, "kiln")
    files = [save(os.path.join(folder, f"in{place}"), value) for place, value in enumerate(inputs)]
    command = [kiln, "run", path, *files, "--output-dir", results, "--no-print", "--threads", "1", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        raise Broken("ran out of time") from None
    lines = [line for line in done.stderr.splitlines() if ": warning: " not in line]
    if "no memory is left" in done.stderr:
        raise Broken(f"took more than {MEMORY >> 30} GiB")
    if done.returncode == 1 and len(lines) == 1 and lines[0].startswith("kiln: "):
        raise Refusal(lines[0])
    if done.returncode:
        raise Broken(f"ended with status {done.returncode}: {done.stderr[:300]!r}")
    return [load(os.path.join(results, f"output_{place}"), is_sequence) for place, is_sequence in enumerate(outputs)]
