"""The models that every device is tested with."""

import glob
import os

# Sizes of a benchmark.
SKIPPED = {"matmul"}


def models():
    """The folders, each with one model and perhaps with inputs and outputs."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    patterns = ["samples/*", "test/models/*", "test/e2e/recipes"]
    for pattern in patterns + [f"test/e2e/{kind}/*" for kind in ("classical", "composites", "control-flow", "microsoft", "quantized")]:
        for folder in sorted(glob.glob(os.path.join(root, pattern))):
            if os.path.basename(folder) not in SKIPPED and model_in(folder):
                yield folder


def model_in(folder):
    files = [file for kind in ("*.onnx", "*.json") for file in glob.glob(os.path.join(folder, kind))]
    return files[0] if files else None
