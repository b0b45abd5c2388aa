"""What an installed kiln does, wherever it lies."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, env=dict(os.environ, **environment), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def check_rebuild(prefix, folder):
    """A file next to the model is part of it: if it changes, CMake builds anew, and only then."""
    os.makedirs(os.path.join(folder, "rebuilt source"))

    def write(name, text):
        with open(os.path.join(folder, "rebuilt source", name), "w") as file:
            file.write(text)

    def build():
        run("cmake", "--build", "rebuilt", cwd=folder)
        return run("rebuilt/rebuilt", cwd=folder)

    npy = os.path.join(os.path.dirname(__file__), "../e2e/npy.py")
    numbers = os.path.join(folder, "rebuilt source", "w 1.npy")
    run(sys.executable, npy, numbers, "<f4", "1", "3", cwd=folder)
    write("graph.json", '{"inputs": [], "weights": [{"name": "w", "file": "w 1.npy"}], "outputs": ["y"],'
                        ' "nodes": [{"op": "add", "inputs": ["w", "w"], "output": "y"}]}')
    write("main.c", '#include "sum.h"\n#include <stdio.h>\nint main(void) { kiln_context *context; const float *y;\n'
                    'return sum_create(NULL, &context, NULL, 0) || sum_run(context, &y) || printf("%g\\n", *y) < 0; }\n')
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(rebuilt LANGUAGES C)\nfind_package(kiln REQUIRED)\n"
                            "kiln_add_model(sum graph.json)\nadd_executable(rebuilt main.c)\n"
                            "target_link_libraries(rebuilt PRIVATE sum)\n")
    for generator in ["Unix Makefiles"] + ["Ninja"] * bool(shutil.which("ninja")):
        run("cmake", "-G", generator, "-S", "rebuilt source", "-B", "rebuilt", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
        assert build() == "6\n"
        library = os.path.join(folder, "rebuilt/sum.model/libsum.a")
        made = os.stat(library).st_mtime_ns
        assert build() == "6\n" and os.stat(library).st_mtime_ns == made, "built anew though nothing changed"
        run(sys.executable, npy, numbers, "<f4", "1", "4", cwd=folder)
        assert build() == "8\n", f"{generator}: a changed file of the model built nothing"
        run(sys.executable, npy, numbers, "<f4", "1", "3", cwd=folder)
        shutil.rmtree(os.path.join(folder, "rebuilt"))


def check_installation(prefix, source, watch, folders):
    """Has the kiln below `prefix` compile, link and run samples of `source`, with every look into `folders` forbidden, to which
    `watch`, a library, sees. CMake finds the installation."""
    with tempfile.TemporaryDirectory() as folder:
        for sample in ("dot", "mnist", "embed-c", "embed-cpp"):
            shutil.copytree(os.path.join(source, "samples", sample), os.path.join(folder, "samples", sample))
        forbidden = dict(LD_PRELOAD=watch, KILN_FORBIDDEN=":".join(folders))
        # The library itself lies in the build folder and is loaded, not opened, but this proves that it looks.
        seen = subprocess.run(["cat", os.path.join(source, "README.md")], env=dict(os.environ, **forbidden),
                              capture_output=True).returncode
        assert seen == 99, f"the watch saw nothing: {seen}"

        kiln, dot = os.path.join(prefix, "bin", "kiln"), "samples/dot/graph.json"
        assert run(kiln, "run", dot, cwd=folder, **forbidden).endswith("11\n")
        assert run(kiln, "run", dot, "--device", "c", cwd=folder, **forbidden).endswith("11\n")
        with open(os.path.join(folder, "unknown.json"), "w") as file:
            json.dump({"inputs": [{"name": "x", "dtype": "float32", "shape": [1]}],
                       "nodes": [{"op": "zzzzzzzz", "inputs": ["x"], "output": "y"}], "outputs": ["y"]}, file)
        refused = subprocess.run([kiln, "compile", "unknown.json"], cwd=folder, capture_output=True, text=True).stderr
        page = re.search(r"docs/\S+\.md", refused)
        assert page and os.path.exists(os.path.join(prefix, "share/doc/kiln", page.group())), refused
        run(sys.executable, os.path.join(source, "test/docs/check_links.py"), os.path.join(prefix, "share/doc/kiln"), cwd=folder)
        run(kiln, "compile", dot, "-o", "dot", cwd=folder, **forbidden)
        assert run("./dot", cwd=folder).endswith("11\n")
        run(kiln, "compile", dot, "--device", "c", "--emit", "source", "-o", "dot.c", cwd=folder, **forbidden)
        run(kiln, "compile", "samples/mnist/model.onnx", "--device", "c", "--emit", "obj", "-o", "mnist.o", cwd=folder,
            **forbidden)
        flags = run(kiln, "flags", cwd=folder, **forbidden)
        assert all(flag.startswith(("-I" + prefix, prefix, "-pthread", "-lm")) for flag in shlex.split(flags)), flags
        run("sh", "-c", "cc samples/embed-c/digit.c -I. mnist.o -o digit " + flags, cwd=folder)
        run("cmake", "-S", "samples/embed-cpp", "-B", "cpp", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
        run("cmake", "--build", "cpp", cwd=folder, **forbidden)
        with open(os.path.join(folder, "samples/mnist/input_0.npy"), "rb") as file:
            image = file.read()[-28 * 28 * 4:]
        for program in ("./digit", "cpp/digit"):
            printed = subprocess.run([program], cwd=folder, input=image, stdout=subprocess.PIPE).stdout
            assert printed == b"5\n", (program, printed)

        check_rebuild(prefix, folder)

        os.mkdir(os.path.join(folder, "odd"))
        with open(os.path.join(folder, "odd/CMakeLists.txt"), "w") as file:
            file.write("cmake_minimum_required(VERSION 3.16)\nproject(odd LANGUAGES C)\nfind_package(kiln REQUIRED)\n"
                       "kiln_add_model(my-dot ../samples/dot/graph.json OPTIONS --no-opt)\nadd_executable(odd odd.c)\n"
                       "target_link_libraries(odd PRIVATE my-dot)\n")
        with open(os.path.join(folder, "odd/odd.c"), "w") as file:
            file.write('#include "my-dot.h"\nint main(void) { return my_dot_create(NULL, NULL, NULL, 0) == KILN_OK; }\n')
        run("cmake", "-S", "odd", "-B", "odd/build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
        run("cmake", "--build", "odd/build", cwd=folder)
