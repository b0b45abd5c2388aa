#!/usr/bin/env python3
"""Two models in one process, run by many threads at once, each with contexts of its own: a case of tools/test-cuda.

This file's folder has libmnist.so, which has weights, libsoftmax.so, kiln_model.py of samples/embed-python, and an image
with its scores. Every run of every thread is compared: a thread's softmax has numbers and, in turn, sizes of its own."""

import os
import sys
import threading

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import numpy
from kiln_model import Model

THREADS, CONTEXTS, RUNS = 8, 3, 50


def beside(name):
    return os.path.join(FOLDER, name)


def softmax(x):
    e = numpy.exp(x.astype(numpy.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def run(thread, wrong):
    numbers = numpy.random.default_rng(thread)
    image, scores = numpy.load(beside("input_0.npy")), numpy.load(beside("output_0.npy"))
    for context in range(CONTEXTS):
        reader, sure = Model(beside("libmnist.so")), Model(beside("libsoftmax.so"))
        for turn in range(RUNS):
            x = numbers.standard_normal((1 + turn % 3 * 20, 3000), numpy.float32)
            for name, given, wanted in (("mnist", reader(image)[0], scores), ("softmax", sure(x)[0], softmax(x))):
                if not numpy.allclose(given, wanted, rtol=1e-3, atol=1e-4):
                    wrong.append(f"thread {thread}, context {context}, run {turn}: {name} is wrong")


def guarded(thread, wrong):
    try:
        run(thread, wrong)
    except Exception as error:
        wrong.append(f"thread {thread}: {error}")


wrong = []
threads = [threading.Thread(target=guarded, args=(number, wrong)) for number in range(THREADS)]
for each in threads:
    each.start()
for each in threads:
    each.join()
sys.exit(f"{len(wrong)} wrong, the first {wrong[0]}" if wrong else 0)
