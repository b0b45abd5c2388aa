#!/usr/bin/env python3
"""digit.py LIBRARY IMAGE.npy: the digit that samples/mnist sees in an image."""

import sys

import numpy

from kiln_model import Error, Model

library, image = sys.argv[1:]
model = Model(library)
print(*model.inputs, "->", *model.outputs)
scores, = model.run(numpy.load(image))
print("the digit is", scores.argmax())
try:
    model.run(numpy.zeros((1, 1, 2, 2), "float32"))
except Error as error:
    print("of another size:", error)
