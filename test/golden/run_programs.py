#!/usr/bin/env python3
"""run_programs.py KILN KILN-GOLDEN FILE: verifies every program of a schedule file, under both policies."""

import glob
import os
import subprocess
import sys
import tempfile

kiln, golden, file = sys.argv[1:]
count, wrong = 0, 0
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([golden, "programs", file, folder], check=True)
    for program in sorted(glob.glob(os.path.join(folder, "*.mlir"))):
        for policy in "classic", "default":
            command = [kiln, "verify", program, "--device", "interp", "--schedule", policy]
            run = subprocess.run(command, capture_output=True, text=True)
            count += 1
            if run.returncode:
                wrong += 1
                print(os.path.basename(program), policy, run.stdout, run.stderr, sep="\n")
print(f"{count - wrong} of {count} runs agree with the graph interpreter")
sys.exit(1 if wrong or not count else 0)
