"""Refuses the name of an instruction of Products.def as a string in any other source of the compiler, the passes and the
runtime, so that no part of kiln has a list of instructions of its own.
"""

import os
import re

TABLE = "compiler/ir/base/Products.def"
FOLDERS = ("compiler/", "passes/", "runtime/")
KINDS = (".c", ".cpp", ".h", ".def")


def check(root, files):
    """Returns the problems of the given files, relative to the root, one a line."""
    with open(os.path.join(root, TABLE), encoding="utf-8") as table:
        names = re.findall(r'^KILN_PRODUCT\w*\("([^"]+)"', table.read(), re.M)
    if not names:
        return [f"{TABLE}: has no rows"]
    string = re.compile('"(' + "|".join(map(re.escape, names)) + ')"')
    problems = []
    for file in files:
        if not file.startswith(FOLDERS) or not file.endswith(KINDS) or file == TABLE:
            continue
        with open(os.path.join(root, file), encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                if match := string.search(line):
                    problems.append(f'{file}:{number}: names instruction "{match[1]}": ask a row of {TABLE} instead')
    return problems
