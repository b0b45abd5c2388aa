#!/usr/bin/env python3
"""verify.py KILN DEVICE [OPTION...]: verifies every model of the suite on one device.

One suite for all devices: what a device cannot do yet stands in its list, and a model there that verifies is an error.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
import suite

EXPECTED_FAILURES = {"cpu": set(), "c": set(), "opencl": set(), "interp": set()}

# Other sizes than the stored ones: the same compiled program, random inputs, against the graph interpreter.
SIZES = {
    "bert_tiny": ("batch=1,seq=1", "batch=3,seq=40", "batch=2,seq=0"),
    "gpt2_tiny": ("batch=1,seq=1,past=0", "batch=3,seq=7,past=5", "batch=0,seq=2,past=2"),
    "magika_v2_1": ("unk__132=1",),
    "mobilenet_v3_tiny": ("batch=1", "batch=3"),
}
# What takes minutes.
SLOW = {"interp": {"magika_v2_1"}}

kiln, device, *options = sys.argv[1:]
count, wrong = 0, 0
for folder in suite.models():
    name = os.path.basename(folder)
    if name in SLOW.get(device, ()):
        continue
    sizes = [f"--at={sizes}" for sizes in SIZES.get(name, ())]
    run = subprocess.run([kiln, "verify", folder, "--device", device, *sizes, *options], capture_output=True, text=True)
    count += 1
    if run.returncode != (1 if name in EXPECTED_FAILURES[device] else 0):
        wrong += 1
        print(f"{name}: status {run.returncode}", run.stdout, run.stderr, sep="\n")
print(f"{count - wrong} of {count} models are as expected on {device}")
sys.exit(1 if wrong or not count else 0)
