#!/usr/bin/env python3
"""Checks that what a page shows is what the commands print.

A block fenced as ```console holds commands, each on a line that begins with "$ ", and what each prints. The commands of a
page run one after another in a folder of its own that has the repository's samples/ and test/, by a shell, with kiln's
programs on the path; standard error counts too.

usage: check_page.py BIN_FOLDER PAGE...            compare; exit 1 with a diff where a block is stale
       check_page.py --update BIN_FOLDER PAGE...   write what the commands print into the pages
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.S | re.M)


def run(command, bin_folder, folder):
    environment = dict(os.environ, PATH=bin_folder + os.pathsep + os.environ["PATH"])
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.stdout


def render(body, bin_folder, folder):
    commands = [line for line in body.splitlines() if line.startswith("$ ")]
    if not commands:
        raise SystemExit("a console block without a command")
    text = ""
    for command in commands:
        printed = "\n".join(line.rstrip() for line in run(command[2:], bin_folder, folder).rstrip("\n").splitlines())
        text += command + "\n" + (printed + "\n" if printed else "")
    return text


def rewrite(page, bin_folder):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("docs", "samples", "test"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        return BLOCK.sub(lambda block: block[1] + render(block[2], bin_folder, folder) + block[3], page)


def main(arguments):
    update = arguments[:1] == ["--update"]
    if update:
        arguments = arguments[1:]
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    bin_folder, stale = os.path.abspath(arguments[0]), False
    for page in arguments[1:]:
        with open(page, encoding="utf-8") as file:
            old = file.read()
        if not BLOCK.search(old):
            raise SystemExit(f"{page}: no console block to check")
        new = rewrite(old, bin_folder)
        if update:
            with open(page, "w", encoding="utf-8") as file:
                file.write(new)
        elif new != old:
            stale = True
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, "as printed"))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
