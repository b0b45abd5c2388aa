#!/usr/bin/env python3
"""compile_c.py KILN COMPILER...: the C of every model of the suite is clean under the compilers' warnings."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
import suite

FLAGS = "-std=c11 -O1 -Wall -Wextra -Werror -fwrapv -ffp-contract=off -x c -c - -o /dev/null".split()

kiln, *compilers = sys.argv[1:]
include = os.path.join(os.path.dirname(os.path.dirname(kiln)), "lib", "kiln", "include")
count, wrong = 0, 0
for folder in suite.models():
    run = subprocess.run([kiln, "compile", suite.model_in(folder), "--device", "c", "--emit", "render"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        continue  # verify.py says whether that is expected
    for compiler in compilers:
        count += 1
        check = subprocess.run([compiler, "-I", include, *FLAGS], input=run.stdout, capture_output=True, text=True)
        if check.returncode != 0:
            wrong += 1
            print(f"{folder}: {compiler}", check.stderr, sep="\n")
print(f"{count - wrong} of {count} are clean")
sys.exit(1 if wrong or not count else 0)
