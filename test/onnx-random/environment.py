"""Goes on in a Python that has onnx and ONNX Runtime: the one that tools/setup made, or the one that runs this."""

import importlib.util
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.path.join(ROOT, ".setup", "onnx", "bin", "python3")
NOT_RUN = 77  # CTest shows it as skipped


def enter():
    """Ends the process if no Python has them: as a failure if KILN_TEST_REQUIRE names onnxruntime."""
    sys.dont_write_bytecode = True
    if all(importlib.util.find_spec(name) for name in ("numpy", "onnx", "onnxruntime")):
        return
    if os.path.exists(PYTHON) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(PYTHON))):
        os.execv(PYTHON, [PYTHON, *sys.argv])
    print("Python lacks numpy, onnx or onnxruntime; install them, as `.setup/onnx/bin/pip install onnxruntime` does")
    sys.exit(1 if "onnxruntime" in os.environ.get("KILN_TEST_REQUIRE", "").split() else NOT_RUN)
