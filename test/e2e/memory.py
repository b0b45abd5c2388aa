"""memory.py KILN FOLDER...: prints the arena of each model and the bytes that live at one time, at the default sizes and at
others, under both policies; fails if the arena takes more than 5 % above that."""
import glob
import re
import subprocess
import sys
import tempfile

OTHERS = (3, 17, 60)  # for each symbol of a model


def stats(kiln, model, policy, sizes):
    with tempfile.TemporaryDirectory() as folder:
        command = [kiln, "compile", model, "--stats", "--schedule", policy, "--mcpu", "x86-64-v3", "-O0", "--emit", "obj",
                   "-o", folder + "/out"] + [f"--dim={name}=1..{size},default={size}" for name, size in sizes.items()]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    arena, live = re.search(r"temporaries ([\d.]+) kB, at most ([\d.]+) kB", text).groups()
    symbols = re.search(r"MB moved(?: at (.*))?", text).group(1)
    return float(arena), float(live), [part.split(" = ")[0] for part in symbols.split(", ")] if symbols else []


worse = 0
print(f"{'model':24}{'policy':10}{'sizes':10}{'arena':>14}{'live':>14}")
for folder in sys.argv[2:]:
    for model in sorted(glob.glob(folder + "/*/model.onnx") + glob.glob(folder + "/*/graph.json")):
        for policy in "default", "classic":
            arena, live, symbols = stats(sys.argv[1], model, policy, {})
            rows = [("default", arena, live)]
            for size in OTHERS if symbols else ():
                rows.append((size, *stats(sys.argv[1], model, policy, dict.fromkeys(symbols, size))[:2]))
            for sizes, arena, live in rows:
                isWorse = arena > 1.05 * live
                worse += isWorse
                print(f"{model.split('/')[-2]:24}{policy:10}{sizes!s:10}{arena:11.3f} kB{live:11.3f} kB" +
                      ("  MORE" if isWorse else ""), flush=True)
print(f"{worse} arenas are more than 5 % above what lives at one time")
sys.exit(worse != 0)
