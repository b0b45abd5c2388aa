"""The benchmark's results as Markdown. Pure: from the JSON of a run to text."""

import math


PRECISIONS = {
    "f32": "Floats are float32 in all of them.",
    "bf16": "Products in bfloat16, summed up in float32, but onnxruntime's, which are float32 and what outputs are held against.",
}


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else None


def duration(seconds):
    """Milliseconds, three digits."""
    if seconds is None:
        return "–"
    value = seconds * 1000
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{min(digits, 3)}f}"


def megabytes(count):
    return "–" if count is None else f"{count / 1e6:.{2 if count < 1e6 else 1 if count < 1e8 else 0}f}"


def is_time(number):
    """CPU time is that of a turn less that of a start: of a program with few runs in a turn it can be none."""
    return number is not None and number > 0


def ratio(number):
    return f"{number:.2f}" if is_time(number) else "–"


def threads(count):
    return "1 thread" if count == 1 else f"{count} threads"


def lines(heads, rows):
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def label(row):
    return row["model"] if row["batch"] == 1 else f"{row['model']} ×{row['batch']}"


def thread_counts(rows):
    return sorted({int(count) for row in rows for count in row["threads"]})


def outcome(row, count, name):
    """What a contestant did with so many threads: its times, {} where it has none."""
    return row["threads"].get(str(count), {}).get("times", {}).get(name, {})


def fact(row, name, key):
    """Of the first thread count for which it is known."""
    for result in row["threads"].values():
        if (value := result["facts"].get(name, {}).get(key)) is not None:
            return value
    return None


def times(rows, peers):
    columns = [(count, name) for count in thread_counts(rows) for name in ("kiln", *peers)]
    heads = ["ms", *(f"{name}, {threads(count)}" for count, name in columns)]
    body = [[label(row), *(duration(outcome(row, *column).get("seconds")) for column in columns)] for row in rows]
    return lines(heads, body)


def ratios(rows, peers):
    """By the clock, and by CPU time on one thread, where others' work on the machine counts less."""
    columns = [(count, peer, "ratio", "") for count in thread_counts(rows) for peer in peers]
    columns += [(1, peer, "cpu_ratio", " by CPU time") for peer in peers if 1 in thread_counts(rows)]
    heads = ["ratio", *(f"{peer} / kiln, {threads(count)}{how}" for count, peer, _, how in columns)]
    numbers = [[outcome(row, count, peer).get(key) for count, peer, key, _ in columns] for row in rows]
    body = [[label(row), *map(ratio, cells)] for row, cells in zip(rows, numbers)]
    known = [[number for number in column if is_time(number)] for column in zip(*numbers)]
    body.append(["**geometric mean**", *(f"**{ratio(geometric_mean(column))}**" for column in known)])
    return lines(heads, body)


def around(rows, peers):
    """What is not a run: compilation, sizes, starts, memory, how far outputs are apart."""
    compilers = [name for name in peers if any(fact(row, name, "compile") for row in rows)]
    heads = ["", "kiln compile, s (CPU)", "its memory, MB", "program, MB", "model, MB"]
    heads += [f"{name} compile, s" for name in compilers]
    heads += [f"{name} start to first output, ms" for name in ("kiln", *peers)]
    heads += [f"{name} memory, MB" for name in ("kiln", *peers)]
    heads += [f"{name} differs by" for name in ("kiln", *peers[1:])]
    body = []
    for row in rows:
        built = row["compile"]
        cells = [f"{built['seconds']:.1f} ({built['cpu']:.1f})" if "seconds" in built else "–"]
        cells += [megabytes(built.get("peak")), megabytes(built.get("bytes")), megabytes(row["bytes"])]
        compiles = [fact(row, name, "compile") for name in compilers]
        cells += ["–" if seconds is None else f"{seconds:.1f}" for seconds in compiles]
        cells += [duration(fact(row, name, "first")) for name in ("kiln", *peers)]
        cells += [megabytes(fact(row, name, "peak")) for name in ("kiln", *peers)]
        apart = [fact(row, name, "apart") for name in ("kiln", *peers[1:])]
        body.append([label(row), *cells, *("–" if number is None else f"{number:.0e}" for number in apart)])
    return lines(heads, body)


def failures(rows):
    """(label, who, why), each once."""
    found = {}
    for row in rows:
        if "error" in row["compile"]:
            found[label(row), "kiln", row["compile"]["error"]] = True
        for result in row["threads"].values():
            for name, facts in result["facts"].items():
                if "error" in facts:
                    found[label(row), name, facts["error"]] = True
    return list(found)


def page(result):
    rows, peers = result["rows"], result["peers"]
    about = result["about"]
    yield f"# Whole models: {about['machine']}"
    yield ""
    yield f"kiln {about['kiln']} on {about['cpu']}, {about['cores']} cores."
    for peer in peers:
        size = megabytes(about["libraries"].get(peer))
        yield f"{peer} {about['versions'].get(peer, '')}, whose shared libraries are {size} MB."
    yield f"Medians of {about['rounds']} rounds of alternating turns; a ratio above 1 says that kiln is faster."
    yield PRECISIONS[about["precision"]]
    yield "Where the machine has more to do than it has cores, trust the ratios by CPU time on one thread, and none on"
    yield "several: who waits by spinning takes turns with others' work."
    yield f"Load average when it began: {about['load']:.0f}."
    yield ""
    yield f"![the ratios of each model]({about['machine']}.svg)"
    yield ""
    yield from times(rows, peers)
    yield ""
    yield from ratios(rows, peers)
    yield ""
    yield from around(rows, peers)
    if bad := failures(rows):
        yield ""
        yield "What failed:"
        yield ""
        yield from (f"- {who} on {model}: {why}" for model, who, why in bad)
