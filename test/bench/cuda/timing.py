"""Times on the GPU, by its own events: of contestants that take turns, each on memory that no cache holds."""

import statistics

import torch

TURN_MS = 4.0  # of one contestant
MOST_RUNS = 200


def turn(runs, count, first):
    """Milliseconds of one run: `count` of them, of the prepared ones in turn."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for number in range(first, first + count):
        runs[number % len(runs)]()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def race(contestants, rounds):
    """Medians by name, in milliseconds. A contestant is a list of functions that do the same on other memory."""
    counts = {}
    for name, runs in contestants.items():
        turn(runs, 2 * len(runs), 0)
        counts[name] = max(len(runs), min(MOST_RUNS, int(TURN_MS / max(turn(runs, len(runs), 0), 1e-3))))
    times = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            times[name].append(turn(contestants[name], counts[name], number))
    return {name: statistics.median(taken) for name, taken in times.items()}
