"""The benchmark's ratios as a picture: a line a model, a mark for each peer and thread count, on a logarithmic axis.
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
        x = LEFT + 10 + index * 165
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
