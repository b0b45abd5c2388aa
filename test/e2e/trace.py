#!/usr/bin/env python3
"""trace.py FILE: whether FILE holds Chrome's trace events of 10 runs: a row of launches that follow one another, and rows of
threads, each within its launch."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
spans = [event for event in events if event["ph"] == "X"]
launches = [span for span in spans if span["tid"] == 0]
assert rows[0].endswith(": launches") and rows[1] == "thread 0", rows
assert launches and len(launches) % 10 == 0, len(launches)
assert all(span["dur"] >= 0 and span["args"]["operations"] >= 0 for span in launches)
for before, after in zip(launches, launches[1:]):
    assert before["ts"] + before["dur"] <= after["ts"] + 0.002, (before, after)
for span in spans:
    assert span["tid"] in rows, span
    if span["tid"]:
        around = [launch for launch in launches if launch["name"] == span["name"] and
                  launch["ts"] - 0.002 <= span["ts"] <= launch["ts"] + launch["dur"] + 0.002]
        assert around, span
