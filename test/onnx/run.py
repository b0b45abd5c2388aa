#!/usr/bin/env python3
"""Runs onnx's own backend tests on a device of kiln's and holds them to the device's list of expected failures.

expected-failures/DEVICE.txt has a line per test: its name and, after blanks, the reason. A test that fails and is not there
fails the run, and so does one that is there and passes. What is there has to be refused; where the reason begins with
"differs", the result may be wrong instead. A crash is never expected. docs/onnx-support.md follows from the list of cpu.
"""

import argparse
import multiprocessing
import os
import re
import sys
import tempfile
import unittest
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
ENVIRONMENT = os.path.join(ROOT, ".setup", "onnx")
PAGE = os.path.join(ROOT, "docs", "onnx-support.md")
NOT_RUN = 77  # CTest shows it as skipped


def enter_environment():
    """Goes on in the environment that tools/setup made. A machine that ought to have it must not pass without."""
    if os.path.realpath(sys.prefix) == os.path.realpath(ENVIRONMENT):
        return
    python = os.path.join(ENVIRONMENT, "bin", "python3")
    if not os.path.exists(python):
        print("there is no .setup/onnx: run tools/setup")
        sys.exit(1 if "onnx" in os.environ.get("KILN_TEST_REQUIRE", "").split() else NOT_RUN)
    os.execv(python, [python, *sys.argv])


enter_environment()
sys.dont_write_bytecode = True
import backend
import onnx.backend.test
import support_table


def read_expected(path):
    """{test: reason}"""
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(None, 1) for line in file if line.strip() and line[0] != "#")


def write_expected(path, reasons):
    with open(path, encoding="utf-8") as file:
        head = [line for line in file if line[0] == "#"]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines([*head, *(f"{name} {reason}\n" for name, reason in sorted(reasons.items()))])


def name_of(test):
    """Without the device that onnx's runner adds: test_abs_cpu is test_abs."""
    return test.id().rpartition(".")[2].removesuffix("_cpu")


def cause(error):
    """Why a test failed, as its line in the list would say it."""
    if isinstance(error, backend.Crashed):
        return f"crashed: {error}"
    if not isinstance(error, backend.Refused):
        return "differs: " + " ".join(str(error).split())[:100]
    first = str(error).partition("; ")[0]
    return re.sub(r"^\w+: (model\.onnx: )?(node '[^']*' )?(\(\w+\): )?", "", first)[:100]


class Outcome(unittest.TestResult):
    """What came of one test: the error, where it failed."""

    error = None

    def addFailure(self, test, err):
        self.error = err[1]

    addError = addExpectedFailure = addFailure


def run_one(index):
    """In a worker, which has the tests from the process that it was forked from."""
    outcome = Outcome()
    TESTS[index].run(outcome)
    return index, outcome.error and cause(outcome.error)


class Parallel(unittest.BaseTestSuite):
    """Runs the tests in several processes and tells the one result what came of them."""

    def __init__(self, expected, jobs):
        super().__init__(TESTS)
        self.expected, self.jobs = expected, jobs
        self.causes = {}

    def run(self, result, debug=False):
        with multiprocessing.get_context("fork").Pool(self.jobs) as pool:
            for index, why in pool.imap_unordered(run_one, range(len(TESTS))):
                result.startTest(TESTS[index])
                self.judge(result, TESTS[index], why)
                result.stopTest(TESTS[index])
        return result

    def judge(self, result, test, why):
        reason = self.expected.get(name_of(test))
        if why is None:
            (result.addUnexpectedSuccess if reason else result.addSuccess)(test)
            return
        self.causes[name_of(test)] = why
        error = (AssertionError, AssertionError(why), None)
        may_be = ("crashed:",) if reason and reason.startswith("differs") else ("crashed:", "differs:")
        isExpected = reason and not why.startswith(may_be)
        (result.addExpectedFailure if isExpected else result.addFailure)(test, error)


def one_of_each():
    """The name of a test for each operator: the first that is this one node."""
    first = {}
    for _, name, model in support_table.models():
        if signed := support_table.signature(model):
            first.setdefault(signed[0], name)
    return set(first.values())


def all_tests(pattern, names=None):
    """The tests of onnx's runner for the devices that the backend supports."""
    runner = onnx.backend.test.BackendTest(backend.KilnBackend, __name__)
    loader = unittest.defaultTestLoader
    tests = [test for case in runner.test_cases.values() for test in loader.loadTestsFromTestCase(case)]
    tests = [test for test in tests if test.id().endswith("_cpu") and re.search(pattern, name_of(test))]
    return [test for test in tests if names is None or name_of(test) in names]


def check_page(failing, update):
    """Whether docs/onnx-support.md is what follows from the list of cpu; with `update`, it is made to be."""
    text = support_table.page(failing)
    if update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    with open(PAGE, encoding="utf-8") as file:
        current = file.read() == text
    if not current:
        print("docs/onnx-support.md is stale: test/onnx/run.py --page --update writes it anew")
    return current


def main():
    global TESTS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kiln", nargs="?", default="kiln", help="the compiler")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("-k", dest="pattern", default="", help="only tests whose name matches this expression")
    parser.add_argument("--one-each", action="store_true", help="only a test for each operator")
    parser.add_argument("--expected", help="the list (expected-failures/DEVICE.txt)")
    parser.add_argument("--update", action="store_true", help="write the list (old reasons stay) and the page")
    parser.add_argument("--page", action="store_true", help="run nothing, look at the page alone")
    parser.add_argument("-v", dest="verbose", action="store_true", help="show why what was expected to fail failed")
    arguments = parser.parse_args()

    path = arguments.expected or os.path.join(FOLDER, "expected-failures", arguments.device + ".txt")
    expected = read_expected(path)
    warnings.simplefilter("ignore", RuntimeWarning)  # onnx computes some wanted results through overflows
    if arguments.page:
        return 0 if check_page(expected, arguments.update) else 1
    TESTS = all_tests(arguments.pattern, one_of_each() if arguments.one_each else None)
    unknown = sorted(expected.keys() - {name_of(test) for test in TESTS})
    with tempfile.TemporaryDirectory() as folder:
        # Where onnx's runner puts the input that it makes for the light models.
        os.environ.update(KILN=arguments.kiln, KILN_DEVICE=arguments.device, ONNX_MODELS=folder)
        suite = Parallel(expected, arguments.jobs)
        result = unittest.TextTestRunner(verbosity=0).run(suite)
    print(f"{len(TESTS) - len(suite.causes)} of {len(TESTS)} tests pass on {arguments.device}")
    if arguments.verbose:
        print(*(f"{name} {why}\n" for name, why in sorted(suite.causes.items())), sep="", end="")
    if not arguments.pattern and not arguments.one_each:
        if arguments.update:
            write_expected(path, {name: expected.get(name, why) for name, why in suite.causes.items()})
            if arguments.device == "cpu":
                check_page(suite.causes, update=True)
        elif unknown:
            print("no such test:", *unknown)
            return 1
    return 0 if result.wasSuccessful() and TESTS else 1


sys.exit(main())
