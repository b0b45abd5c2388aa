#!/usr/bin/env python3
"""Verifies every model of the suite on one device.

One suite for all devices: what a device cannot do yet stands in its list, and a model there that verifies is an error.
"""

import glob
import os
import subprocess
import sys

EXPECTED_FAILURES = {"cpu": {"gather"}, "c": {"gather"}, "opencl": {"gather"}, "interp": {"gather"}}
# Sizes of a benchmark.
SKIPPED = {"matmul"}


def main():
    kiln, device, *options = sys.argv[1:]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders = [folder
               for pattern in ("samples/*", "test/models/*", "test/e2e/composites/*", "test/e2e/control-flow/*")
               for folder in sorted(glob.glob(os.path.join(root, pattern)))
               if os.path.basename(folder) not in SKIPPED
               and glob.glob(os.path.join(folder, "*.onnx")) + glob.glob(os.path.join(folder, "*.json"))]
    wrong = []
    for folder in folders:
        name = os.path.basename(folder)
        command = [kiln, "verify", folder, "--device", device, *options]
        run = subprocess.run(command, capture_output=True, text=True)
        expected = 1 if name in EXPECTED_FAILURES[device] else 0
        if run.returncode != expected:
            wrong.append(name)
            print(f"{name}: status {run.returncode}", run.stdout, run.stderr, sep="\n")
    print(f"{len(folders) - len(wrong)} of {len(folders)} models are as expected on {device}")
    return 1 if wrong or not folders else 0


sys.exit(main())
