#!/usr/bin/env python3
"""hostile_names.py KILN RUNTIME: whether what a stranger calls things in a model stays text.

Every name in the model is an attack on some reader of kiln's output: code after the end of a comment or string, a line of a
preprocessor, a command of a shell, a format of printf, a command of a terminal, half a character. Each attack that succeeds
makes the file `injected`, or shows as code or bytes that no reader of that language may meet. Runs in the current folder;
ends with the first fault.
"""

import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "error", "models"))
from onnx_file import FLOAT, field, fields, node, tensor  # noqa: E402

CALL = 'int system(const char*);__attribute__((constructor))static void evil%d(void){system("echo >injected");}'
NAMES = [
    "*/" + CALL % 1 + "/*",
    "*\\\n/" + CALL % 2 + "/*",
    "*??/\n/" + CALL % 3 + "/*",
    "\n" + CALL % 4 + "\n",
    '"; ' + CALL % 5 + ' char*s="',
    "\n#error injected\n#include \"/dev/tty\"\r\n",
    "%s%n%d%%",
    "$(echo >injected)`echo >injected`;echo >injected",
    "</title><script>injected</script>--><![CDATA[&lt;]]>&#0;&nosuch;",
    "\x1b]0;injected\x07\x1b[2J\u009b31m\u202einjected\u2028",
    b"\x9b31m\xff\xc0\xaf\xed\xa0\x80",
    "\\", "'\"?", "//", "/*", "int", "main", "a-b", "a.b", "a_b", "a_b_2", "", " ", "..", "../../injected",
    "--n", "2n", "n\0*/n", "n" * 5000, "kiln_rt_fail", "NULL", "é" * 30,
]


def raw(name):
    return name if isinstance(name, bytes) else name.encode()


def dimension(size):
    return field(1, size) if isinstance(size, int) else field(2, raw(size))


def value(name, shape, dtype=FLOAT):
    tensor_type = field(1, dtype) + field(2, fields(1, [dimension(size) for size in shape]))
    return field(1, raw(name)) + field(2, field(1, tensor_type))


def strings(name, values):
    return field(1, name) + fields(9, values) + field(20, 8)


def integers(name, values):
    return field(1, name) + fields(8, values) + field(20, 7)


def model(names, domain):
    """Per name: an input with a size of that name, through an operator and a function to an output."""
    nodes, inputs, outputs, weights, functions = [], [], [], [], []
    for number, name in enumerate(names):
        name = raw(name)
        tail = b"" if name else b"0"  # "" is no tensor
        x, w, e, y = (kind + name + tail for kind in (b"x", b"w", b"e", b""))
        inputs.append(value(x, [name + tail, 3]))
        weights.append(tensor(w, [3, 2], struct.pack("<6f", *range(len(weights), len(weights) + 6))))
        nodes.append(node("Exp", [x], [e], b"exp" + name))
        nodes.append(node(b"f" + name, [e, w], [y], b"call" + name, domain))
        outputs.append(value(y, [name + tail, 2]))
        body = node("MatMul", ["a", "b"], [b"c" + name], b"product" + name)
        body_end = node("Relu", [b"c" + name], ["d"], name)
        functions.append(field(1, b"f" + name) + fields(4, ["a", "b"]) + field(5, "d") + fields(7, [body, body_end]) +
                         field(9, field(2, 17)) + field(10, domain) + field(8, name))
    first, second = raw(names[0]), raw(names[1])
    nodes.append(node("Add", [b"x" + first, b"x" + second], [b"sum"], b"%d%n*/ sum"))  # of sizes that may be equal
    outputs.append(value("sum", [first, 3]))
    graph = fields(1, nodes) + field(2, raw(names[0])) + fields(5, weights) + field(10, raw(names[1]))
    graph += fields(11, inputs) + fields(12, outputs)
    opsets = [field(2, 17), field(1, domain) + field(2, 1)]
    metadata = [field(1, raw(name)) + field(2, raw(name)) for name in names]
    return (field(1, 8) + fields(8, opsets) + fields(2, [raw(names[0])]) + field(6, raw(names[1])) + field(7, graph) +
            fields(14, metadata) + fields(25, functions))


def labels(names):
    """Strings as data: an input, a table and an output."""
    attributes = [integers("keys_int64s", range(len(names))), strings("values_strings", [raw(name) for name in names]),
                  string_attribute("default_string", names[0])]
    nodes = [node("NonZero", ["x"], ["places"], raw(names[0])),
             node("LabelEncoder", ["places"], [raw(names[9])], raw(names[0]), "ai.onnx.ml", attributes)]
    graph = fields(1, nodes) + field(11, value("x", [len(names)])) + field(12, value(names[9], [1, "*/n"], 8))
    opsets = [field(2, 17), field(1, "ai.onnx.ml") + field(2, 2)]
    return field(1, 8) + fields(8, opsets) + field(7, graph)


