#!/usr/bin/env python3
"""bench_test.py KILN: the benchmark of models without PyPI: its arithmetic, its tables, a run without peers."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import environments
import plot
import race
import table

KILN = os.path.abspath(sys.argv.pop(1))


def timed(seconds, ratio=None):
    return {"seconds": seconds, "cpu": seconds, "ratio": ratio, "cpu_ratio": ratio}


def row(model, ratio):
    times = {"kiln": timed(0.1), "peer": timed(0.1 * ratio, ratio)} if ratio else {"peer": timed(0.2)}
    facts = {"peer": {"apart": 0, "first": 1.5, "version": "1"}}
    built = {"seconds": 2.5, "bytes": 3000000, "peak": 200000000} if ratio else {"error": "no such operator"}
    counts = {"1": {"times": times, "facts": facts}}
    return {"model": model, "batch": 1, "bytes": 2900000, "compile": built, "threads": counts}


def result(*rows):
    about = {
        "machine": "m",
        "cpu": "c",
        "cores": 2,
        "load": 0,
        "kiln": "0",
        "rounds": 3,
        "versions": {},
        "libraries": {},
    }
    return {"about": about, "peers": ["peer"], "rows": list(rows)}


class Arithmetic(unittest.TestCase):
    def test_a_ratio_is_taken_within_a_round(self):
        # The third round was slow for both: no ratio of medians would be 2.
        turns = {"kiln": [(1, 1), (2, 1), (9, 1)], "peer": [(2, 1), (4, 1), (18, 1)]}
        self.assertEqual(race.summary(turns)["peer"]["ratio"], 2)
        self.assertEqual(race.summary(turns)["peer"]["seconds"], 4)
        self.assertEqual(race.summary(turns)["peer"]["cpu_ratio"], 1)

    def test_the_turns_of_a_round_begin_with_another_each_time(self):
        order = []

        class Fake:
            def __init__(self, name):
                self.name = name

            def guess(self):
                return 1

            def turn(self, runs):
                order.append(self.name)
                return 1, 1

        race.take_turns({name: Fake(name) for name in "abc"}, 3, 1)
        self.assertEqual("".join(order), "abcbcacab")

    def test_outputs_far_apart_are_a_failure(self):
        self.assertEqual(race.relative({"apart": 1e-4, "largest": 10}), 1e-5)
        with self.assertRaisesRegex(race.Failed, "differ by 1.0e-02"):
            race.relative({"apart": 0.1, "largest": 10})

    def test_a_duration_has_three_digits(self):
        self.assertEqual([table.duration(t) for t in (1.2345, 0.012345, 0.00012345)], ["1234", "12.3", "0.123"])

    def test_torch_without_what_runs_on_a_gpu_alone(self):
        declared = ["filelock", "triton~=3.9; x", "cuda-bindings<14", "nvidia-nccl==2; x", 'optree; extra == "optree"']
        self.assertEqual(environments.needed_by_torch(declared), ["filelock", "nvidia-nccl==2; x"])


class Table(unittest.TestCase):
    def test_two_models(self):
        page = "\n".join(table.page(result(row("small", 4), row("large", 1))))
        self.assertIn("| small | 100 | 400 |", page)
        self.assertIn("| large | 1.00 | 1.00 |", page)
        self.assertIn("| **geometric mean** | **2.00** | **2.00** |", page)
        self.assertNotIn("What failed", page)

    def test_a_model_that_fails_is_a_row(self):
        page = "\n".join(table.page(result(row("good", 3), row("bad", None))))
        self.assertIn("| bad | – | 200 |", page)
        self.assertIn("| **geometric mean** | **3.00** |", page)
        self.assertIn("- kiln on bad: no such operator", page)

    def test_the_picture_is_one(self):
        tree = xml.etree.ElementTree.fromstring("\n".join(plot.chart(result(row("small", 4), row("large", 0.03)))))
        marks = [float(circle.get("cx")) for circle in tree.iter("{http://www.w3.org/2000/svg}circle")]
        self.assertEqual(len(marks), 3)  # one of them is the legend's
        self.assertGreater(marks[1], marks[2])


class Whole(unittest.TestCase):
    def test_a_run_goes_on_past_a_model_that_fails(self):
        with tempfile.TemporaryDirectory() as cache:
            broken = os.path.join(cache, "broken")
            os.mkdir(broken)
            with open(os.path.join(broken, "model.onnx"), "wb") as file:
                file.write(b"no model")
            models = [broken, "mnist", os.path.join(TEST, "models", "mobilenet_v3_tiny")]
            options = ["--peers=", "--threads=1", "--rounds=1", "--seconds=0.001", "--machine=here", f"--kiln={KILN}"]
            command = [sys.executable, os.path.join(HERE, "run"), *models, *options, f"--cache={cache}"]
            subprocess.run([*command, "--compile-option=--mcpu=x86-64"], check=True, capture_output=True)
            with open(os.path.join(cache, "results", "here.json"), encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        self.assertEqual([row["model"] for row in rows], ["broken", "mnist", "mobilenet_v3_tiny"])
        self.assertIn("model.onnx", rows[0]["compile"]["error"])
        for row in rows[1:]:
            self.assertGreater(row["threads"]["1"]["times"]["kiln"]["seconds"], 0)
            self.assertGreater(row["threads"]["1"]["facts"]["kiln"]["peak"], 100000)


unittest.main()
