"""Checks that tests never run what is compiled for one CPU: another machine may lack it. Levels that nearly all have, such
as x86-64-v3, and the interpreter may run."""

import os
import re
import shlex

PORTABLE = re.compile(r"x86-64(-v[23])?$|native$|generic$")
FOREIGN = ("--target", "qemu")  # another machine runs these


def named_cpu(words):
    """The CPU that a command compiles for, if few machines have it; of a list a machine picks what it has."""
    for word, following in zip(words, words[1:] + [""]):
        cpu = following if word == "--mcpu" else word.partition("--mcpu=")[2]
        if cpu and not any(PORTABLE.match(one) for one in cpu.split(",")):
            return cpu
    return None


def commands(text):
    """The commands of a test's RUN lines, with the lines' numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\W*RUN: (.*)", line):
            for command in re.split(r"&&|\||;", match[1]):
                try:
                    yield number, shlex.split(command)
                except ValueError:
                    yield number, command.split()


def problems_of(text):
    """The problems of a test, each with its line's number."""
    made = {}  # files that were compiled for one CPU
    for number, words in commands(text):
        cpu = named_cpu(words)
        if any(word.startswith(FOREIGN) for word in words):
            continue
        if cpu and "interp" not in words and "%kiln" in words[:-1] and words[words.index("%kiln") + 1] in ("run", "verify"):
            yield number, f"runs what is compiled for {cpu}"
        if cpu and "-o" in words[:-1]:
            made[words[words.index("-o") + 1]] = cpu
        if words and words[0] in made:
            yield number, f"runs {words[0]}, which is compiled for {made[words[0]]}"


def check(root, files):
    """Returns the problems of the tests among the files, one line each."""
    problems = []
    for file in files:
        if not file.startswith("test/") or not file.endswith((".test", ".mlir")):
            continue
        with open(os.path.join(root, file), encoding="utf-8") as test:
            problems += [f"{file}:{number}: {problem}: leave --mcpu out, or give x86-64-v3"
                         for number, problem in problems_of(test.read())]
    return problems
