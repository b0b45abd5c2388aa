"""Who is timed: kiln's compiled program, and a peer in a process of its own. Both have the same face:

guess()           about how many seconds a run takes
turn(runs)        that many runs after each other: (the median seconds of one, CPU seconds of one)
store(folder)     writes the outputs there
facts             "first": seconds from the start to the first output, "peak": bytes resident at most, …
"""

import collections
import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time

import machine

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
MEDIAN = re.compile(r"^median ([0-9.]+) (us|ms|s)", re.M)
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1}
LIMIT = 900  # seconds for one thing asked
SAMPLE = 0.005  # seconds between two looks at a process's memory

Run = collections.namedtuple("Run", "output errors seconds cpu")


class Failed(Exception):
    """What a contestant said when it could not; one line."""


def compiled_name(version, model, flags):
    """What is made of a model for this CPU by a compiler is called so: another name where it would be another."""
    made_by = hashlib.sha256(repr((tuple(flags), machine.cpu())).encode()).hexdigest()[:12]
    return version + os.path.abspath(model).replace(os.sep, "-") + "-" + made_by


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "ended without a word"


def run(command, watch=None, environment=None):
    """Runs a command to its end; `watch`, a function of its process id, is called again and again meanwhile, and
    `environment` is added to ours."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=out, stderr=errors, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
        )
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        pid = 0
        while not pid:  # Popen.wait() would not say how much CPU time it took
            if watch:
                watch(process.pid)
                time.sleep(SAMPLE)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG if watch else 0)
        seconds = time.perf_counter() - begin
        limit.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode < 0:
            raise Failed(f"{os.path.basename(command[0])} ended by signal {-process.returncode} after {seconds:.0f} s")
        if process.returncode:
            raise Failed(last_line(errors.read()))
        return Run(out.read(), errors.read(), seconds, usage.ru_utime + usage.ru_stime)


def run_and_watch(command):
    """(a Run, the most bytes that were resident). Not rusage's: that knows no less than the process that started it."""
    peak = 0

    def look(pid):
        nonlocal peak
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            found = re.search(r"^VmHWM:\s*(\d+)", status.read(), re.M)
            peak = int(found.group(1)) * 1024 if found else peak  # a process that has ended has no memory

    return run(command, look), peak


class Program:
    """A model that kiln compiled."""

    WARM_UPS = 10  # of --bench, at most as many as runs
    STARTS = 3
    SLOW = 1  # second, from which one start is enough

    def __init__(self, program, inputs, threads):
        self.command, self.threads = [program, *inputs, f"--threads={threads}"], threads
        starts = [run(self.command)]
        while len(starts) < self.STARTS and starts[-1].seconds < self.SLOW:
            starts.append(run(self.command))
        self.once = sorted(start.cpu for start in starts)[len(starts) // 2]
        first = sorted(start.seconds for start in starts)[len(starts) // 2]
        runs, peak = min(100, int(1 / first)) if first < self.SLOW else 0, 0
        while not peak:  # a program can end before it is looked at
            _, peak = run_and_watch([*self.command, *([f"--bench={runs}"] if runs else [])])
            runs *= 10
        self.facts = {"first": first, "peak": peak}

    def guess(self):
        first = self.facts["first"]
        return first if first > self.SLOW else self.turn(3)[0]

    def turn(self, runs):
        bench = run([*self.command, f"--bench={runs}"])
        number, unit = MEDIAN.search(bench.output).groups()
        seconds, cpu = float(number) * SECONDS[unit], (bench.cpu - self.once) / (runs + min(runs, self.WARM_UPS))
        # Lost in what a start takes, where large inputs are drawn: then it is what it can be at most.
        return seconds, cpu if cpu > 0 else seconds * self.threads

    def launches(self, runs):
        """(DEBUG=2's lines, of how many runs they are)"""
        log = run([*self.command, f"--bench={runs}"], environment={"DEBUG": "2"}).errors
        return log, 1 + min(runs, self.WARM_UPS) + runs

    def store(self, folder):
        run([*self.command, "--output-dir", folder])

    def close(self):
        pass


class Worker:
    """A peer, held by worker.py."""

    def __init__(self, python, name, model, threads, precision="f32"):
        self.log = tempfile.TemporaryFile("w+")
        command = [python, WORKER, name, model, str(threads), precision]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        self.facts = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            raise Failed(last_line(self.log.read()))
        return json.loads(line)

    def ask(self, **order):
        try:
            print(json.dumps(order), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # read() says why
        return self.read()

    def guess(self):
        return self.turn(2)[0]

    def turn(self, runs):
        took = self.ask(runs=runs)
        return took["median"], took["cpu"]

    def store(self, folder):
        self.ask(store=folder)

    def compare(self, folder):
        """How far the outputs in `folder` are from its own."""
        return self.ask(compare=folder)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
