"""Where the models of the benchmark come from: folders with model.onnx, input_0.npy … and output_0.npy …, which are
exported or quantised once and kept, or given."""

import hashlib
import os
import shutil
import subprocess
import sys

import environments

HERE = os.path.dirname(os.path.abspath(__file__))
MNIST = os.path.join(HERE, "..", "..", "..", "samples", "mnist")
EXPORTED = (
    "resnet50",
    "mobilenet_v2",
    "mobilenet_v3",
    "efficientnet_b0",
    "convnext_tiny",
    "squeezenet1_1",
    "regnet_y_400mf",
    "swin_t",
    "vit_b_16",
    "bert",
    "distilbert",
    "gpt2",
    "gpt2_decode",
    "whisper_tiny_encoder",
    "lstm_speech",
)
NAMES = (*EXPORTED, "mnist")
# The same for any batch, or any batch and length, which fixed ones are to be compared with.
ANY = ("resnet50_any", "mobilenet_v2_any", "efficientnet_b0_any", "convnext_tiny_any", "bert_any", "gpt2_any")
# With bytes for numbers: of a model that is exported and the kind that quantize.py makes of it.
STATIC = ("resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16", "bert")
QUANTIZED = {f"{name}_{kind}": (name, kind) for name in STATIC for kind in ("u8", "s8")}
QUANTIZED |= {f"{name}_dynamic": (name, "dynamic") for name in ("bert", "gpt2")}
# And with weights of 4 bits, which quantize_bits.py makes.
BITS = ("bits4", "bits4_rounded")
QUANTIZED |= {f"gpt2_{kind}": ("gpt2", kind) for kind in BITS}
KNOWN = (*NAMES, *ANY, *QUANTIZED)


def is_folder(name):
    return os.path.exists(os.path.join(name, "model.onnx"))


def digest(paths):
    contents = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            contents.update(file.read())
    return contents.hexdigest()


def make(script, arguments, python):
    command = [python, os.path.join(HERE, script), *arguments]
    made = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if made.returncode:
        sys.exit(f"{script} {' '.join(arguments)} failed:\n{made.stderr}")


def export(name, batch, folder, cache):
    make("export.py", [name, str(batch), folder], environments.python_of(cache, "exporter", environments.make_exporter))


def quantizer_of(kind):
    return "quantize_bits.py" if kind in BITS else "quantize.py"


def quantize(name, batch, folder, cache):
    source, kind = QUANTIZED[name]
    python = environments.python_of(cache, "peers", environments.make_peers)
    environments.add_peers(python, environments.QUANTIZER)
    make(quantizer_of(kind), [kind, folder_of(source, batch, cache), folder], python)


def folder_of(name, batch, cache):
    """The folder of a model; None where it has no such batch."""
    if is_folder(name):
        return name if batch == 1 else None
    if name == "mnist":
        return MNIST if batch == 1 else None
    folder = os.path.join(cache, "models", f"{name}-b{batch}")
    quantizer = (quantizer_of(QUANTIZED[name][1]),) if name in QUANTIZED else ()
    scripts = ("export.py", "networks.py", "weights.py", *quantizer)
    recipe = digest([os.path.join(HERE, file) for file in scripts])
    stamp = os.path.join(folder, "recipe")
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            if file.read() == recipe:
                return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    print(f"making {name}, batch {batch}", file=sys.stderr)
    (quantize if name in QUANTIZED else export)(name, batch, folder, cache)
    with open(stamp, "w", encoding="ascii") as file:
        file.write(recipe)
    return folder
