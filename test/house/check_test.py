"""Each of the checks of tools/check finds what it is there to find, in a tree made for it."""

import json
import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECKS = os.path.join(ROOT, "tools", "checks")
sys.path.insert(0, CHECKS)
import commits
import cpus
import format as formatting
import heads
import includes
import instructions
import passes
import tidy
import words

with open(os.path.join(CHECKS, "include-rules.txt"), encoding="utf-8") as table:
    RULES = table.read()


class Tree(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, files):
        for path, text in files.items():
            path = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return list(files)


class Includes(Tree):
    def problems(self, files, table=RULES):
        return includes.check(self.root, self.write(files), table)

    def refuses(self, files, *words):
        problems = self.problems(files)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_accepts_what_the_table_allows(self):
        files = {
            "compiler/support/Error.h": '#include "llvm/Support/Error.h"\n',
            "compiler/view/View.h": '#include "support/Error.h"\n#include <vector>\n',
            "compiler/ir/graph/Graph.h": '#include "ir/graph/GraphOps.h.inc"\n#include "mlir/IR/Dialect.h"\n',
            "passes/view/FoldReshape.cpp": '#include "passes/Passes.h.inc"\n#include "ir/graph/Graph.h"\n',
            "passes/view/FoldReshape.h": "",
            "passes/Pipeline.cpp": '#include "passes/view/FoldReshape.h"\n',
            "runtime/include/kiln/kiln.h": "#include <stdint.h>\n",
            "runtime/src/model.c": '#include "kiln/kiln.h"\n#include "thread_pool.h"\n',
            "runtime/src/thread_pool.h": "",
            "runtime/device/c/CSource.cpp": '#include "render/kernel/CStyle.h"\n',
            "compiler/render/kernel/CStyle.h": "",
        }
        self.assertEqual(self.problems(files), [])

    def test_refuses_a_layer_above(self):
        above = {"compiler/view/View.cpp": '#include "ir/Graph.h"\n', "compiler/ir/Graph.h": ""}
        self.refuses(above, "compiler/view/View.cpp:1", "compiler/ir")

    def test_refuses_another_stage(self):
        stages = {"passes/view/A.cpp": '\n#include "passes/lower/B.h"\n', "passes/lower/B.h": ""}
        self.refuses(stages, "passes/view/A.cpp:2", "passes/*")

    def test_refuses_a_library_out_of_place(self):
        self.refuses({"compiler/view/View.cpp": '#include "mlir/IR/Value.h"\n'}, "may not include mlir")
        self.refuses({"compiler/import/Model.cpp": "#include <CLI/CLI.hpp>\n"}, "may not include cli")

    def test_holds_the_runtime_to_c(self):
        leak = {"runtime/src/model.c": '#include "support/Error.h"\n', "compiler/support/Error.h": ""}
        self.refuses(leak, "runtime/src", "compiler/support")

    def test_tells_a_devices_two_halves_apart(self):
        halves = {"runtime/device/c/load.c": '#include "render/kernel/CStyle.h"\n', "compiler/render/kernel/CStyle.h": ""}
        self.refuses(halves, "runtime/device/*", "compiler/render")

    def test_refuses_another_device(self):
        devices = {"runtime/device/c/Table.h": '#include "runtime/device/cpu/Table.h"\n'}
        self.refuses(devices | {"runtime/device/cpu/Table.h": ""}, "runtime/device/*/[A-Z]* may not include")

    def test_reads_tablegen_includes(self):
        tables = {"compiler/ir/graph/Graph.td": 'include "passes/Passes.td"\n', "passes/Passes.td": ""}
        self.refuses(tables, "compiler/ir/graph/Graph.td:1", "passes")

    def test_refuses_a_header_that_is_not_there(self):
        self.refuses({"compiler/view/View.cpp": '#include "view/Veiw.h"\n'}, "view/Veiw.h")

    def test_refuses_a_folder_without_a_line(self):
        self.refuses({"compiler/misc/Thing.h": ""}, "compiler/misc/Thing.h", "no line")

    def test_finds_cycles(self):
        files = {"compiler/view/A.h": '#include "view/B.h"\n', "compiler/view/B.h": '#include "view/A.h"\n'}
        self.refuses(files, "files include each other", "A.h", "B.h")
        folders = {
            "compiler/ir/graph/A.h": '#include "ir/host/B.h"\n',
            "compiler/ir/host/B.h": "",
            "compiler/ir/host/C.h": '#include "ir/graph/A.h"\n',
        }
        self.refuses(folders, "folders include each other", "compiler/ir/graph", "compiler/ir/host")

    def test_checks_the_table_itself(self):
        self.assertIn("cycle", self.problems({}, "a : +b\nb : +a\n")[0])
        self.assertIn("has no line", self.problems({}, "a : nowhere\n")[0])
        self.assertIn("line 2", self.problems({}, "a :\na b c\n")[0])


