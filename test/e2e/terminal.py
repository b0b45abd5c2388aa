#!/usr/bin/env python3
"""terminal.py COMMAND...: runs it on a terminal of 200 columns and prints each line that was there at some time, and in the end
what is on the screen, as a list of lines."""

import fcntl
import os
import pty
import struct
import sys
import termios

process, terminal = pty.fork()
if process == 0:
    os.environ["TERM"] = "xterm"
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
written = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # what Linux says when the other side has ended
        break
    if not part:
        break
    written += part
status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
assert status == 0, (status, written)

screen = []
for line in written.decode().replace("\r\n", "\n").split("\n"):
    shown = ""
    for state in line.split("\r"):
        if state.startswith("\033[K"):
            shown = ""
            state = state[len("\033[K"):]
        if state:
            print(state)
        shown = state + shown[len(state):]
    screen.append(shown)
while screen and not screen[-1]:
    screen.pop()
print("screen:", screen)
