"""Runs clang-tidy over translation units.

It takes seconds a file, so a clean result is remembered by what it depends on: the unit's own sources, headers and
flags, the configuration and the tool. The memory is a folder of empty files in the user's cache.
"""

import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import time

CLANG_TIDY = "clang-tidy-22"
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kiln", "tidy")
MONTH = 30 * 24 * 3600


def dependencies(build):
    """What ninja recorded of each object: the files that its compilation read."""
    run = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    found, current = {}, None
    for line in run.stdout.splitlines():
        if line.startswith(" "):
            current.append(os.path.normpath(os.path.join(build, line.strip())))
        elif ": #deps" in line:
            current = found.setdefault(line.split(": #deps")[0], [])
    return found


def output_of(unit):
    words = shlex.split(unit["command"])
    return words[words.index("-o") + 1]


def configurations(root, file):
    """The .clang-tidy files that hold for a file, from its folder up to the root."""
    folder = os.path.dirname(file)
    while folder.startswith(root):
        candidate = os.path.join(folder, ".clang-tidy")
        if os.path.isfile(candidate):
            yield candidate
        folder = os.path.dirname(folder)


def key(root, build, unit, read, version):
    """The memory's key for one unit, or None where ninja does not know yet what it reads."""
    if not read:
        return None
    digest = hashlib.sha256(version)
    digest.update(unit["command"].replace(build, "BUILD").replace(root, "ROOT").encode())
    for path in [*sorted(read), *configurations(root, unit["file"])]:
        if path.startswith(root) and os.path.isfile(path):
            with open(path, "rb") as source:
                digest.update(hashlib.sha256(source.read()).digest())
    return digest.hexdigest()


def check(root, build, files):
    """Returns the problems, one line each; `files` are paths below root, and None means every unit of the build."""
    database = os.path.join(build, "compile_commands.json")
    if not os.path.isfile(database):
        return [f"no {database}: configure first, cmake --preset release"]
    with open(database, encoding="utf-8") as text:
        units = {unit["file"]: unit for unit in json.load(text)}
    outside = [path for path in units if path.startswith(build) or not path.startswith(root)]
    for path in outside:
        del units[path]
    if files is not None:
        wanted = {os.path.join(root, file) for file in files}
        units = {path: unit for path, unit in units.items() if path in wanted}

    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    known = dependencies(build)
    os.makedirs(CACHE, exist_ok=True)

    def run(path):
        name = key(root, build, units[path], known.get(output_of(units[path])), version)
        clean = os.path.join(CACHE, name) if name else None
        if clean and os.path.exists(clean):
            os.utime(clean)
            return []
        done = subprocess.run([CLANG_TIDY, "-p", build, "--quiet", path], capture_output=True, text=True)
        if done.returncode == 0:
            if clean:
                open(clean, "w", encoding="utf-8").close()
            return []
        said = (done.stdout or done.stderr).replace(root + "/", "").rstrip().splitlines()
        return [line for line in said if ": error: " in line or ": warning: " in line] or said

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [line for lines in pool.map(run, sorted(units)) for line in lines]
    for entry in os.scandir(CACHE):
        if entry.stat().st_mtime < time.time() - MONTH:
            os.remove(entry.path)
    return problems
