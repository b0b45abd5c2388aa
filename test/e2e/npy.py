#!/usr/bin/env python3
"""npy.py OUT DESCR SHAPE [NUMBER...]: writes a .npy file; the numbers are repeated until the shape is filled. Of a DESCR
like |S4 they are strings."""

import itertools
import struct
import sys

FORMATS = {"|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q", "|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q", "<f2": "e", "<f4": "f",
           "<f8": "d", "|b1": "?", "<V1": "B", "<V2": "H"}

out, descr, shape, *numbers = sys.argv[1:]
sizes = [int(size) for size in shape.split(",") if size]
count = 1
for size in sizes:
    count *= size
header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{size}, ' for size in sizes)}), }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
convert = str.encode if "S" in descr else float if "f" in descr else int
form = FORMATS[descr] if descr in FORMATS else f"{descr[2:]}s" * count
values = itertools.islice(itertools.cycle([convert(number) for number in numbers] or [0]), count)
with open(out, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<" + (form if "S" in descr else f"{count}{form}"), *values))