def string_attribute(name, text):
    return field(1, name) + field(4, raw(text)) + field(20, 3)


def check(holds, *what):
    if not holds:
        sys.exit(" ".join(str(one) for one in what))


def run(*command, status=0, **options):
    done = subprocess.run([os.fsencode(word) for word in command], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=300, **options)
    check(status is None or done.returncode == status, command, "ended with", done.returncode, done.stderr[-3000:])
    check(not os.path.exists("injected"), command, "ran what the model has for a name")
    return done


def only_text(text, where):
    """What a terminal may be sent."""
    try:
        shown = text.decode("utf-8")
    except UnicodeDecodeError as error:
        sys.exit(f"{where}: {error}")
    wrong = [c for c in shown if not c.isprintable() and c != "\n"]
    check(not wrong, where, "has", wrong[:5])
    return shown


def code_of(text):
    """C without what is in its comments and strings, as its first phases of translation read it."""
    text = text.replace("??/", "\\").replace("\\\n", "")
    token = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(token, " ", text, flags=re.S)


def check_c(text, where):
    shown = only_text(text, where)
    check(shown.isascii(), where, "has letters that are not ASCII")
    code = code_of(shown)
    found = re.search(r'\bsystem\b|\bevil\d\b|\binjected\b|/\*|\*/|"|\\', code)
    check(not found, where, "has code:", found and code[max(0, found.start() - 80):found.end() + 80])


MAIN = r"""
#include "hostile.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  static kiln_tensor inputs[64], outputs[64];
  static _Alignas(64) float data[64][64];
  kiln_context *context;
  char error[512];
  kiln_port_info info;
  int in = 0, out = 0;
  if (hostile_create(NULL, &context, error, sizeof error))
    return puts(error), 1;
  for (; hostile_input(in, &info) == KILN_OK; in++) {
    inputs[in] = (kiln_tensor){.data = data[in], .dtype = info.dtype, .rank = info.rank};
    for (int i = 0; i < info.rank; i++)
      inputs[in].dims[i] = info.dims[i] < 0 ? 2 : info.dims[i];
  }
  while (hostile_output(out, &info) == KILN_OK)
    out++;
  if (hostile_run_tensors(context, inputs, in, outputs, out))
    return puts(hostile_error(context)), 1;
  for (int i = 0; i < out; i++)
    printf("%g\n", ((const float *)outputs[i].data)[1]);
  hostile_destroy(context);
  return 0;
}
"""
STRICT = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wcomment", "-Wtrigraphs", "-Wformat", "-Werror", "-fwrapv",
          "-ffp-contract=off", "-I."]


