"""The benchmark's results as Markdown. Pure: from the JSON of a run to text."""


def lines(heads, rows):
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def share(row, copies):
    """Of the bandwidth of a copy in the same run."""
    return row["bytes"] / row["ms"]["kiln"] / copies[row["dtype"]]


def kernel_row(row, copies):
    times = [f"{1000 * row['ms'][who]:.0f}" for who in ("kiln", "eager", "compiled")]
    return [row["name"], *times, f"{row['bytes'] / row['ms']['kiln'] / 1e6:.0f}", f"{share(row, copies):.2f}"]


def kernels(result):
    copies = result["copies"]
    yield from lines(["kernel", "kiln, us", "eager", "compiled", "GB/s", "of the copy"],
                     [kernel_row(row, copies) for row in result["kernels"]])  # fmt: skip
    yield ""
    rates = ", ".join(f"{dtype} {rate / 1e6:.0f}" for dtype, rate in copies.items())
    short = [f"{row['name']} {share(row, copies):.2f}" for row in result["kernels"] if share(row, copies) < 0.85]
    yield f"A copy moves, in GB/s, read and written: {rates}. Below 0.85 of it: {', '.join(short) or 'none'}."
    yield ""
    product = result["product"]
    took = product["ms"]
    yield (f"The product of {product['size']} × {product['size']} float32: kiln {took['kiln']:.2f} ms "
           f"({product['operations'] / took['kiln'] / 1e9:.1f} TFLOP/s), cuBLAS without tensor cores {took['eager']:.2f} ms, "
           f"{took['eager'] / took['kiln']:.2f} of its speed.")  # fmt: skip


def networks(rows):
    names = list(rows[0]["ms"])
    yield from lines(["network", "error", *(f"{name}, ms" for name in names), "process, ms", "PyTorch's"],
                     [[row["name"], f"{row['error']:.0e}", *(f"{row['ms'][name]:.2f}" for name in names),
                       f"{1000 * row['process, kiln']:.0f}", f"{1000 * row['process, PyTorch']:.0f}"]
                      for row in rows])  # fmt: skip


def page(result):
    machine = result["machine"]
    text = [f"# The device cuda on one {machine['gpu']}", "",
            f"kiln {machine['commit']}, driver {machine['driver']}, NVRTC {machine['nvrtc']}, PyTorch {machine['torch']}. Medians of "
            f"{result['rounds']} turns by the GPU's events, on random numbers in memory that no cache holds; TF32 off.", ""]  # fmt: skip
    if result["kernels"]:
        text += [*kernels(result), ""]
    if result["networks"]:
        text += ["Batch 1, 128 tokens, float32, inputs and outputs in the GPU's memory. The error is the norm of the difference "
                 "to PyTorch's outputs on the CPU by theirs. A process is one that starts, reads its weights and inputs, runs "
                 "once and has the output on the host.", "", *networks(result["networks"]), ""]  # fmt: skip
    return "\n".join(text)
