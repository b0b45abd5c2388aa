#!/usr/bin/env python3
"""compile_suite.py KILN: compiles the kernels of every model of the suite for two architectures and as PTX. Whether they
compute what they should only a GPU can tell: tools/test-cuda."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import suite

kiln = sys.argv[1]
count, wrong = 0, 0
with tempfile.TemporaryDirectory() as folder:
    for model in suite.models():
        command = [kiln, "compile", suite.model_in(model), "--device", "cuda", "--gpu-arch", "sm_80,sm_90a"]
        run = subprocess.run([*command, "-o", os.path.join(folder, "model")], capture_output=True, text=True)
        count += 1
        if run.returncode:
            wrong += 1
            print(f"{os.path.basename(model)}: status {run.returncode}", run.stdout, run.stderr, sep="\n")
print(f"{count - wrong} of {count} models compile")
sys.exit(1 if wrong or not count else 0)
