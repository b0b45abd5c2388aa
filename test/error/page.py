#!/usr/bin/env python3
"""page.py PAGE: runs every command of docs/errors.md in the repository's root. Each must end as its section's title says,
with status 1 unless it names another, print one line on standard error and nothing else, and leave no file."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check(command, status):
    before = set(os.listdir(ROOT))
    run = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != status:
        yield f"status {run.returncode}, wanted {status}"
    if run.stdout:
        yield f"standard output: {run.stdout}"
    if len(run.stderr.splitlines()) != 1 or not run.stderr.startswith("kiln: "):
        yield f"not one line: {run.stderr}"
    if left := set(os.listdir(ROOT)) - before:
        yield f"left behind: {left}"


def main():
    count, wrong, status = 0, 0, 1
    with open(sys.argv[1], encoding="utf-8") as page:
        for line in page:
            if line.startswith("#"):
                named = re.search(r"\(status (\d)\)", line)
                status = int(named[1]) if named else 1
            elif line.startswith("$ "):
                count += 1
                for problem in check(line[2:].strip(), status):
                    print(f"{line.strip()}: {problem}", file=sys.stderr)
                    wrong += 1
    print(f"{count} commands")
    return 1 if wrong or not count else 0


sys.exit(main())
