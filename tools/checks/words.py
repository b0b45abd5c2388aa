"""Refuses words that make a sentence hard to read: "beside" and "behind" for "next to", "as well as" and "after", "of which"
for "of these", and a sentence that begins "What ... is".

It reads the comments of sources, the docstrings of Python, and pages without their code; a word in quotes may stay. Of sources
whose strings are pages, as --help and headers, it reads these, too.
"""

import os
import re

C = (".c", ".cpp", ".h", ".td", ".def", ".mlir")
HASH = (".py", ".cmake", ".test", "CMakeLists.txt")
QUOTED = r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\[^'\n]+|[^'\\\n])'"
IN_C = re.compile(rf'R"\(.*?\)"|{QUOTED}|(?P<words>//[^\n]*|/\*.*?\*/)', re.S)
SHOWN = (
    "tools/kiln/options/OptionTable.cpp",
    "tools/kiln/options/CommandTable.cpp",
    "tools/kiln/inspect/Stats.cpp",
    "runtime/src/cli/list.c",
    "compiler/render/model/CHeader.cpp",
    "compiler/render/model/EntryPoints.cpp",
)
IN_HASH = re.compile(r'(?P<words>"""(?!\\).*?"""|(?:^|(?<=\s))\#(?!!)[^\n]*)|' + QUOTED, re.S | re.M)
COMMAND = re.compile(r"^\W*(?:[A-Z][A-Z0-9_-]+:|expected-|--- ).*$", re.M)  # of lit, FileCheck and MLIR
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.S | re.M)

INSTEAD = {
    r'(?<!")\bbeside\b': 'say "next to", "as well as" or "compared with", not "beside"',
    r'(?<!")\bbehind\b': 'say "after" or what lies where, not "behind"',
    r'(?<!")\bof (?:which|whom)\b': 'say "of these" in a sentence of its own, or "whose", not "of which"',
    r"(?:^|(?<=[.!?] ))What [^.!?:;|]*?\b(?:is|are) \w[^.!?:;|]*\.": 'begin with the subject, not with "What ... is"',
}
PATTERNS = [(re.compile(pattern, re.I if "What" not in pattern else 0), remedy) for pattern, remedy in INSTEAD.items()]


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def paragraphs(file, text):
    """Yields the line that each paragraph of a file begins on, and its lines of words."""
    if file.endswith(".md"):
        words = CODE.sub(blank, text)
    else:
        words, end = "", 0
        for match in (IN_C if file.endswith(C) else IN_HASH).finditer(text):
            words += re.sub(r"[^\n]", " ", text[end : match.start()])
            words += match[0] if match["words"] else blank(match)
            end = match.end()
        words = re.sub(r'^[ \t]*(?://+|/?\*+|#+|""")|[ \t](?://+|/\*+|#+)(?=\s)|\*/|"""', "", words, flags=re.M)
        words = COMMAND.sub("", words)
    lines = []
    for number, line in enumerate([*words.split("\n"), ""], 1):
        if line.strip() and not line.lstrip().startswith(("|", "===")):
            lines.append(line.strip())
        else:
            if lines:
                yield number - len(lines), lines
            lines = []
            if line.strip():
                yield number, [line.strip()]


def strings(text):
    """Yields the line that each string of a source in C begins on, or several that the compiler joins, and its words."""
    words, first, end = "", 1, 0
    for match in IN_C.finditer(text):
        if match["words"] or match[0].startswith("'"):
            continue
        if text[end : match.start()].strip():
            yield first, [words]
            words, first = "", text.count("\n", 0, match.start()) + 1
        words += match[0][3:-2] if match[0].startswith("R") else match[0][1:-1]
        words = re.sub(r"\\n|\n", " ", words)
        end = match.end()
    yield first, [words]


def problems_of(file, text):
    for first, lines in [*paragraphs(file, text), *(strings(text) if file in SHOWN else [])]:
        joined = " ".join(lines)
        for pattern, remedy in PATTERNS:
            for match in pattern.finditer(joined):
                line, at = first, 0
                while at + len(lines[line - first]) < match.start():
                    at += len(lines[line - first]) + 1
                    line += 1
                yield f"{file}:{line}: {remedy}"


def check(root, files):
    """Returns the problems, one line each."""
    problems = []
    for file in files:
        if not file.endswith((*C, *HASH, ".md")):
            continue
        with open(os.path.join(root, file), encoding="utf-8") as source:
            problems += problems_of(file, source.read())
    return problems
