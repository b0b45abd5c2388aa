#!/usr/bin/env python3
"""Verifies every model of the suite on one device.

One suite for all devices: what a device cannot do yet stands in its list, and a model there that verifies is an error.
"""

import glob
import os
import subprocess
import sys

# Sums of 1024 products round further than the default tolerance where they nearly cancel.
OPTIONS = {"matmul": ["--atol", "1e-3"]}
EXPECTED_FAILURES = {"cpu": set(), "c": set(), "opencl": set(), "interp": set()}


def main():
    kiln, device, *options = sys.argv[1:]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders = [folder
               for pattern in ("samples/*", "test/models/*", "test/e2e/composites/*", "test/e2e/control-flow/*")
               for folder in sorted(glob.glob(os.path.join(root, pattern)))
               if glob.glob(os.path.join(folder, "*.onnx")) + glob.glob(os.path.join(folder, "*.json"))]
    wrong = []
    for folder in folders:
        name = os.path.basename(folder)
        command = [kiln, "verify", folder, "--device", device, *OPTIONS.get(name, []), *options]
        run = subprocess.run(command, capture_output=True, text=True)
        expected = name not in EXPECTED_FAILURES[device]
        if (run.returncode == 0) != expected:
            wrong.append(name)
            print(f"{name}: status {run.returncode}", run.stdout, run.stderr, sep="\n")
    print(f"{len(folders) - len(wrong)} of {len(folders)} models are as expected on {device}")
    return 1 if wrong or not folders else 0


sys.exit(main())
