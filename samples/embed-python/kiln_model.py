"""A model that `kiln compile --emit shared` made, with NumPy arrays in and out. It needs ctypes and NumPy alone.

    model = Model("libmnist.so")
    scores, = model(image)
"""

import ctypes
import os
import re
import tempfile

import numpy

MAX_RANK = 8
CONTEXT_MEMORY = -1
# In the order of kiln_dtype. A dtype that NumPy lacks comes as its bits, bfloat16 in 16 and numbers of at most 8 in a byte each;
# strings are objects.
DTYPES = [numpy.dtype(name) for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                         "float16", "uint16", "float32", "float64") + 12 * ("uint8",) + ("object",)]


class Error(RuntimeError):
    """The one-line message of a model or of kiln."""


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * MAX_RANK), ("capacity", ctypes.c_int64)]


class PortInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * MAX_RANK), ("dim_texts", ctypes.c_char_p * MAX_RANK),
                ("has_default", ctypes.c_int32), ("optional_axes", ctypes.c_int32)]


class Alias(ctypes.Structure):
    _fields_ = [("input", ctypes.c_int32), ("output", ctypes.c_int32), ("axis", ctypes.c_int32), ("capacity", ctypes.c_int64)]

    def room(self, array):
        """The whole memory of an input: an array that has `array` as its first elements, if that is a view of such a one; a
        copy with room where it is not."""
        shape = list(array.shape)
        if self.axis >= 0:
            shape[self.axis] = self.capacity
        owner = array
        while isinstance(owner.base, numpy.ndarray):
            owner = owner.base
        begin = array.ctypes.data - owner.ctypes.data
        wanted = array.dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
        strides = array.dtype.itemsize * numpy.cumprod([1] + shape[:0:-1])[::-1]
        fits = all(size < 2 or stride == step for size, stride, step in zip(array.shape, array.strides, strides))
        if fits and array.flags.writeable and 0 <= begin <= owner.nbytes - wanted and owner.flags.c_contiguous:
            return numpy.ndarray(shape, array.dtype, owner.reshape(-1).view(numpy.uint8), begin)
        memory = numpy.zeros(wanted + 64, numpy.uint8)
        made = numpy.ndarray(shape, array.dtype, memory, -memory.ctypes.data % 64)
        made[tuple(slice(size) for size in array.shape)] = array
        return made


class Options(ctypes.Structure):
    """The first members of kiln_options; `size` says how many there are."""
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("weights_path", ctypes.c_char_p)]


class Port:
    """Description of an input or output: its name, dtype and shape, whose sizes are numbers or names. A run may leave out as many
    of an output's last axes as `optional_axes` says."""

    def __init__(self, info):
        self.name, self.dtype, self.has_default = info.name.decode(), DTYPES[info.dtype], bool(info.has_default)
        self.shape = tuple(info.dims[axis] if info.dims[axis] >= 0 else info.dim_texts[axis].decode()
                           for axis in range(info.rank))
        self.kiln_dtype, self.optional_axes = info.dtype, info.optional_axes

    def __repr__(self):
        sizes = [f"{size}{'?' * (axis >= len(self.shape) - self.optional_axes)}" for axis, size in enumerate(self.shape)]
        return f"{self.name}: {self.dtype} [{', '.join(sizes)}]"