class Format(Tree):
    def test_finds_and_mends_what_is_not_formatted(self):
        shutil.copy(os.path.join(ROOT, ".clang-format"), self.root)
        files = self.write({"compiler/a.cpp": "int  f( ) {return 1 ;}\n", "compiler/b.cpp": "int g();\n"})
        problems = formatting.check(self.root, files)
        self.assertEqual(len(problems), 1)
        self.assertIn("compiler/a.cpp", problems[0])
        self.assertEqual(formatting.check(self.root, files, fix=True), [])
        self.assertEqual(formatting.check(self.root, files), [])


class Instructions(Tree):
    def test_refuses_names_outside_of_the_table(self):
        rows = 'KILN_PRODUCT("dota", X86, 1)\nKILN_PRODUCT_LISTED("dotb.ymm", Arm, 2)\n'
        files = {
            instructions.TABLE: rows,
            "compiler/a.cpp": 'f("dota");\nf("dotc", "dotb_ymm");\n',
            "passes/b.h": '\nf("dotb.ymm");\n',
            "tools/c.cpp": 'f("dota");\n',
        }
        problems = instructions.check(self.root, self.write(files))
        self.assertEqual([problem.split(": ")[0] for problem in problems], ["compiler/a.cpp:1", "passes/b.h:2"])

    def test_refuses_a_table_without_rows(self):
        self.assertEqual(len(instructions.check(self.root, self.write({instructions.TABLE: "// none\n"}))), 1)


class Cpus(unittest.TestCase):
    def lines_of(self, text):
        return [number for number, _ in cpus.problems_of(text)]

    def test_refuses_to_run_on_one_cpu(self):
        self.assertEqual(self.lines_of("RUN: %kiln compile m.onnx --mcpu znver3 --emit opts\n"
                                       "RUN: mkdir %t && %kiln verify m.onnx --mcpu znver3\n"), [2])
        self.assertEqual(self.lines_of("// RUN: %kiln run m.onnx --mcpu=sapphirerapids | FileCheck %s\n"), [1])

    def test_refuses_to_run_a_program_for_one_cpu(self):
        self.assertEqual(self.lines_of("RUN: %kiln compile m.onnx --mcpu znver4 -o %t/m\nRUN: %t/m --random\n"), [2])

    def test_allows_what_runs_anywhere(self):
        self.assertEqual(self.lines_of("RUN: %kiln verify m.onnx --mcpu x86-64-v3\n"
                                       "RUN: %kiln verify m.onnx --mcpu znver3 --device interp\n"
                                       "RUN: %kiln run m.onnx --mcpu x86-64-v4,x86-64\n"), [])


class Heads(Tree):
    NAME, HEAD, CODE = "//===- A.cpp - A ---===//\n", "// One.\n// Two.\n// Three.\n", "int a;\n" * 150

    def problems(self, files):
        return heads.check(self.root, self.write(files))

    def test_accepts_a_head_in_either_style_and_short_files_without(self):
        c = "/*===- a.c - A ---===\n *\n * One.\n * Two.\n * Three.\n *===---===*/\n"
        files = {"a.cpp": self.NAME + self.HEAD + self.CODE, "a.c": c + self.CODE, "b.h": "int b;\n" * 149}
        self.assertEqual(self.problems(files), [])

    def test_refuses_a_long_file_without_one(self):
        self.assertIn("a.cpp: 150 lines", self.problems({"a.cpp": self.CODE})[0])
        for head in (self.NAME + "// One.\n// Two.\n", "//\n" * 3, "/* One. */\n", "#pragma once\n" + self.HEAD):
            self.assertEqual(len(self.problems({"a.td": head + self.CODE})), 1, head)

    def test_takes_the_head_of_the_header(self):
        self.assertEqual(self.problems({"x/a.cpp": self.CODE, "x/a.h": self.HEAD}), [])
        self.assertEqual(len(self.problems({"x/a.cpp": self.CODE, "x/a.h": "int a;\n"})), 1)

    def test_takes_the_head_of_a_header_that_parts_share(self):
        def host(part, header):
            files = {f"x/{part}.cpp": f'#include "x/{header}.h"\n' + self.CODE, f"x/{header}.h": self.HEAD}
            return self.problems(files)

        self.assertEqual(host("HostBuilder", "HostProgram"), [])
        self.assertEqual(len(host("HostBuilder", "Program")), 1)
        later = {"x/HostLoop.cpp": '#include "x/Other.h"\n#include "x/HostProgram.h"\n' + self.CODE, "x/Other.h": ""}
        self.assertEqual(len(self.problems(later)), 1)


