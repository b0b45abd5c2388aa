#!/usr/bin/env python3
"""closed_pipe.py COMMAND...: runs the command with a pipe that nobody reads as its standard output; as a negative number
prints the signal that ended it, else its status, and its standard error. With IGNORED in the environment SIGPIPE is ignored."""

import os
import signal
import subprocess
import sys

signal.signal(signal.SIGPIPE, signal.SIG_IGN if "IGNORED" in os.environ else signal.SIG_DFL)
reader, writer = os.pipe()
os.close(reader)
run = subprocess.run(sys.argv[1:], stdout=writer, stderr=subprocess.PIPE, text=True, restore_signals=False)
print(run.returncode, run.stderr, end="")
