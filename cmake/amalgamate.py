#!/usr/bin/env python3
"""amalgamate.py RUNTIME FOLDER: the runtime of compiled models as FOLDER/kiln.c and FOLDER/kiln.h, all of a program but its
model as FOLDER/program.c, and the runtime without an operating system as FOLDER/freestanding.c.

kiln.h is the public headers that a model's C needs. kiln.c is all sources of the runtime, of the host's functions and of the
CPU as a device, program.c the same with the command line of compiled models; each included header is written once where it
is first included. Sources stay unchanged: no two may give one name to two things, which the compiler notices.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^#include "(.*)"$')
PUBLIC = ("types", "kiln", "plan", "program", "call")
LIBRARY = ("src", "src/call", "src/call/image", "src/call/pcre2", "device/cpu")
SOURCES = {"kiln.c": LIBRARY, "program.c": (*LIBRARY, "src/cli"), "freestanding.c": ("src/ports.c", "freestanding")}
HEAD = {
    "kiln.h": "/* kiln.h: what C that kiln compiled models to is compiled against, made by kiln. */",
    "kiln.c": """/* kiln.c: the runtime of compiled models, made by kiln.
 * Compile it once for all models of a program, as C11: cc -std=c11 -O2 -c kiln.c; link -lm and -pthread.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* before the first header of the system; its functions are optional */
#endif
#include "kiln.h\"""",
}
HEAD["freestanding.c"] = """/* kiln.c: the runtime of compiled models without an operating system, made by kiln.
 * Compile it once for all models of a program, as C11.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln.h\""""
HEAD["program.c"] = HEAD["kiln.c"].replace("kiln.c: the runtime of compiled models", "program.c: all of a program but its model")


class Amalgamation:
    def __init__(self, runtime, known=()):
        self.runtime, self.seen, self.lines = runtime, set(known), []

    def resolve(self, name, folder):
        """A file's place by how another of `folder` includes it."""
        for base in (folder, os.path.join(self.runtime, "include")):
            path = os.path.normpath(os.path.join(base, name))
            if os.path.exists(path):
                return path
        raise SystemExit(f"amalgamate.py: {folder}: no file {name}")

    def add(self, path):
        if path in self.seen:
            return
        self.seen.add(path)
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                included = INCLUDE.match(line)
                if included:
                    self.add(self.resolve(included[1], os.path.dirname(path)))
                elif not re.match(r"#define _(GNU|POSIX_C)_SOURCE\b", line):
                    self.lines.append(line)

    def write(self, path):
        text = "\n".join([HEAD[os.path.basename(path)], *self.lines]) + "\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    runtime, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    header = Amalgamation(runtime)
    for name in PUBLIC:
        header.add(os.path.join(runtime, "include", "kiln", name + ".h"))
    header.write(os.path.join(folder, "kiln.h"))
    for name, parts in SOURCES.items():
        source = Amalgamation(runtime, header.seen)
        for part in parts:
            place = os.path.join(runtime, part)
            files = [place] if os.path.isfile(place) else [os.path.join(place, name) for name in sorted(os.listdir(place))]
            for file in files:
                if file.endswith(".c"):
                    source.add(file)
        source.write(os.path.join(folder, name))


main()
