"""What a table says of the machine that it was measured on."""

import os
import re
import subprocess

FEATURES = (("amx_tile", "AMX"), ("avx512f", "AVX-512"), ("avx2", "AVX2"))


def cpu():
    """(model name, the widest vectors), as Linux tells them."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    found = re.search(r"^model name\s*: (.*)", text, re.M)
    flags = re.search(r"^(?:flags|Features)\s*: (.*)", text, re.M)
    words = flags.group(1).split() if flags else []
    widest = next((name for flag, name in FEATURES if flag in words), "")
    return (found.group(1) if found else os.uname().machine), widest


def name():
    words = re.sub(r"\((R|TM)\)|@.*", "", " ".join(cpu()))
    return "-".join(re.findall(r"[a-z0-9]+", words.lower()))


def facts():
    model, widest = cpu()
    return {"cpu": f"{model} with {widest}" if widest else model, "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def commit(root):
    said = subprocess.run(["git", "-C", root, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return said.stdout.strip() or "of no commit"
