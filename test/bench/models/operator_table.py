"""The operators' results as Markdown. Pure."""

import itertools

import kernels
import table

WHAT = {
    "operators": "Each distinct convolution, product, norm and softmax of the models as a model of one node.",
    "shapes": "Products, and operators that memory limits, in shapes that no network has together; "
              "sizes with a letter are known when the program runs.",
}  # fmt: skip


def rate(operator, name, threads):
    """GFLOP/s of a product, GB/s of what else there is. On one thread by CPU time, which leaves out what others took of
    the machine meanwhile."""
    seconds = of(operator, name, "cpu" if threads == 1 else "seconds")
    if not seconds:
        return "–"
    if operator["operations"]:
        return f"{operator['operations'] / seconds * 1e-9:.1f}"
    return f"{operator['bytes'] / seconds * 1e-9:.1f} GB/s"


def of(operator, name, key):
    return operator["times"].get(name, {}).get(key)


def kind(operator):
    return operator["operator"].split()[0]


def means(operators, peers):
    for name in sorted({kind(operator) for operator in operators}):
        group = [operator for operator in operators if kind(operator) == name]
        cells = [name, len(group)]
        for peer, key in itertools.product(peers, ("ratio", "cpu_ratio")):
            ratios = [ratio for operator in group if (ratio := of(operator, peer, key))]
            cells += [table.ratio(table.geometric_mean(ratios)), table.ratio(min(ratios, default=None))]
        yield cells


def of_limit(operator, limits):
    """Which part of what the machine can do kiln reaches: of its multiply-adds, or of a copy's bytes."""
    seconds = of(operator, "kiln", "cpu" if limits["threads"] == 1 else "seconds")
    return f"{100 * kernels.limit(operator, limits)[0] / seconds:.0f} %" if seconds else "–"


def rows(operators, peers, threads, limits):
    for operator in operators:
        cells = [operator["operator"], operator["uses"]]
        cells += [table.duration(of(operator, name, "seconds")) for name in ("kiln", *peers)]
        cells += [rate(operator, name, threads) for name in ("kiln", *peers)]
        cells.append(of_limit(operator, limits))
        yield [*cells, *(table.ratio(of(operator, peer, key)) for peer in peers for key in ("ratio", "cpu_ratio"))]


def page(result):
    about, peers, operators = result["about"], result["peers"], result["operators"]
    names = ("kiln", *peers)
    limits = result["limits"][str(about["threads"])]
    yield f"# {result['part'].capitalize()}: {about['machine']}"
    yield ""
    count = table.threads(about["threads"])
    yield f"kiln {about['kiln']} on {about['cpu']}, {count}. {WHAT[result['part']]}"
    yield "GFLOP/s count a product's multiplications and additions, on one thread by CPU time, which is to be trusted more"
    yield "where the machine has more to do than it has cores. The limit is what multiply-adds in registers reach, or a copy"
    yield "in the memory that holds the operator's tensors, whichever takes longer; arithmetic of what is not a product is left out."
    yield f"Load average when it began: {about['load']:.0f}."
    yield ""
    heads = ["kind", "operators"]
    kinds = ("geometric mean", "least", "geometric mean by CPU time", "least by CPU time")
    heads += [f"{peer} / kiln, {what}" for peer in peers for what in kinds]
    yield from table.lines(heads, means(operators, peers))
    yield ""
    yield from table.lines(kernels.LIMIT_HEADS, kernels.limit_rows(result["limits"]))
    yield ""
    heads = ["operator", "nodes", *(f"{name}, ms" for name in names), *(f"{name}, GFLOP/s" for name in names)]
    heads.append("kiln, of its limit")
    heads += [f"{peer} / kiln{how}" for peer in peers for how in ("", " by CPU time")]
    yield from table.lines(heads, rows(operators, peers, about["threads"], limits))
    failed = [(operator["operator"], who, why) for operator in operators for who, why in operator["errors"].items()]
    if failed:
        yield ""
        yield "What failed:"
        yield ""
        yield from (f"- {who} on {name}: {why}" for name, who, why in failed)
