#!/usr/bin/env python3
"""generate.py FOLDER: writes one picture of 5 by 3 pixels in every kind that ImageDecoder reads, with Pillow."""

import os
import sys

from PIL import Image

WIDTH, HEIGHT = 5, 3
KINDS = {
    "bmp": {},
    "jp2": {},
    "jpg": {"quality": 100, "subsampling": 0},
    "png": {},
    "ppm": {},
    "tif": {"compression": "tiff_lzw"},
    "webp": {"lossless": True, "exact": True},
}


def main():
    picture = Image.new("RGB", (WIDTH, HEIGHT))
    # ImageTest.cpp has the same.
    picture.putdata([(50 * x, 100 * y, 255 - 10 * (x + y)) for y in range(HEIGHT) for x in range(WIDTH)])
    for kind, options in KINDS.items():
        picture.save(os.path.join(sys.argv[1], "picture." + kind), **options)


main()
