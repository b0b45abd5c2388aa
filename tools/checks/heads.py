"""Holds long files to opening with their problem: a comment of some lines before the first line of code.

It is enough that a file or its header does. The same holds for the parts of something that is split into several files, as
HostBuilder.cpp and HostControl.cpp, if each includes the header that they share, HostProgram.h, before all others.
"""

import os
import re

import includes

LONG = 150  # lines of a file that has to have a head
ENOUGH = 3  # lines of words that make one, besides the line with the file's name
KINDS = (".cpp", ".h", ".c", ".td", ".def")


def head(text):
    """The number of lines with words in the comment that opens a file, besides the line with its name."""
    lines, inside = 0, False
    for line in map(str.strip, text.splitlines()):
        if not inside and not line.startswith(("//", "/*")):
            break
        lines += bool(re.search(r"[^\W_]", line)) and not line.startswith(("//===", "/*==="))
        inside = (inside or line.startswith("/*")) and "*/" not in line
    return lines


def words(path):
    """The words of a file's name: Host and Builder of HostBuilder.cpp."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", stem)


def headers(root, file):
    """The headers that may open for a file: its own, and one in its folder that it shares and includes first."""
    own = os.path.splitext(file)[0] + ".h"
    if own != file and os.path.isfile(os.path.join(root, own)):
        yield own
    first = next(includes.includes_of(root, file), None)
    shared = includes.resolve(root, file, first[2]) if first and first[1] else None
    if shared and shared != own and os.path.dirname(shared) == os.path.dirname(file):
        if words(shared)[:1] == words(file)[:1]:
            yield shared


def check(root, files):
    """Returns the problems, one line each."""

    def read(file):
        with open(os.path.join(root, file), encoding="utf-8") as source:
            return source.read()

    problems = []
    for file in files:
        text = read(file)
        if file.endswith(KINDS) and text.count("\n") >= LONG and head(text) < ENOUGH:
            if not any(head(read(header)) >= ENOUGH for header in headers(root, file)):
                problems.append(
                    f"{file}: {text.count(chr(10))} lines that do not open with their problem; begin the file, or its "
                    f"header, with a comment of {ENOUGH} to 8 lines that tells it"
                )
    return problems