def check_sources(kiln, file):
    """What compilers read; the source bundle and a program that includes the header, built and run."""
    for device in ("c", "opencl", "cuda"):
        check_c(run(kiln, "compile", file, "--device", device, "--emit", "render").stdout, device)
    for device in ("c", "cpu", "opencl"):
        run(kiln, "compile", file, "--device", device, "--emit", "header", "--name", "hostile", "-o", "alone.h")
        with open("alone.h", "rb") as header:
            check_c(header.read(), "header")
    run(kiln, "compile", file, "--device", "c", "--emit", "source", "--name", "hostile", "-o", "hostile.c")
    for name in ("hostile.c", "hostile.h"):
        with open(name, "rb") as source:
            check_c(source.read(), name)
    with open("main.c", "w") as source:
        source.write(MAIN)
    for compiler in ("gcc", "clang-22"):
        run(compiler, *STRICT, "main.c", "hostile.c", "kiln.c", "-lm", "-pthread", "-o", "bundle")
        run("./bundle")
    with open("main.cpp", "w") as source:
        source.write('#include "hostile.h"\nint main() { return 0; }\n')
    run("clang-22", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", "main.cpp")
    opencl = run(kiln, "compile", file, "--device", "opencl", "--emit", "render").stdout
    with open("kernels.cl", "wb") as source:
        source.write(opencl)
    run("clang-22", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "kernels.cl")


def check_artefacts(kiln, file):
    """Programs and libraries of the devices that can be linked here."""
    for device in ("cpu", "c"):
        run(kiln, "compile", file, "--device", device, "-o", "program")
        for options in (["--list"], ["--help"], ["--random"], ["--random", "--profile"], [], ["--at", "nosuch=1"]):
            wrong = not options or "--at" in options
            done = run("./program", *options, status=2 if wrong else 0)
            only_text(done.stdout + done.stderr, f"program {options}")
        only_text(run("./program", "--random", env=dict(os.environ, DEBUG="2")).stderr, "DEBUG=2 ./program")
        run("./program", "--random", "--profile=trace.json")
        with open("trace.json", encoding="utf-8") as trace:
            check(len(json.load(trace)["traceEvents"]) > 10, "no events")
        with open("trace.json", encoding="utf-8") as trace:
            check("<" not in trace.read(), "the trace has a tag")
        for kind in ("obj", "shared", "static"):
            run(kiln, "compile", file, "--device", device, "--emit", kind, "--name", "hostile", "-o", "hostile." + kind)
        run("gcc", *STRICT, "main.c", "hostile.static", "-lm", "-pthread", "-o", "linked")
        run("./linked")
        run(kiln, "compile", file, "--device", device, "--weights", "w.safetensors", "-o", "light")
        with open("w.safetensors", "rb") as weights:
            header = weights.read(struct.unpack("<Q", weights.read(8))[0])
        check(len(json.loads(header.decode("utf-8"))) > 10, "few weights")
        run("./light", "--weights", "w.safetensors", "--random")
    with open("assembly.s", "wb") as assembly:
        assembly.write(run(kiln, "compile", file, "--emit", "asm").stdout)
    run("clang-22", "-c", "assembly.s", "-o", "assembly.o")
    with open("module.ll", "wb") as module:
        text = run(kiln, "compile", file, "--emit", "llvm").stdout
        only_text(text, "--emit llvm")
        module.write(text)
    run("llvm-as", "module.ll", "-o", "module.bc")


def check_dumps(kiln, file):
    """Every stage is text that goes back in, and gives the same bytes."""
    whole = run(kiln, "compile", file, "--emit", "lower", "--device", "c").stdout
    for stage in ("import", "view", "schedule", "optimize", "lower"):
        run(kiln, "compile", file, "--device", "c", "--emit", stage, "-o", "dump.mlir")
        with open("dump.mlir", "rb") as dump:
            only_text(dump.read(), stage)
        check(run(kiln, "compile", "dump.mlir", "--emit", "lower").stdout == whole, "another module after", stage)
    only_text(run(kiln, "compile", file, "--emit", "opts", "-o", "opts").stdout, "opts")
    run(kiln, "compile", file, "--opts", "opts", "--emit", "lower", "-o", "again.mlir")


def check_what_is_shown(kiln, file, names):
    done = run(kiln, "compile", file, "--stats", "-o", "shown")
    only_text(done.stdout + done.stderr, "--stats")
    nodes = [b"exp" + raw(name) for name in names if b"\0" not in raw(name)]  # no argument holds a 0
    done = run(kiln, "compile", file, "--why", "*", *(b"--why=" + node for node in nodes))
    only_text(done.stdout + done.stderr, "--why")
    run(kiln, "compile", file, "--graph", "graph.dot")
    only_text(open("graph.dot", "rb").read(), "graph.dot")
    run("dot", "-Tcanon", "graph.dot")
    run(kiln, "compile", file, "--graph", "graph.svg")
    for element in xml.etree.ElementTree.parse("graph.svg").iter():
        tag = element.tag.rsplit("}", 1)[-1]
        check(tag in ("svg", "g", "title", "polygon", "path", "text", "ellipse", "polyline"), "graph.svg has", tag)
    for device in ("cpu", "c", "interp"):
        for level in ("0", "2", "5"):
            done = run(kiln, "run", file, "--device", device, "--random", "--debug", level, "--log-level", "info")
            only_text(done.stdout + done.stderr, f"run on {device} with --debug {level}")
    done = run(kiln, "verify", file)
    only_text(done.stdout + done.stderr, "verify")


def main():
    kiln = sys.argv[1]
    file = 'm"\'\\$(echo >injected)`echo >injected`*\n#error injected\n\x1b[2J%s.onnx'
    with open(file, "wb") as out:
        out.write(model(NAMES, raw(NAMES[8])))
    with open("labels.onnx", "wb") as out:
        out.write(labels(NAMES))
    check_sources(kiln, file)
    check_artefacts(kiln, file)
    check_dumps(kiln, file)
    check_what_is_shown(kiln, file, NAMES)
    for device in ("cpu", "c"):
        done = run(kiln, "run", "labels.onnx", "--device", device, "--random")
        check("script" in only_text(done.stdout + done.stderr, "labels"), "no labels are shown")


main()
