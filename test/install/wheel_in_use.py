#!/usr/bin/env python3
"""wheel_in_use.py SAMPLES: what a program does with the module kiln, in an environment that has its wheel."""

import os
import shutil
import subprocess
import sys

import numpy

import kiln

samples = sys.argv[1]


def fails(call, wanted, error=kiln.Error):
    try:
        call()
    except error as raised:
        assert str(raised) == wanted, str(raised)
    else:
        raise AssertionError(f"nothing raised where '{wanted}' was wanted")


version = subprocess.run([kiln.command(), "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout
assert version.startswith(f"kiln {kiln.__version__} ("), version
assert os.path.samefile(shutil.which("kiln"), kiln.command())

# Fixed sizes: what README shows.
mnist = kiln.compile(f"{samples}/mnist/model.onnx", mcpu="x86-64-v2" if os.uname().machine == "x86_64" else None)
image = numpy.load(f"{samples}/mnist/input_0.npy")
scores, = mnist.run(image)
assert numpy.allclose(scores, numpy.load(f"{samples}/mnist/output_0.npy"), atol=1e-3), scores
assert (mnist.run(Input3=image)[0] == scores).all()
port, = mnist.inputs
assert (port.name, port.dtype, port.shape) == ("Input3", "float32", (1, 1, 28, 28)), port
fails(lambda: mnist.run(image[0]), "input 'Input3': wanted float32 [1, 1, 28, 28], given float32 [1, 28, 28]")
fails(lambda: mnist.run(image.astype("float64")), "wanted Input3: float32 [1, 1, 28, 28], given float64 [1, 1, 28, 28]", TypeError)
fails(lambda: mnist.run(image, image), "given 2 arrays; the inputs are [Input3: float32 [1, 1, 28, 28]]", TypeError)
fails(lambda: mnist.run(image, Input3=image), "input 'Input3' is given twice", TypeError)
fails(lambda: mnist.run(picture=image), "there is no input 'picture'; the inputs are [Input3: float32 [1, 1, 28, 28]]", TypeError)
mnist.close()
fails(lambda: mnist.run(image), "the model is closed")

# A size that the model leaves open, bounded; a library that stays.
batch = kiln.compile(f"{samples}/batch/graph.json", "libnext.so", name="next", dim=["batch=1..4"], no_opt=True)
assert batch.inputs[0].shape == ("batch", 6), batch.inputs
for size in (1, 3):
    x = numpy.arange(size * 6, dtype="float32").reshape(size, 6)
    again = kiln.load("libnext.so", "next")
    assert (batch.run(x)[0] == again.run(x)[0]).all() and batch.run(x)[0].shape[0] == size
fails(lambda: batch.run(numpy.zeros((5, 6), "float32")), "input 'x': axis 0 (batch): wanted a size from 1 to 4, given 5")
with open("libnext.so", "rb") as library, open("libother.so", "wb") as other:
    elf = bytearray(library.read())
    elf[18] ^= 1  # the machine
    other.write(elf)
other = os.path.abspath("libother.so")
fails(lambda: kiln.load(other), f"{other}: was made for another system; load it there, or compile it without a target")
nowhere = os.path.abspath("nowhere.so")
fails(lambda: kiln.load(nowhere), f"{nowhere}: cannot open shared object file: No such file or directory")
fails(lambda: kiln.load("libnext.so", "last"), f"{os.path.abspath('libnext.so')}: no library of a model whose names begin with 'last'")

# A library that is compiled anew under its name is the new one, whatever of it is in use, and names are what kiln makes of them.
for sample, wanted in (("add", [3, 4, 5]), ("dot", 11)):
    for name in ("modèle 3.so", "3d.so", "timer.so"):
        made = kiln.compile(f"{samples}/{sample}/graph.json", name)
        assert made.run()[0].tolist() == wanted == kiln.load(name).run()[0].tolist(), (sample, name)

# Strings are objects, of any length.
with open("greet.mlir", "w") as file:
    file.write("""
module attributes {kiln.stage = "import", kiln.symbols = []} {
  func.func @main(%x: tensor<3xi64> {graph.dtype = !object.string, graph.name = "x"})
      -> (tensor<3xi64> {graph.dtype = !object.string, graph.name = "y"}) {
    %y = graph.call "string_concat"(%x, %x) <[3]> : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
    return %y : tensor<3xi64>
  }
}
""")
greet = kiln.compile("greet.mlir")
assert greet.run(numpy.array(["a", "", "\u00fcber"]))[0].tolist() == ["aa", "", "\u00fcber\u00fcber"]

# What the command refuses.
fails(lambda: kiln.compile("none.onnx"), "none.onnx: cannot be read: No such file or directory; name a model's file")
fails(lambda: kiln.compile(f"{samples}/dot/graph.json", devise="c"), "--devise=c: no such option; did you mean '--device'?")
