#!/usr/bin/env python3
"""interrupt.py SIGNAL FOLDER COMMAND...: runs the command with a C compiler that never ends, and sends the signal when
that has begun. The signal must end the command, the compiler and what the compiler started, and leave FOLDER as it is."""

import os
import signal
import subprocess
import sys
import tempfile
import time


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not (value := what()) and time.monotonic() < end:
        time.sleep(0.02)
    return value


def runs(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


name, folder, *command = sys.argv[1:]
number = getattr(signal, name)
problems = []
with tempfile.TemporaryDirectory() as tools:
    begun = os.path.join(tools, "begun")
    compiler = os.path.join(tools, "cc")
    with open(compiler, "w") as script:
        script.write(f'#!/bin/sh\nsleep 600 &\ntouch output\necho $$ $! > {begun}.new\nmv {begun}.new {begun}\nwait\n')
    os.chmod(compiler, 0o755)
    before = set(os.listdir(folder))
    environment = {**os.environ, "PATH": tools + os.pathsep + os.environ["PATH"]}
    # Who starts the tests may have told them to ignore it.
    kiln = subprocess.Popen(command, env=environment, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    if not wait_for(lambda: os.path.exists(begun)):
        problems.append("the compiler has not begun")
        children = []
    else:
        with open(begun) as text:
            children = text.read().split()
    kiln.send_signal(number)
    if not wait_for(lambda: kiln.poll() is not None):
        kiln.kill()
    if kiln.wait() != -number:
        problems.append(f"ended with {kiln.returncode}")
    for child in children:
        if not wait_for(lambda: not runs(child), seconds=10):
            problems.append(f"process {child} still runs")
            os.kill(int(child), signal.SIGKILL)
    if left := set(os.listdir(folder)) - before:
        problems.append(f"left behind: {sorted(left)}")
print(*problems, sep="\n")
sys.exit(1 if problems else 0)
