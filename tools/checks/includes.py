"""Holds every include to the table in include-rules.txt, and finds folders and files that include each other."""

import fnmatch
import os
import re

ROOTS = ("", "compiler", "runtime/include")  # the include path, besides the including file's own folder
INCLUDE = re.compile(r'^\s*#?\s*include\s*(["<])([^">]+)[">]')


class Rules:
    """The table: which folders and libraries a folder may include."""

    def __init__(self, text):
        self.libraries = {}  # name -> prefixes of its headers
        written = {}  # folder -> words of its line
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            match = re.fullmatch(r"(\S+)\s*([:=])\s*(.*)", line)
            if line and not match:
                raise ValueError(f"include rules, line {number}: neither FOLDER : WHAT nor NAME = PREFIX")
            if match:
                (self.libraries if match[2] == "=" else written)[match[1]] = match[3].split()
        self.allowed = {}
        for folder in written:
            self._expand(folder, written, [])

    def _expand(self, folder, written, path):
        if folder in path:
            raise ValueError("include rules: " + " -> ".join([*path, folder]) + " is a cycle")
        for word in written[folder]:
            what = word.lstrip("+")
            if what not in written and what not in self.libraries:
                raise ValueError(f"include rules: {folder} names {what}, which has no line")
        if folder not in self.allowed:
            folders = [word for word in written[folder] if word.lstrip("+") in written]
            below = {word: self._expand(word.lstrip("+"), written, [*path, folder]) for word in folders}
            taken = {word.lstrip("+") for word in written[folder]}
            self.allowed[folder] = taken.union(*(below[word] for word in folders if word.startswith("+")))
        return self.allowed[folder]

    def home(self, path):
        """The line that rules a file, and the folder in the tree that it means for that file; None if no line does."""
        parts = path.split("/")
        for length in range(len(parts), 0, -1):
            for folder in self.allowed:
                pattern = folder.split("/")
                if length == len(parts) and pattern[-1] == "*":
                    continue  # a lone * means a folder, never a file
                if len(pattern) == length and all(map(fnmatch.fnmatchcase, parts, pattern)):
                    return folder, "/".join(parts[: min(length, len(parts) - 1)])
        return None

    def library(self, header):
        for name, prefixes in self.libraries.items():
            if header.startswith(tuple(prefixes)):
                return name
        return None


def resolve(root, file, header):
    """The path below root that an include means. A file that TableGen makes counts as being where its .td is."""
    for folder in (os.path.dirname(file), *ROOTS):
        path = os.path.normpath(os.path.join(folder, header))
        generated = header.endswith(".inc") and os.path.isdir(os.path.join(root, os.path.dirname(path)))
        if os.path.isfile(os.path.join(root, path)) or (generated and folder != os.path.dirname(file)):
            return path
    return None


def includes_of(root, file):
    with open(os.path.join(root, file), encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if match := INCLUDE.match(line):
                yield number, match[1] == '"', match[2]


def cycles(edges):
    """Every strongly connected part of more than one node (Tarjan), each as a sorted list."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in edges.get(node, ()):
            if after not in index:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], index[after])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def check(root, files, table):
    """Returns the problems, one line each."""
    try:
        rules = Rules(table)
    except ValueError as error:
        return [str(error)]
    problems, file_edges, folder_edges = [], {}, {}
    for file in files:
        home = rules.home(file)
        if not home:
            problems.append(f"{file}: no line of the include rules covers it")
            continue
        line, own = home
        allowed = rules.allowed[line]
        for number, quoted, header in includes_of(root, file):
            where, library = f"{file}:{number}", rules.library(header)
            target = resolve(root, file, header)
            if library and not target:
                if library not in allowed:
                    problems.append(f"{where}: {line} may not include {library} (<{header}>)")
                continue
            if not target:
                if quoted:
                    problems.append(f'{where}: no "{header}" in the tree and no library of the include rules')
                continue
            to = rules.home(target)
            if not to:
                problems.append(f'{where}: no line of the include rules covers "{header}"')
            elif to[1] != own and to[0] not in allowed:
                problems.append(f'{where}: {line} may not include {to[0]} ("{header}")')
            file_edges.setdefault(file, []).append(target)
            here, there = os.path.dirname(file), os.path.dirname(target)
            nested = here == there or here.startswith(there + "/") or there.startswith(here + "/")
            if not nested:
                folder_edges.setdefault(here, []).append(there)
    problems += ["files include each other: " + ", ".join(part) for part in cycles(file_edges)]
    problems += ["folders include each other: " + ", ".join(part) for part in cycles(folder_edges)]
    return problems
