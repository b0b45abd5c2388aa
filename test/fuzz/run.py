#!/usr/bin/env python3
"""run.py FUZZER CORPUS [--runs N] [--seconds N] [--seed N]: runs a libFuzzer program from a copy of the corpus and shows what it
found. With --runs it tries the same on any machine, but where the time ends it first. Without, only the time ends it, and
values that the program compares guide it too, addresses among them."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("fuzzer")
parser.add_argument("corpus")
parser.add_argument("--runs", type=int, default=-1)
parser.add_argument("--seconds", type=int, default=30)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()


# Addresses differ from run to run, and a folder that is read again as time goes by is found at another moment.
ALIKE = ["-use_cmp=0", "-reload=0"]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        corpus, grown, finds = (os.path.join(scratch, name) for name in ("corpus", "grown", "finds"))
        os.mkdir(grown)
        os.mkdir(finds)
        shutil.copytree(options.corpus, corpus)
        with open(os.path.join(scratch, "seeds"), "w", encoding="utf-8") as seeds:  # a folder has an order of its own
            seeds.write(",".join(f"corpus/{name}" for name in sorted(os.listdir(corpus))))
        # LLVM's allocators mark memory in a way that gives false alarms.
        environment = dict(os.environ, TMPDIR=scratch, ASAN_OPTIONS="allow_user_poisoning=0:detect_container_overflow=0")
        command = [os.path.abspath(options.fuzzer), f"-runs={options.runs}", f"-max_total_time={options.seconds}", f"-seed={options.seed}", "-timeout=20",
                   "-max_len=4096", "-print_final_stats=1", f"-artifact_prefix={finds}/", "-seed_inputs=@seeds", *(ALIKE if options.runs >= 0 else []), grown]
        done = subprocess.run(command, cwd=scratch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        lines = done.stdout.splitlines()
        if done.returncode == 0:
            print("\n".join(line for line in lines if line.startswith("stat::number_of_executed_units")))
            return 0
        print("\n".join(lines[-60:]))
        for find in glob.glob(os.path.join(finds, "*")):
            kept = os.path.join(os.getcwd(), os.path.basename(find))
            shutil.copy(find, kept)
            print(f"kept as {kept}; once mended, it belongs into {options.corpus}")
        return 1


sys.exit(main())
