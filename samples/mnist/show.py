#!/usr/bin/env python3
"""Draws a digit and the ten scores that the model gives it: show.py INPUT.npy SCORES.npy. Standard library only."""

import ast
import struct
import sys

INKS = " .:-=+*#%@"
SIDE = 28


def read_floats(path):
    """The elements of a row-major little-endian float32 .npy, version 1."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:7] != b"\x93NUMPY\x01":
        sys.exit(f"{path}: no .npy of version 1")
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:end].decode())
    if header["descr"] != "<f4" or header["fortran_order"]:
        sys.exit(f"{path}: not row-major float32")
    return struct.unpack(f"<{(len(data) - end) // 4}f", data[end:])


def draw(pixels):
    """A character is about twice as high as wide, so each stands for two pixels, one above the other."""
    for y in range(0, SIDE, 2):
        pairs = zip(pixels[y * SIDE : (y + 1) * SIDE], pixels[(y + 1) * SIDE : (y + 2) * SIDE])
        line = "".join(INKS[min(9, int(5 * (upper + lower)))] for upper, lower in pairs)
        print("  " + line.rstrip())


def rank(scores):
    best = max(range(len(scores)), key=scores.__getitem__)
    low, high = min(scores), max(scores)
    for digit, score in enumerate(scores):
        bar = "#" * round(30 * (score - low) / (high - low or 1))
        print(f"  {digit} {score:8.2f}  {bar}{'  <- the digit' if digit == best else ''}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pixels, scores = map(read_floats, sys.argv[1:])
    if len(pixels) != SIDE * SIDE or len(scores) != 10:
        sys.exit("needs a 28x28 image and ten scores")
    draw(pixels)
    rank(scores)


main()