class Passes(Tree):
    DEFINED = 'def FoldReshape : Pass<"x", "y"> {\n  let summary = "z";\n  let description = [{\n    a\n    ⇒ b\n  }];\n}\n'
    HEAD = "// Stage: view.\n// Expects: a.\n// Guarantees: b.\n// Position: first.\n#include <x>\n"

    def problems(self, defined=DEFINED, head=HEAD, test="fold-reshape.mlir"):
        tree = {"passes/Passes.td": defined, "passes/view/FoldReshape.cpp": head, f"test/lit/view/{test}": ""}
        files = self.write(tree)
        return passes.check(self.root, "passes/Passes.td", files)

    def test_accepts_a_pass_that_explains_itself(self):
        self.assertEqual(self.problems(), [])

    def test_wants_what_it_makes_of_what(self):
        self.assertIn("⇒ AFTER", self.problems(defined=self.DEFINED.replace("⇒", "to"))[0])

    def test_wants_each_label_at_the_beginning_of_a_line(self):
        problem = self.problems(head=self.HEAD.replace("\n// Expects", " Expects"))
        self.assertEqual(len(problem), 1)
        self.assertIn("begins with Expects:", problem[0])

    def test_wants_a_file_for_each_pass(self):
        self.assertIn("FoldPad", self.problems(defined=self.DEFINED.replace("FoldReshape", "FoldPad"))[0])

    def test_wants_a_test_of_its_name(self):
        self.assertEqual(self.problems(test="fold-reshape.test"), [])
        self.assertIn("no test of its name", self.problems(test="reshapes.mlir")[0])

    def test_finds_a_table_without_passes(self):
        self.assertEqual(len(self.problems(defined="")), 1)


QUOTE = '"'  # three of them here would be a docstring


class Words(Tree):
    def problems(self, files):
        return words.check(self.root, self.write(files))

    def test_refuses_each_of_the_words_in_comments_and_pages(self):
        sentences = ("It lies beside\n{}it.", "That\n{}behind it.", "Three, of\n{}which one.", "What it reads is\n{}bytes.")
        begins = {"a.cpp": "// ", "a.c": " * ", "a.td": "// ", "a.py": "# ", "CMakeLists.txt": "# ", "a.md": ""}
        for said in sentences:
            for file, begin in begins.items():
                text = f"{begin}{said.format(begin)}\n"
                text = f"/* A.\n{text} */\n" if file == "a.c" else text
                self.assertEqual(len(self.problems({file: text})), 1, (file, text))

    def test_names_the_line_of_the_word(self):
        self.assertIn("a.cpp:3: ", self.problems({"a.cpp": "int a;\n// One\n// two beside\n"})[0])
        self.assertIn("a.py:2: ", self.problems({"a.py": f'{3 * QUOTE}One.\nTwo behind.{3 * QUOTE}\n'})[0])
        self.assertIn("a.cpp:1: ", self.problems({"a.cpp": 'f("// x", 1); // three behind\n'})[0])

    def test_reads_the_strings_of_help_as_the_compiler_joins_them(self):
        text = 'int a;\nf("One,"\n  " of "\n  "which two.", "three");\n'
        self.assertIn("OptionTable.cpp:2: ", self.problems({"tools/kiln/options/OptionTable.cpp": text})[0])
        self.assertEqual(self.problems({"tools/kiln/options/Other.cpp": text}), [])

    def test_leaves_code_strings_and_commands_alone(self):
        texts = {
            "a.cpp": 'std::string beside = "behind"; // besides, not "beside"\n',
            "a.md": "`behind` and\n```\nbeside\n```\nWhat is it? What it is: a model. It is what is read.\n",
            "a.py": 'beside = "behind # beside"\n',
            "a.mlir": "// CHECK: behind\n// expected-error {{behind}}\n",
            "a.npy": "beside",
        }
        self.assertEqual(self.problems(texts), [])


