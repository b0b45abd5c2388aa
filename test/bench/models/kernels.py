"""Each kernel of a program compared with the machine: which limit is nearest, and how much of it is reached.

A kernel cannot be faster than its operations at the rate of multiply-adds, nor than its bytes at the bandwidth of the
smallest level of memory that holds them. Operations and bytes are those of `kiln compile --stats`, times those of DEBUG=2.
Data that is read twice counts once, so a kernel whose cache does not hold it for the second time shows as slow, not as
limited.

And compared with the schedule's expectation by the device's rates: where they differ most, one of them is wrong.
"""

import collections
import json
import math
import os
import re
import statistics
import subprocess

import table

LAUNCH = re.compile(r"^\*\*\* \S+ +\d+ (\S+) +arg .*? tm +([0-9.]+)(us|ms)/.*?\)(?: (\[.*\]))?$", re.M)
STATS = re.compile(r"^(\S+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)  \[", re.M)
HERE = os.path.dirname(os.path.abspath(__file__))

Kernel = collections.namedtuple("Kernel", "name launches seconds operations others bytes expected origin")


def build_limits(folder):
    program = os.path.join(folder, "limits")
    flags = ["-O2", "-march=native", "-ffp-contract=fast", "-pthread", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [os.environ.get("CC", "clang-22"), *flags, os.path.join(HERE, "limits.c"), "-o", program], check=True
    )
    return program


def measure_limits(folder, counts):
    """{threads: what limits.c says}"""
    said = subprocess.run([build_limits(folder), *map(str, counts)], check=True, capture_output=True, text=True).stdout
    return {str(limits["threads"]): limits for limits in map(json.loads, said.splitlines())}


def best(known, measured):
    """The higher of what two measurements say: of a limit on a busy machine, the one that is nearer."""
    if isinstance(measured, dict):
        return {key: best(known.get(key), value) if known else value for key, value in measured.items()}
    if isinstance(measured, list):
        return [best(*pair) for pair in zip(known, measured)]
    return max(known, measured)


def parse_stats(text):
    """{kernel: (operations of the model, all others, bytes, seconds that are expected)} of `kiln compile --stats`."""
    return {
        name: (1000 * float(operations), 1000 * float(others), 1000 * float(size), 1e-6 * float(expected))
        for name, operations, others, size, expected in STATS.findall(text)
    }


def parse_launches(log, stats, runs):
    """The kernels out of DEBUG=2's lines of `runs` runs, the one that takes most first; its seconds are a launch's."""
    found = {}
    for name, value, unit, origin in LAUNCH.findall(log):
        seconds = float(value) * (1e-3 if unit == "ms" else 1e-6)
        found.setdefault((name, origin), []).append(seconds)
    kernels = [
        Kernel(name, len(times) / runs, statistics.median(times), *stats.get(name, (0, 0, 0, 0)), origin)._asdict()
        for (name, origin), times in found.items()
    ]
    return sorted(kernels, key=lambda kernel: -kernel["launches"] * kernel["seconds"])


def level_of(size, limits):
    """The smallest level that holds so many bytes; each thread has the second cache to itself."""
    for level in limits["levels"]:
        holds = level["holds"] * (limits["threads"] if level["name"] == "L2" else 1)
        if not holds or size <= holds:
            return level


def limit(kernel, limits):
    """(the least seconds that a launch can take, what says so)"""
    level = level_of(kernel["bytes"], limits)
    moving = kernel["bytes"] / (1e9 * max(level["read"], level["copy"]))
    computing = kernel["operations"] / (1e9 * limits["gflops"])
    return (computing, "FMA") if computing > moving else (moving, level["name"])


def place(kernels, limits):
    """The kernels of a model with their part of its time and how much of their limits they reach."""
    total = sum(kernel["launches"] * kernel["seconds"] for kernel in kernels) or 1
    placed = []
    for kernel in kernels:
        least, what = limit(kernel, limits)
        share = kernel["launches"] * kernel["seconds"] / total
        placed.append({**kernel, "share": share, "limit": what, "reached": least / (kernel["seconds"] or 1)})
    return placed


