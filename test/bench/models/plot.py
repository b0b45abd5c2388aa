"""The benchmark's ratios as a picture: a line per model, a mark for each peer and thread count, on a logarithmic axis.
Pure: from the JSON of a run to SVG."""

import math
from xml.sax.saxutils import escape

from table import label, outcome, thread_counts, threads

ROW, LEFT, WIDTH, TOP, BOTTOM = 24, 170, 560, 56, 34
COLOURS = ("#1f6fb4", "#d1782b", "#3d8f4e", "#8a5ab0")
TEXT = '<text x="{:.0f}" y="{:.0f}" font-size="{}" text-anchor="{}" fill="{}">{}</text>'


def text(x, y, what, size=12, anchor="start", colour="#333"):
    return TEXT.format(x, y, size, anchor, colour, escape(what))


def mark(x, y, colour, hollow):
    fill = "white" if hollow else colour
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def decades(ratios):
    """Powers of ten around all of them, and around 1."""
    logs = [math.log10(ratio) for ratio in (*ratios, 1)]
    return range(math.floor(min(logs) - 0.05), math.ceil(max(logs) + 0.05) + 1)


def chart(result):
    """A full mark is one thread, a hollow one several."""
    rows, peers = result["rows"], result["peers"]
    series = [(peer, count) for peer in peers for count in thread_counts(rows)]
    marks = []
    for line, row in enumerate(rows):
        for peer, count in series:
            if ratio := outcome(row, count, peer).get("ratio"):
                marks.append((line, peer, count, ratio))
    ticks = decades([ratio for *_, ratio in marks])
    height = TOP + ROW * len(rows)

    def across(ratio):
        return LEFT + WIDTH * (math.log10(ratio) - ticks[0]) / (ticks[-1] - ticks[0])

    size = f'width="{LEFT + WIDTH + 40}" height="{height + BOTTOM}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    yield f'<rect {size} fill="white"/>'
    yield text(LEFT, 18, "The peer's time divided by kiln's: right of 1, kiln is faster", 14)
    for index, (peer, count) in enumerate(series):
        x = 20 + index * 180
        yield mark(x, 36, COLOURS[peers.index(peer) % len(COLOURS)], count > 1)
        yield text(x + 12, 40, f"{peer}, {threads(count)}")
    for tick in ticks:
        x = across(10.0**tick)
        stroke = "#333" if tick == 0 else "#ddd"
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height}" stroke="{stroke}"/>'
        yield text(x, height + 18, f"{10.0**tick:g}", anchor="middle")
    for line, row in enumerate(rows):
        yield text(LEFT - 10, TOP + ROW * (line + 0.5) + 4, label(row), anchor="end")
    for line, peer, count, ratio in marks:
        yield mark(across(ratio), TOP + ROW * (line + 0.5), COLOURS[peers.index(peer) % len(COLOURS)], count > 1)
    yield "</svg>"


LEAST_INTENSITY, MOST_INTENSITY, LEAST_RATE = 0.03, 1000, 0.1
LEVEL_COLOURS = {"L2": "#3d8f4e", "L3": "#d1782b", "DRAM": "#b03a48", "FMA": "#333"}


def roofline(model, kernels, limits):
    """The kernels of a model: operations a byte across, GFLOP/s upward, the area their part of the time; the lines are
    the limits that were measured."""
    most = 2 * limits["gflops"]
    height, floor = 330, 380

    def clamp(value, low, high):
        return min(max(value, low), high)

    def across(intensity):
        part = math.log(clamp(intensity, LEAST_INTENSITY, MOST_INTENSITY) / LEAST_INTENSITY)
        return 60 + 600 * part / math.log(MOST_INTENSITY / LEAST_INTENSITY)

    def up(rate):
        return floor - height * math.log(clamp(rate, LEAST_RATE, most) / LEAST_RATE) / math.log(most / LEAST_RATE)

    yield '<svg xmlns="http://www.w3.org/2000/svg" width="720" height="430" font-family="sans-serif">'
    yield '<rect width="720" height="430" fill="white"/>'
    yield text(60, 24, f"{model['model']}, {threads(model['threads'])}: GFLOP/s over operations a byte", 14)
    for decade in range(-1, 4):
        if LEAST_RATE <= 10.0**decade <= most:
            y = up(10.0**decade)
            yield f'<line x1="60" y1="{y:.1f}" x2="660" y2="{y:.1f}" stroke="#eee"/>'
            yield text(54, y + 4, f"{10.0**decade:g}", anchor="end")
        x = across(10.0**decade)
        yield f'<line x1="{x:.1f}" y1="{floor - height}" x2="{x:.1f}" y2="{floor}" stroke="#eee"/>'
        yield text(x, floor + 18, f"{10.0**decade:g}", anchor="middle")
    top = limits["gflops"]
    roofs = [(level["name"], max(level["read"], level["copy"])) for level in limits["levels"]]
    for line, (name, bandwidth) in enumerate(roofs):
        ends = [(ratio, bandwidth * ratio) for ratio in (LEAST_INTENSITY, top / bandwidth)]
        points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in [*ends, (MOST_INTENSITY, top)])
        yield f'<polyline points="{points}" fill="none" stroke="{LEVEL_COLOURS[name]}"/>'
        yield text(70 + 150 * line, floor + 40, f"{name} {bandwidth:.0f} GB/s", colour=LEVEL_COLOURS[name])
    yield text(655, up(top) - 6, f"{top:.0f} GFLOP/s", anchor="end")
    for kernel in kernels:
        if kernel["seconds"] and kernel["bytes"] and kernel["operations"]:
            x, y = across(kernel["operations"] / kernel["bytes"]), up(kernel["operations"] / kernel["seconds"] * 1e-9)
            radius = 3 + 25 * math.sqrt(kernel["share"])
            colour = LEVEL_COLOURS[kernel["limit"]]
            title = f"<title>{escape(kernel['name'] + ' ' + kernel['origin'])}</title>"
            style = f'fill="{colour}" fill-opacity="0.25" stroke="{colour}"'
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {style}>{title}</circle>'
    yield "</svg>"