def machine(path):
    """The machine of an ELF file; None: it is not one. The loader would say of another machine's file that it is missing."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return None
    return (head[4:6], head[18:20]) if head[:4] == b"\x7fELF" else None


class Model:
    """`name` is the beginning of the names in the model's header; by default the library's own, libNAME.so. One thread at a time
    may run it; each may have one of its own, of the same library."""

    def __init__(self, path, name=None, threads=0, weights=None):
        self.context, self.path = ctypes.c_void_p(), os.path.abspath(path)
        with tempfile.TemporaryDirectory(prefix="kiln-") as folder:
            # A library that was loaded by a path before is taken for the file there now, so each has a path of its own.
            link = os.path.join(folder, "model.so")
            os.symlink(self.path, link)
            try:
                self.library = ctypes.CDLL(link)
            except OSError as error:
                here = machine("/proc/self/exe")
                if here and machine(self.path) not in (None, here):
                    raise Error(f"{self.path}: was made for another system; load it there, or compile it without a target"
                                ) from None
                raise Error(str(error).replace(link, self.path)) from None
        self.prefix = name or self.prefix_of(path)
        self.function("error").restype = ctypes.c_char_p
        self.inputs, self.outputs = self.ports("input"), self.ports("output")
        self.aliases, alias = {}, Alias()
        while self.function("alias")(len(self.aliases), ctypes.byref(alias)) == 0:
            self.aliases[alias.input] = Alias.from_buffer_copy(alias)
        error = ctypes.create_string_buffer(512)
        options = Options(ctypes.sizeof(Options), threads, weights and os.fsencode(weights))
        if self.function("create")(ctypes.byref(options), ctypes.byref(self.context), error, ctypes.c_size_t(len(error))):
            raise Error(error.value.decode())

    def prefix_of(self, path):
        """kiln's name for the functions of a library of this name: bytes that C does not allow become _, a name whose functions
        the C library has gets a number, and one that C reserves gets model in front."""
        stem = re.sub(b"^lib(?=.)", b"", os.path.splitext(os.fsencode(os.path.basename(path)))[0])
        prefix = re.sub(rb"^(?=[0-9])|[^A-Za-z0-9_]", b"_", stem).decode()
        if prefix.startswith("_"):
            rest = prefix.lstrip("_")
            prefix = "model_" + rest if rest else "model"
        return prefix + "_2" if hasattr(self.library, prefix + "_2_run_tensors") else prefix

    def function(self, suffix):
        try:
            return getattr(self.library, f"{self.prefix}_{suffix}")
        except AttributeError:
            raise Error(f"{self.path}: no library of a model whose names begin with '{self.prefix}'") from None

    def ports(self, kind):
        found, info = [], PortInfo()
        while self.function(kind)(len(found), ctypes.byref(info)) == 0:
            found.append(Port(info))
        return found

    def run(self, *arrays, **named):
        """Inputs in declared order or by name; one that has a default may be left out. Returns a list of the outputs. One that
        lies in an input's memory is a view of the array that the input was a view of, or of a copy with room for more."""
        if not self.context:
            raise Error("the model is closed")
        if len(arrays) > len(self.inputs):
            raise TypeError(f"given {len(arrays)} arrays; the inputs are {self.inputs}")
        given = dict(zip((port.name for port in self.inputs), arrays))
        for name, array in named.items():
            if name in given:
                raise TypeError(f"input '{name}' is given twice")
            if name not in {port.name for port in self.inputs}:
                raise TypeError(f"there is no input '{name}'; the inputs are {self.inputs}")
            given[name] = array
        inputs, kept, rooms = (Tensor * max(len(self.inputs), 1))(), [], {}
        for index, (port, tensor) in enumerate(zip(self.inputs, inputs)):
            tensor.dtype = port.kiln_dtype
            if given.get(port.name) is None:
                continue
            array = numpy.asarray(given[port.name])
            is_text = port.dtype == object and array.dtype.kind in "OU"
            if array.dtype != port.dtype and not is_text or array.ndim > MAX_RANK:
                raise TypeError(f"wanted {port}, given {array.dtype} {list(array.shape)}")
            if is_text:
                kept.append([str(text).encode() for text in array.flat])
                array = numpy.array([ctypes.cast(text, ctypes.c_void_p).value for text in kept[-1]],
                                    numpy.uint64).reshape(array.shape)
            tensor.rank = array.ndim
            tensor.dims[:array.ndim] = array.shape
            alias = self.aliases.get(index)
            if alias and alias.axis < array.ndim and (alias.axis < 0 or array.shape[alias.axis] <= alias.capacity):
                array = rooms[alias.output] = alias.room(array)
                tensor.capacity = array.nbytes
            array = numpy.ascontiguousarray(array).reshape(array.shape)
            kept.append(array)
            tensor.data = array.ctypes.data
        outputs = (Tensor * max(len(self.outputs), 1))()
        if self.function("run_tensors")(self.context, inputs, len(self.inputs), outputs, len(self.outputs)):
            raise Error(self.function("error")(self.context).decode())
        return [rooms[index][tuple(slice(size) for size in tensor.dims[:tensor.rank])] if index in rooms
                else self.result(port, tensor) for index, (port, tensor) in enumerate(zip(self.outputs, outputs))]

    @staticmethod
    def result(port, tensor):
        """A copy: the next run writes where this one's result lies."""
        shape = tuple(tensor.dims[:tensor.rank])
        count = int(numpy.prod(shape, dtype=numpy.int64))
        if count == 0:
            return numpy.empty(shape, port.dtype)
        if port.dtype == object:
            texts = [text or b"" for text in (ctypes.c_char_p * count).from_address(tensor.data)]
            return numpy.array([text.decode() for text in texts], object).reshape(shape)
        memory = (ctypes.c_char * (count * port.dtype.itemsize)).from_address(tensor.data)
        return numpy.frombuffer(memory, port.dtype).reshape(shape).copy()

    __call__ = run

    def close(self):
        if self.context:
            self.function("destroy")(self.context)
            self.context = ctypes.c_void_p()

    __del__ = close
