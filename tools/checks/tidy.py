"""Runs clang-tidy over translation units.

It takes seconds per file, so a clean result is remembered by everything that it depends on: the unit's own sources, headers
and flags, the configuration and the tool. The memory is a folder of empty files in the user's cache.
"""

import concurrent.futures
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import time

CLANG_TIDY = "clang-tidy-22"
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kiln", "tidy")
MONTH = 30 * 24 * 3600


def dependencies(build):
    """ninja's record for each object: the files that its compilation read."""
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
    """The memory's key for one unit, or None if ninja does not know yet what it reads."""
    if not read:
        return None
    digest = hashlib.sha256(version)
    digest.update(unit["command"].replace(build, "BUILD").replace(root, "ROOT").encode())
    for path in [*sorted(read), *configurations(root, unit["file"])]:
        if path.startswith(root) and os.path.isfile(path):
            with open(path, "rb") as source:
                digest.update(hashlib.sha256(source.read()).digest())
    return digest.hexdigest()


def recent(root, most):
    """The sources, at most `most`, that the branch's own commits changed last; or None and the reason, if unknown.

    On the main branch these are those of its last commit.
    """

    def git(*arguments):
        run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        return run.stdout if run.returncode == 0 else None

    if not shutil.which(CLANG_TIDY):
        return None, f"there is no {CLANG_TIDY}"
    head = git("rev-parse", "HEAD")
    if head is None:
        return None, "the sources have no history"
    base = next(filter(None, (git("merge-base", "HEAD", main) for main in ("main", "origin/main"))), head)
    commits = ["-1"] if base == head else [f"{base.strip()}..HEAD"]
    changed = git("log", "--first-parent", "--no-renames", "--format=", "--name-only", "--diff-filter=AM", *commits)
    files = dict.fromkeys(path for path in (changed or "").splitlines() if path.endswith((".c", ".cpp")))
    return [path for path in files if os.path.isfile(os.path.join(root, path))][:most], ""


def check(root, build, files, seconds=None):
    """Returns the problems, one line each; `files` are paths below root, and None means every unit of the build.

    Files that are not done within `seconds` are skipped, and a line says so.
    """
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

    begin = time.monotonic()
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    known = dependencies(build)
    os.makedirs(CACHE, exist_ok=True)

    def run(path):
        name = key(root, build, units[path], known.get(output_of(units[path])), version)
        clean = os.path.join(CACHE, name) if name else None
        if clean and os.path.exists(clean):
            os.utime(clean)
            return []
        # A file that is not begun in time has none left.
        left = None if seconds is None else begin + seconds - time.monotonic()
        try:
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(CLANG_TIDY, seconds)
            done = subprocess.run([CLANG_TIDY, "-p", build, "--quiet", path], capture_output=True, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            print(f"{os.path.relpath(path, root)}: not looked at within {seconds} seconds")
            return []
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
