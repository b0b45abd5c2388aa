#!/usr/bin/env python3
"""bench_test.py KILN: the benchmark of models without PyPI: its arithmetic, its tables, a run without peers."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import contestants
import environments
import kernels
import machine
import models
import operator_table
import plot
import race
import table

KILN = os.path.abspath(sys.argv.pop(1))


def timed(seconds, ratio=None):
    return {"seconds": seconds, "cpu": seconds, "ratio": ratio, "cpu_ratio": ratio}


def row(model, ratio):
    times = {"kiln": timed(0.1), "peer": timed(0.1 * ratio, ratio)} if ratio else {"peer": timed(0.2)}
    facts = {"peer": {"apart": 0, "first": 1.5, "version": "1"}}
    built = {"seconds": 2.5, "cpu": 1, "bytes": 3000000, "peak": 200000000} if ratio else {"error": "no such operator"}
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
        "precision": "f32",
        "versions": {},
        "threads": 1,
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

    def test_cpu_time_that_a_start_hides_is_the_clock_s(self):
        program = contestants.Program.__new__(contestants.Program)
        program.command, program.once = ["program"], 5
        for threads, cpu, expected in ((1, 4, 0.002), (4, 4, 0.008), (1, 5.6, 0.1)):
            program.threads = threads
            ended = contestants.Run("median 2.000 ms, min 1.000 ms over 3 runs", "", 1, cpu)
            with unittest.mock.patch.object(contestants, "run", return_value=ended):
                self.assertAlmostEqual(program.turn(3)[1], expected)

    def test_outputs_far_apart_are_a_failure(self):
        self.assertEqual(race.relative({"apart": 1e-4, "largest": 10}), 1e-5)
        self.assertEqual(race.relative({"apart": 0.1, "largest": 10}, "bf16"), 1e-2)
        self.assertEqual(race.relative({"apart": 4, "largest": 10}, "bytes"), 0.4)
        with self.assertRaisesRegex(race.Failed, "differ by 1.0e-02"):
            race.relative({"apart": 0.1, "largest": 10})

    def test_a_duration_has_three_digits(self):
        self.assertEqual([table.duration(t) for t in (1.2345, 0.012345, 0.00012345)], ["1234", "12.3", "0.123"])

    def test_what_was_compiled_otherwise_or_elsewhere_has_another_name(self):
        def name(flags=("-O3",), cpu="Zen 4"):
            with unittest.mock.patch.object(machine, "cpu", return_value=(cpu, "AVX2")):
                return contestants.compiled_name("3.1", "/a/model.onnx", flags)

        self.assertEqual(name(), name())
        self.assertEqual(len({name(), name(flags=("-O2",)), name(cpu="Xeon")}), 3)
        self.assertRegex(name(), "^3.1-a-model.onnx-[0-9a-f]+$")

    def test_a_peer_is_a_package_or_several(self):
        wanted = ["onnxruntime", "iree-base-compiler", "iree-base-runtime"]
        self.assertEqual(environments.packages_of(["onnxruntime", "iree"]), wanted)

    def test_torch_without_what_runs_on_a_gpu_alone(self):
        declared = ["filelock", "triton~=3.9; x", "cuda-bindings<14", "nvidia-nccl==2; x", 'optree; extra == "optree"']
        self.assertEqual(environments.needed_by_torch(declared), ["filelock", "nvidia-nccl==2; x"])


class Models(unittest.TestCase):
    """Scripts are told apart by their words; none runs."""

    def folder_of(self, name, cache, made):
        def make(script, arguments, python):
            made.append((script, *arguments[:-1], os.path.basename(os.path.dirname(os.path.dirname(python)))))

        with (
            unittest.mock.patch.object(models, "make", make),
            unittest.mock.patch.object(environments, "python_of", lambda cache, name, make: f"{cache}/{name}/bin/python"),
            unittest.mock.patch.object(environments, "add_peers"),
            unittest.mock.patch.object(sys, "stderr"),
        ):
            return models.folder_of(name, 1, cache)

    def test_a_quantised_model_is_made_of_the_exported_one(self):
        with tempfile.TemporaryDirectory() as cache:
            made, source = [], os.path.join(cache, "models", "resnet50-b1")
            folder = self.folder_of("resnet50_s8", cache, made)
            self.assertEqual(made, [("export.py", "resnet50", "1", "exporter"), ("quantize.py", "s8", source, "peers")])
            self.assertEqual(os.path.basename(folder), "resnet50_s8-b1")
            # Both are kept.
            self.folder_of("resnet50_s8", cache, made)
            self.folder_of("resnet50", cache, made)
            self.assertEqual(len(made), 2)

    def test_weights_of_few_bits_have_a_tool_of_their_own(self):
        with tempfile.TemporaryDirectory() as cache:
            made, source = [], os.path.join(cache, "models", "gpt2-b1")
            self.folder_of("gpt2_bits4", cache, made)
            self.assertEqual(made, [("export.py", "gpt2", "1", "exporter"), ("quantize_bits.py", "bits4", source, "peers")])

    def test_a_name_says_of_which_model_and_how(self):
        self.assertEqual(models.QUANTIZED["mobilenet_v2_u8"], ("mobilenet_v2", "u8"))
        self.assertEqual(models.QUANTIZED["gpt2_dynamic"], ("gpt2", "dynamic"))
        self.assertLessEqual({name for name, _ in models.QUANTIZED.values()}, set(models.EXPORTED))


class Table(unittest.TestCase):
    def test_the_compiler_of_a_peer_has_a_column(self):
        compiled = row("small", 2)
        self.assertNotIn("peer compile", "\n".join(table.page(result(compiled))))
        compiled["threads"]["1"]["facts"]["peer"]["compile"] = 12.34
        lines = "\n".join(table.page(result(compiled, row("other", 2)))).splitlines()
        heads = next(line for line in lines if "peer compile, s" in line).split(" | ")
        column = heads.index("peer compile, s")
        cells = [line.split(" | ")[column] for line in lines[lines.index(" | ".join(heads)) + 2 :][:2]]
        self.assertEqual(cells, ["12.3", "–"])

    def test_two_models(self):
        page = "\n".join(table.page(result(row("small", 4), row("large", 1))))
        self.assertIn("| small | 100 | 400 |", page)
        self.assertIn("| large | 1.00 | 1.00 |", page)
        self.assertIn("| small | 2.5 (1.0) | 200 | 3.0 | 2.9 | – | 1500 |", page)
        self.assertIn("| **geometric mean** | **2.00** | **2.00** |", page)
        self.assertNotIn("What failed", page)

    def test_a_time_that_was_not_found_is_in_no_mean(self):
        slow = row("slow", 2)
        slow["threads"]["1"]["times"]["peer"]["cpu_ratio"] = -0.5
        page = "\n".join(table.page(result(slow, row("b", 4))))
        self.assertIn("| slow | 2.00 | – |", page)
        self.assertIn("| **geometric mean** | **2.83** | **4.00** |", page)

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


LIMITS = {
    "threads": 2,
    "gflops": 100,
    "levels": [
        {"name": "L2", "holds": 1000, "read": 50, "copy": 60},
        {"name": "L3", "holds": 10000, "read": 20, "copy": 10},
        {"name": "DRAM", "holds": 0, "read": 5, "copy": 6},
    ],
}
STATS = """kernel                                   kFLOP     others, k            kB  expected, us  from
r_8                                      0.600         0.300         1.800          4.00  ['a', 'b']
E_9                                      0.000         0.000        90.000       5000.00  ['c']
2 launches of 2 kernels, 0.001 MFLOP, 0.092 MB moved
"""
LOG = """opened device cpu
*** CPU        1 r_8     arg   4 mem  0.00 GB tm      1.00us/     0.00ms (    0.60 GFLOPS,    1.80 GB/s) ['a', 'b']
*** CPU        2 E_9     arg   2 mem  0.00 GB tm     20.00ms/    20.00ms (    0.00 GFLOPS,    0.00 GB/s) ['c']
*** CPU        3 r_8     arg   4 mem  0.00 GB tm      3.00us/    20.00ms (    0.20 GFLOPS,    0.60 GB/s) ['a', 'b']
*** CPU        4 E_9     arg   2 mem  0.00 GB tm     30.00ms/    50.00ms (    0.00 GFLOPS,    0.00 GB/s) ['c']
"""


class Kernels(unittest.TestCase):
    def found(self):
        return kernels.parse_launches(LOG, kernels.parse_stats(STATS), runs=2)

    def test_a_log_of_two_runs(self):
        last, first = self.found()[::-1], self.found()[0]
        self.assertEqual((first["name"], first["launches"], first["seconds"]), ("E_9", 1, 0.025))
        self.assertEqual((last[0]["operations"], last[0]["bytes"], last[0]["origin"]), (600, 1800, "['a', 'b']"))

    def test_the_longer_of_two_limits(self):
        product, move = {"operations": 1e6, "bytes": 1800}, {"operations": 1, "bytes": 1800}
        self.assertEqual(kernels.limit(product, LIMITS), (1e-5, "FMA"))
        self.assertEqual(kernels.limit(move, LIMITS), (1800 / 60e9, "L2"))  # each thread has one of its own
        self.assertEqual(kernels.limit({**move, "bytes": 2400}, LIMITS)[1], "L3")
        self.assertEqual(kernels.limit({**move, "bytes": 12000}, LIMITS), (12000 / 6e9, "DRAM"))

    def test_the_better_of_two_measurements(self):
        slow = {**LIMITS, "gflops": 7, "levels": [{**LIMITS["levels"][0], "read": 99}, *LIMITS["levels"][1:]]}
        both = kernels.best({"2": LIMITS}, {"2": slow})["2"]
        self.assertEqual((both["gflops"], both["levels"][0]["read"], both["levels"][0]["copy"]), (100, 99, 60))
        self.assertEqual(both["levels"][1]["name"], "L3")
        self.assertEqual(kernels.best({}, {"2": slow}), {"2": slow})

    def test_the_page_and_the_picture(self):
        model = {"model": "m", "threads": 2, "kernels": self.found()}
        page = "\n".join(kernels.page({**result(), "limits": {"2": LIMITS}, "kernels": [model]}))
        self.assertIn("| `E_9` | 1 | 100 % | 25000 | 0.0 | 0.0 | 0 % of DRAM | c |", page)
        picture = "\n".join(plot.roofline(model, kernels.place(model["kernels"], LIMITS), LIMITS))
        circles = xml.etree.ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}circle")
        self.assertEqual(len(list(circles)), 1)  # a copy has no operations a byte

    def test_the_worst_expectation_comes_first(self):
        model = {"model": "m", "threads": 1, "kernels": self.found()[::-1]}
        lines = list(kernels.expected_page({**result(), "kernels": [model, {**model, "threads": 2}]}))
        self.assertEqual(
            [line for line in lines if line.startswith("| m ")],
            [
                "| m | `E_9` | 1 | 5000.0 | 25000.0 | 5.00 | 0.0 | – |",
                "| m | `r_8` | 1 | 4.0 | 2.0 | 0.50 | 0.3 | 0.50 |",
            ],
        )

    def test_what_limits_wants(self):
        with tempfile.TemporaryDirectory() as folder:
            program = kernels.build_limits(folder)
            refused = subprocess.run([program, "0"], capture_output=True, text=True)
        self.assertEqual((refused.returncode, refused.stderr), (2, "limits: 0: wanted 1 to 256 threads\n"))


class Operators(unittest.TestCase):
    def test_a_product_and_a_norm(self):
        times = {"kiln": timed(0.002), "peer": {**timed(0.001, 0.5), "cpu": 0.0005}}
        product = {"operator": "MatMul 2x3 3x4", "uses": 3, "operations": 4e6, "bytes": 8, "times": times, "errors": {}}
        norm = {**product, "operator": "Softmax 8", "operations": 0, "bytes": 4e6, "errors": {"kiln": "too slow"}}
        limits = {"1": {**LIMITS, "threads": 1}}
        what = {**result(), "operators": [product, norm], "part": "operators", "limits": limits}
        page = "\n".join(operator_table.page(what))
        self.assertIn("| MatMul | 1 | 0.50 | 0.50 | 0.50 | 0.50 |", page)
        self.assertIn("| MatMul 2x3 3x4 | 3 | 2.00 | 1.00 | 2.0 | 8.0 | 2 % | 0.50 | 0.50 |", page)
        self.assertIn("| Softmax 8 | 3 | 2.00 | 1.00 | 2.0 GB/s | 8.0 GB/s | 33 % | 0.50 | 0.50 |", page)
        self.assertIn("- kiln on Softmax 8: too slow", page)


class Arguments(unittest.TestCase):
    def refused(self, *arguments):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, os.path.join(HERE, "run"), *arguments, f"--cache={cache}/made"]
            ended = subprocess.run(command, capture_output=True, text=True)
            self.assertFalse(os.path.exists(f"{cache}/made"))
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        return ended.stderr.splitlines()[-1].removeprefix("test/bench/models/run: error: ")

    def test_what_is_wrong_is_said_before_anything_is_made(self):
        here = f"--kiln={KILN}"
        self.assertIn("argument MODEL: resnet51: no such model, nor a folder with model.onnx; models are", self.refused("resnet51", here))
        self.assertIn("--peers onnxrutime: no such peer; peers are onnxruntime, ", self.refused("mnist", here, "--peers=onnxrutime"))
        self.assertIn("--threads: 0: wanted 1 or more", self.refused("mnist", here, "--threads=0"))
        self.assertIn("--threads: one: wanted 1 or more", self.refused("mnist", here, "--threads=2,one"))
        self.assertIn("--batch: -1: wanted 1 or more", self.refused("mnist", here, "--batch=-1"))
        self.assertIn("--rounds: 0: wanted 1 or more", self.refused("mnist", here, "--rounds=0"))
        self.assertIn("--seconds: nan: wanted more than 0", self.refused("mnist", here, "--seconds=nan"))
        self.assertIn("--parts frob: wanted some of models,", self.refused("mnist", here, "--parts=frob"))
        self.assertIn("--kiln /none: is no program; build kiln", self.refused("mnist", "--kiln=/none"))

    def test_help_says_what_is_fetched(self):
        shown = subprocess.run([sys.executable, os.path.join(HERE, "run"), "--help"], capture_output=True, text=True).stdout
        self.assertIn("5 GB", shown)
        self.assertIn("PyPI", shown)


class Whole(unittest.TestCase):
    def test_a_run_goes_on_past_a_model_that_fails(self):
        with tempfile.TemporaryDirectory() as cache:
            broken = os.path.join(cache, "broken")
            os.mkdir(broken)
            with open(os.path.join(broken, "model.onnx"), "wb") as file:
                file.write(b"no model")
            models = [broken, "mnist", os.path.join(TEST, "models", "mobilenet_v3_tiny")]
            options = [
                "--peers=",
                "--parts=models",
                "--threads=1",
                "--rounds=1",
                "--seconds=0.001",
                "--machine=here",
                f"--kiln={KILN}",
            ]
            command = [sys.executable, os.path.join(HERE, "run"), *models, *options, f"--cache={cache}"]
            subprocess.run([*command, "--compile-option=--mcpu=x86-64"], check=True, capture_output=True)
            with open(os.path.join(cache, "results", "here.json"), encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        self.assertEqual([row["model"] for row in rows], ["broken", "mnist", "mobilenet_v3_tiny"])
        self.assertIn("model.onnx", rows[0]["compile"]["error"])
        self.assertNotIn(broken, rows[0]["compile"]["error"])
        for row in rows[1:]:
            self.assertGreater(row["threads"]["1"]["times"]["kiln"]["seconds"], 0)
            self.assertGreater(row["threads"]["1"]["facts"]["kiln"]["peak"], 100000)


unittest.main()
