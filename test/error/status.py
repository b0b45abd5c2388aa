#!/usr/bin/env python3
"""status.py STATUS COMMAND...: runs the command, which must end with this status, print nothing on standard output and
one line on standard error that begins with the program's name. Prints that line.

With STDOUT=FILE in the environment its standard output goes to that file. lit reads a file that a failing line was
redirected to, so for /dev/full, which has no end, only this will do."""

import contextlib
import os
import subprocess
import sys

status, *command = sys.argv[1:]
with open(os.environ["STDOUT"], "w") if "STDOUT" in os.environ else contextlib.nullcontext(subprocess.PIPE) as output:
    run = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True)
lines = run.stderr.splitlines()
print(*lines, sep="\n")
problems = []
if run.returncode != int(status):
    problems.append(f"status {run.returncode}, wanted {status}")
if run.stdout:
    problems.append(f"standard output: {run.stdout}")
if len(lines) != 1 or not lines[0].startswith(os.path.basename(command[0]) + ": "):
    problems.append("standard error is not one line of the program's")
for problem in problems:
    print(f"status.py: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
