"""bytes.py KILN FOLDER...: prints the bytes and operations of each model under both policies; fails if the default moves
more and computes no less: a value that is computed once, rather than before each product, is written and read again. Bytes
are counted without opts, since layouts may want an input copied."""
import glob
import re
import subprocess
import sys
import tempfile


def stats(kiln, model, policy, *options):
    with tempfile.TemporaryDirectory() as folder:
        command = [kiln, "compile", model, "--stats", "--schedule", policy, "--mcpu", "x86-64-v3", "-o", folder + "/out",
                   "--emit", "obj", *options]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+) launch(?:es)? .* MFLOP, ([\d.]+) MB moved", text)
    # What the model asks for, and the rest: where there is a mask it is asked in each step.
    kernels = [line.split("[")[0].split() for line in text.splitlines()[1:] if re.match(r"[Er]\d*_\S* +[\d.]+ +[\d.]+ ", line)]
    return int(found[1]), float(found[2]), sum(float(kernel[1]) + float(kernel[2]) for kernel in kernels) / 1000


def measures(kiln, model, policy):
    launches, megabytes, _ = stats(kiln, model, policy, "--no-opt")
    return launches, megabytes, stats(kiln, model, policy)[2]


worse = 0
print(f"{'model':32}{'classic':>37}{'default':>37}")
for folder in sys.argv[2:]:
    for model in sorted(glob.glob(folder + "/*/model.onnx") + glob.glob(folder + "/*/graph.json")):
        classic, default = (measures(sys.argv[1], model, policy) for policy in ("classic", "default"))
        isWorse = default[1] > classic[1] and default[2] >= classic[2]
        worse += isWorse
        print(f"{model.split('/')[-2]:32}" + "".join(f"{n:6} {mb:10.3f} MB {mflop:10.3f} MFLOP" for n, mb, mflop in (classic, default)) +
              ("  MORE" if isWorse else ""))
print(f"{worse} models move more by default than under the classic policy, and compute as much")
sys.exit(worse != 0)
