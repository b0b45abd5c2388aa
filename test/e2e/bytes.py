"""bytes.py KILN FOLDER...: prints what each model moves under both policies; fails where the default moves more."""
import glob
import re
import subprocess
import sys
import tempfile


def megabytes(kiln, model, policy):
    with tempfile.TemporaryDirectory() as folder:
        command = [kiln, "compile", model, "--stats", "--schedule", policy, "--mcpu", "x86-64-v3", "-o", folder + "/out",
                   "--emit", "obj"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    launches, moved = re.search(r"(\d+) launches .*MFLOP, ([\d.]+) MB moved", text).groups()
    return int(launches), float(moved)


worse = 0
print(f"{'model':32}{'classic':>20}{'default':>20}")
for folder in sys.argv[2:]:
    for model in sorted(glob.glob(folder + "/*/model.onnx") + glob.glob(folder + "/*/graph.json")):
        classic, default = (megabytes(sys.argv[1], model, policy) for policy in ("classic", "default"))
        isWorse = default[1] > classic[1]
        worse += isWorse
        print(f"{model.split('/')[-2]:32}" + "".join(f"{n:6} {mb:10.3f} MB" for n, mb in (classic, default)) +
              ("  MORE" if isWorse else ""))
print(f"{worse} models move more by default than under the classic policy")
sys.exit(worse != 0)
