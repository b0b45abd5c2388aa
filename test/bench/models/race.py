"""Times kiln's program and its peers alternately on one model, after their outputs were compared.

A machine is never quiet, so nobody is timed alone: a round is one turn of each, the turns of a round begin with another
contestant each time, and a ratio is taken within a round. The reported number is the median of the rounds.
"""

import contextlib
import os
import statistics
import tempfile
import time

from contestants import Failed, Program, Worker, run_and_watch

# Of the largest element of the outputs. Narrow products are stated, not judged; a number that is rounded to bytes moves
# by a step where the one before it moves by nothing, and random weights make much of it.
TOLERANCE = {"f32": 1e-3, "bf16": 0.2, "bytes": 0.5}
REST = 0.05  # seconds between turns, in which a peer's threads stop spinning


def relative(difference, judged="f32"):
    """How far outputs are apart, of the largest element; raises what is wrong with them."""
    if "error" in difference:
        raise Failed(difference["error"])
    apart = difference["apart"] / (difference["largest"] or 1)
    if apart > TOLERANCE[judged]:
        raise Failed(f"outputs differ by {apart:.1e} of the largest")
    return apart


def compile_model(kiln, folder, program, options):
    """(what a row says of the compilation, --stats)"""
    command = [kiln, "compile", os.path.join(folder, "model.onnx"), "-o", program, "--stats", *options]
    try:
        compiled, peak = run_and_watch(command)
    except Failed as why:
        raise Failed(str(why).replace(os.path.join(folder, ""), "")) from None
    facts = {"seconds": compiled.seconds, "cpu": compiled.cpu, "peak": peak, "bytes": os.path.getsize(program)}
    return facts, compiled.output


def model_bytes(folder):
    paths = (os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("model.onnx"))
    return sum(os.path.getsize(path) for path in paths)


def runs_in(seconds_a_turn, seconds_a_run):
    return max(1, min(10000, int(seconds_a_turn / max(seconds_a_run, 1e-9))))


def take_turns(contestants, rounds, seconds):
    """({name: [(seconds, CPU seconds) of each round]}, {name: why it failed})"""
    turns, failed, runs = {name: [] for name in contestants}, {}, {}

    def try_to(name, act):
        time.sleep(REST)
        try:
            return act()
        except Failed as why:
            failed[name] = str(why)
            del turns[name]

    for name, contestant in contestants.items():
        runs[name] = runs_in(seconds, try_to(name, contestant.guess) or seconds)
    for number in range(rounds):
        names = list(turns)
        shift = number % max(1, len(names))
        for name in names[shift:] + names[:shift]:
            if took := try_to(name, lambda: contestants[name].turn(runs[name])):
                turns[name].append(took)
    return turns, failed


def summary(turns):
    """For each contestant the median of its rounds, for a peer also that of its ratios to kiln in the same round; by
    the clock and by CPU time."""
    result = {}
    for name, rounds in turns.items():
        result[name] = {"rounds": rounds}
        for index, (key, ratio) in enumerate((("seconds", "ratio"), ("cpu", "cpu_ratio"))):
            took = [turn[index] for turn in rounds]
            result[name][key] = statistics.median(took)
            if name != "kiln" and "kiln" in turns:
                pairs = zip(took, (turn[index] for turn in turns["kiln"]))
                result[name][ratio] = statistics.median(theirs / ours for theirs, ours in pairs)
    return result


def input_files(folder):
    names = [name for name in os.listdir(folder) if name.startswith("input_")]
    return [os.path.join(folder, f"input_{index}.npy") for index in range(len(names))]


def apart_from(reference, contestant, folder, judged):
    """How far the contestant's outputs are from the reference's, and the reference's from those stored; None where
    there is nothing to compare with."""
    if not reference:
        known = isinstance(contestant, Worker) and os.path.exists(os.path.join(folder, "output_0.npy"))
        return relative(contestant.compare(folder), judged) if known else None
    with tempfile.TemporaryDirectory() as outputs:
        contestant.store(outputs)
        return relative(reference.compare(outputs), judged)


def race(folder, program, peers, python, threads, rounds, seconds, precision="f32", judged=None):
    """`program` is None where kiln failed; `judged` is a key of TOLERANCE where it is not the precision. The first peer that runs is the reference: it is held against the outputs
    stored with the model, all others against it. Returns {"facts": {name: …}, "times": {name: …}}; a contestant that
    fails is not timed, and its facts are the error."""
    facts, contestants, reference = {}, {}, None
    starts = {name: lambda name=name: Worker(python, name, folder, threads, precision) for name in peers}
    if program:
        starts["kiln"] = lambda: Program(program, input_files(folder), threads)
    with contextlib.ExitStack() as stack:
        for name, start in starts.items():
            try:
                contestant = stack.enter_context(contextlib.closing(start()))
                facts[name] = {**contestant.facts, "apart": apart_from(reference, contestant, folder, judged or precision)}
                if name != "kiln":
                    reference = reference or contestant
                contestants[name] = contestant
            except Failed as why:
                facts[name] = {"error": str(why)}
        turns, failed = take_turns(contestants, rounds, seconds)
    facts.update({name: {"error": why} for name, why in failed.items()})
    return {"facts": facts, "times": summary(turns)}
