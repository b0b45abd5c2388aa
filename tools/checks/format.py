"""Holds the C and C++ sources to .clang-format."""

import subprocess

CLANG_FORMAT = "clang-format-22"


def check(root, files, fix=False):
    """Returns the problems, one line each; with `fix`, mends the files instead."""
    if not files:
        return []
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    run = subprocess.run([CLANG_FORMAT, *mode, *files], cwd=root, capture_output=True, text=True)
    lines = [line for line in run.stderr.splitlines() if "clang-formatted" in line]
    if run.returncode and not lines:
        return run.stderr.splitlines() or [f"{CLANG_FORMAT} ended with status {run.returncode}"]
    unformatted = dict.fromkeys(line.split(":")[0] for line in lines)
    return [f"{file}: not formatted; run tools/check format --fix" for file in unformatted]
