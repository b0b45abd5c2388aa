"""How far kiln's outputs are from ONNX Runtime's, and whether that is too far.

Floats are equal within `kiln verify`'s relative tolerance and an absolute one: its own, or where that is more a ten-thousandth of
the largest element, since two orders of summation differ by that in a deep network. All else has to be the same.
"""

import os

import numpy

RELATIVE, ABSOLUTE, OF_LARGEST = 1e-3, 1e-5, 1e-4


def stored(folder, index):
    """Output `index` of a program: an array, or a list of them for a sequence."""
    path = os.path.join(folder, f"output_{index}")
    if not os.path.isdir(path):
        return numpy.load(path + ".npy")
    count = len(os.listdir(path))
    return [numpy.load(os.path.join(path, f"{place}.npy")) for place in range(count)]


def one(wanted, got):
    """(the largest error as a part of the largest element, None or what is wrong) of one array. A map is its values."""
    if isinstance(wanted, dict):
        wanted = list(wanted.values())
    wanted, got = numpy.asarray(wanted), numpy.asarray(got)
    if wanted.shape != got.shape:
        return 0, f"shape {list(got.shape)}, wanted {list(wanted.shape)}"
    if wanted.dtype.kind not in "fc":
        same = wanted.astype(str) == got.astype(str) if wanted.dtype.kind in "OUS" else wanted == got
        return 0, None if same.all() else f"{(~same).sum()} of {same.size} elements differ"
    wanted, got = wanted.astype("f8"), got.astype("f8")
    finite = numpy.isfinite(wanted) & numpy.isfinite(got)
    strange = ~finite & (wanted != got) & ~(numpy.isnan(wanted) & numpy.isnan(got))
    largest = numpy.abs(wanted[finite]).max(initial=0)
    apart = numpy.where(finite, numpy.abs(numpy.where(finite, wanted - got, 0)), 0)
    allowed = max(ABSOLUTE, OF_LARGEST * largest) + RELATIVE * numpy.abs(numpy.where(finite, wanted, 0))
    wrong = strange | (apart > allowed)
    error = float(apart.max(initial=0) / (largest or 1))
    if not wrong.any():
        return error, None
    place = tuple(int(axis[0]) for axis in numpy.nonzero(wrong))
    where = f"{int(wrong.sum())} of {wrong.size} elements differ, first at {list(place)}"
    return error, f"{where}: got {got[place]:.6g}, wanted {wanted[place]:.6g}"


def of(names, wanted, folder):
    """The same of all outputs, `wanted` in their order; those of a program lie in `folder`."""
    largest, problem = 0, None
    for index, (name, arrays) in enumerate(zip(names, wanted, strict=True)):
        got = stored(folder, index)
        pairs = list(zip(arrays, got)) if isinstance(arrays, list) else [(arrays, got)]
        if isinstance(arrays, list) and len(arrays) != len(got):
            problem = problem or f"output {name}: a sequence of {len(got)}, wanted {len(arrays)}"
        for pair in pairs:
            error, wrong = one(*pair)
            largest = max(largest, error)
            problem = problem or (wrong and f"output {name}: {wrong}")
    return largest, problem


def between(wanted, others):
    """The largest error of two runs of ONNX Runtime."""
    pairs = [(a, b) for a, b in zip(wanted, others) if not isinstance(a, list)]
    return max((one(a, b)[0] for a, b in pairs if a.shape == b.shape), default=0)