class Commits(Tree):
    def test_accepts_one_clause_and_a_body(self):
        self.assertEqual(commits.problems_of("Fold a pad\n\nIt was copied; now it is not.\n# comment; of git\n"), [])

    def test_refuses_what_is_no_subject_of_one_change(self):
        wrong = {
            "Fold; b": "two clauses",
            "Fold " + "a" * 66: "71 characters",
            "Fold a.": "full stop",
            "": "no subject",
            "Fold\nb": "empty line",
            "A pad is folded": "does not begin with a verb",
        }
        for message, word in wrong.items():
            found = commits.problems_of(message)
            self.assertEqual(len(found), 1, message)
            self.assertIn(word, found[0])

    def test_looks_at_the_commits_that_are_not_upstream(self):
        def git(*arguments):
            self.assertEqual(commits.git(self.root, *who, *arguments).returncode, 0, arguments)

        who = ("-c", "user.name=a", "-c", "user.email=a", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
        self.assertEqual(commits.check(self.root), [])
        git("init", "-q", "-b", "up")
        git("commit", "-q", "--allow-empty", "-m", "Fold; and done")
        self.assertEqual(len(commits.check(self.root)), 1)
        git("checkout", "-q", "-b", "own", "--track", "up")
        self.assertEqual(commits.check(self.root), [])
        for subject in ("Fold one", "Fold two; three", "Fold four"):
            git("commit", "-q", "--allow-empty", "-m", subject)
        self.assertEqual(len(commits.check(self.root)), 1)


class Tidy(Tree):
    def problems(self, name, text, seconds=None):
        shutil.copy(os.path.join(ROOT, ".clang-tidy"), self.root)
        build = os.path.join(self.root, "build")
        file = os.path.join(self.root, name)
        unit = {"directory": self.root, "file": file, "command": f"clang++-22 -std=c++20 -o a.o -c {file}"}
        self.write({name: text, "build/compile_commands.json": json.dumps([unit])})
        return tidy.check(self.root, build, None, seconds)

    def test_finds_a_likely_bug(self):
        problems = self.problems("compiler/a.cpp", "double half(int a) { return a / 2; }\n")
        self.assertIn("bugprone-integer-division", problems[0])

    def test_finds_a_name_out_of_style(self):
        problems = self.problems("compiler/b.cpp", "int Half_of(int a) { return a / 2; }\n")
        self.assertIn("readability-identifier-naming", problems[0])

    def test_reads_our_headers_but_not_generated_ones(self):
        bad = "inline int Half_of(int a) { return a / 2; }\n"
        self.write({"compiler/ours.h": bad, "compiler/made.h.inc": bad})
        self.assertEqual(self.problems("compiler/d.cpp", '#include "made.h.inc"\n'), [])
        self.assertIn("ours.h", self.problems("compiler/d.cpp", '#include "ours.h"\n')[0])

    def test_knows_what_the_last_commits_changed(self):
        def commit(subject, *paths):
            self.write({path: subject for path in paths})
            who = ("-c", "user.name=a", "-c", "user.email=a", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
            commits.git(self.root, "add", "-A")
            self.assertEqual(commits.git(self.root, *who, "commit", "-q", "-m", subject).returncode, 0)

        self.assertIn("no history", tidy.recent(self.root, 5)[1])
        commits.git(self.root, "init", "-q", "-b", "main")
        commit("one", "a.cpp", "b.cpp", "c.md")
        commit("two", "b.cpp", "d.h")
        self.assertEqual(tidy.recent(self.root, 5), (["b.cpp"], ""))
        commits.git(self.root, "checkout", "-q", "-b", "own")
        commit("three", "a.cpp", "e.c")
        commit("four", "f.cpp")
        self.assertEqual(tidy.recent(self.root, 5)[0], ["f.cpp", "a.cpp", "e.c"])
        self.assertEqual(tidy.recent(self.root, 2)[0], ["f.cpp", "a.cpp"])
        os.remove(os.path.join(self.root, "f.cpp"))
        self.assertEqual(tidy.recent(self.root, 1)[0], ["a.cpp"])

    def test_ends_in_time(self):
        problems = self.problems("compiler/a.cpp", "double half(int a) { return a / 2; }\n", seconds=0)
        self.assertEqual(problems, [])

    def test_passes_clean_code(self):
        self.assertEqual(self.problems("compiler/c.cpp", "int half(int a) { return a / 2; }\n"), [])

    def test_remembers_by_content(self):
        def key(root, files, command="clang++ -c ROOT/compiler/a.cpp"):
            self.root = root
            self.write(files)
            unit = {"file": f"{root}/compiler/a.cpp", "command": command.replace("ROOT", root)}
            read = [f"{root}/compiler/a.cpp", f"{root}/compiler/a.h"]
            return tidy.key(root, f"{root}/build", unit, read, b"22")

        files = {"compiler/a.cpp": '#include "a.h"\n', "compiler/a.h": "int a;\n", ".clang-tidy": "Checks: x\n"}
        first, second = os.path.join(self.root, "first"), os.path.join(self.root, "second")
        self.assertEqual(key(first, files), key(second, files))
        self.assertNotEqual(key(first, files), key(second, files | {"compiler/a.h": "int b;\n"}))
        self.assertNotEqual(key(first, files), key(second, files | {".clang-tidy": "Checks: y\n"}))
        self.assertNotEqual(key(first, files), key(second, files, "clang++ -DX -c ROOT/compiler/a.cpp"))
        self.assertIsNone(tidy.key(first, f"{first}/build", {"file": "a.cpp", "command": ""}, None, b"22"))

    def test_needs_a_build(self):
        self.assertIn("configure first", tidy.check(self.root, os.path.join(self.root, "nowhere"), None)[0])


if __name__ == "__main__":
    unittest.main()