def row(kernel):
    seconds, rate = kernel["seconds"], 1e-9 / (kernel["seconds"] or 1)
    origin = re.sub(r"[\[\]']", "", kernel["origin"])
    return [
        f"`{kernel['name']}`",
        f"{kernel['launches']:g}",
        f"{100 * kernel['share']:.0f} %",
        f"{seconds * 1e6:.0f}",
        f"{kernel['operations'] * rate:.1f}",
        f"{kernel['bytes'] * rate:.1f}",
        f"{100 * kernel['reached']:.0f} % of {kernel['limit']}",
        origin if len(origin) <= 60 else origin[:60].rsplit(",", 1)[0] + " …",
    ]


SHOWN = 10  # kernels of a model
HEADS = ["kernel", "launches", "of the run", "µs", "GFLOP/s", "GB/s", "reaches", "from"]
LIMIT_HEADS = ["threads", "FMA, GFLOP/s", *(f"{name} read / copy, GB/s" for name in ("L2", "L3", "DRAM"))]


def limit_rows(limits):
    for count, measured in sorted(limits.items(), key=lambda pair: int(pair[0])):
        levels = [f"{level['read']:.0f} / {level['copy']:.0f}" for level in measured["levels"]]
        yield [count, f"{measured['gflops']:.0f}", *levels]


def file_name(model):
    return re.sub(r"[^a-z0-9]+", "-", f"{model['model']} {model['threads']}")


def page(result):
    about, limits = result["about"], result["limits"]
    yield f"# Kernels compared with the machine's limits: {about['machine']}"
    yield ""
    yield f"kiln {about['kiln']} on {about['cpu']}. The limits were measured in the same run as each model; the"
    yield "best counts. A kernel's limit is the longer of two times: its operations' at the rate of multiply-adds, and"
    yield "its bytes' at the bandwidth of the smallest level of memory that holds them. Times are the clock's: on a"
    yield "machine with more to do than it has cores, kernels of many milliseconds waited for others in between."
    yield f"Load average when it began: {about['load']:.0f}."
    yield ""
    yield from table.lines(LIMIT_HEADS, limit_rows(limits))
    for model in result["kernels"]:
        kernels = place(model["kernels"], limits[str(model["threads"])])
        ideal = sum(kernel["reached"] * kernel["share"] for kernel in kernels)
        yield ""
        yield f"## {model['model']}, {table.threads(model['threads'])}"
        yield ""
        yield f"At its limits the model would take {100 * ideal:.0f} % of its time. The longest kernels:"
        yield ""
        yield f"![{model['model']}]({about['machine']}-kernels/{file_name(model)}.svg)"
        yield ""
        yield from table.lines(HEADS, map(row, kernels[:SHOWN]))


def disagreement(kernel):
    """How many times as long as expected a kernel takes, or the other way round."""
    return math.exp(abs(math.log(kernel["seconds"] / kernel["expected"])))


def expected_page(result):
    """Every kernel that runs on one thread, as the schedule's rates are a core's; the worst expectation first."""
    about = result["about"]
    found = [
        (model["model"], kernel)
        for model in result["kernels"]
        for kernel in model["kernels"]
        if model["threads"] == 1 and kernel.get("expected") and kernel["seconds"]
    ]
    found.sort(key=lambda pair: -disagreement(pair[1]))
    yield f"# Kernels compared with their expected times: {about['machine']}"
    yield ""
    yield f"kiln {about['kiln']} on {about['cpu']}, one thread. Expected is what the schedule's rates say of the model's"
    yield "operations and bytes; others are index and mask arithmetic, and what is computed again."
    yield ""
    heads = ["model", "kernel", "launches", "expected, µs", "took, µs", "took / expected", "GFLOP/s", "others / operations"]
    rows = (
        [
            model,
            f"`{kernel['name']}`",
            f"{kernel['launches']:g}",
            f"{kernel['expected'] * 1e6:.1f}",
            f"{kernel['seconds'] * 1e6:.1f}",
            f"{kernel['seconds'] / kernel['expected']:.2f}",
            f"{kernel['operations'] / kernel['seconds'] * 1e-9:.1f}",
            f"{kernel['others'] / kernel['operations']:.2f}" if kernel["operations"] else "–",
        ]
        for model, kernel in found
    )
    yield from table.lines(heads, rows)
