#!/usr/bin/env python3
"""check_install.py CMAKE BUILD SOURCE WATCH: installs kiln into a folder, moves that to one of an odd name, and
has it do what an installed one does."""

import os
import sys
import tempfile

sys.dont_write_bytecode = True
from installation import check_installation, run

cmake, build, source, watch = sys.argv[1:]


def main():
    with tempfile.TemporaryDirectory() as folder:
        run(cmake, "--install", build, "--prefix", os.path.join(folder, "first"), cwd=folder)
        prefix = os.path.join(folder, "it's moved & here")
        os.rename(os.path.join(folder, "first"), prefix)
        check_installation(prefix, source, watch, [source, build])


main()
