"""A model that `kiln compile --device cuda --emit shared` made, for tensors of PyTorch's in the GPU's memory."""

import ctypes

import torch

MOST_AXES = 8  # KILN_MAX_RANK
DTYPES = {torch.bool: 0, torch.int8: 1, torch.uint8: 2, torch.int16: 3, torch.int32: 5, torch.int64: 7, torch.float16: 9,
          torch.bfloat16: 10, torch.float32: 11, torch.float64: 12}  # fmt: skip


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * MOST_AXES), ("capacity", ctypes.c_int64)]  # fmt: skip


class Options(ctypes.Structure):
    """kiln_options: what is here of it is 0 but for its size and the stream, the last member."""

    _fields_ = [("size", ctypes.c_size_t), ("between", ctypes.c_void_p * 13), ("stream", ctypes.c_void_p)]


def described(tensor):
    dims = (ctypes.c_int64 * MOST_AXES)(*tensor.shape)
    return Tensor(tensor.data_ptr(), DTYPES[tensor.dtype], tensor.dim(), dims, tensor.nbytes)


class Library:
    """Runs are put on PyTorch's current stream, which must not be the default one, and return at once."""

    def __init__(self, path, name):
        self.library = ctypes.CDLL(path)
        self.run_tensors = getattr(self.library, f"{name}_run_tensors")
        self.error = getattr(self.library, f"{name}_error")
        self.error.restype = ctypes.c_char_p
        self.error.argtypes = [ctypes.c_void_p]
        options = Options(size=ctypes.sizeof(Options), stream=torch.cuda.current_stream().cuda_stream)
        self.context, said = ctypes.c_void_p(), ctypes.create_string_buffer(300)
        if getattr(self.library, f"{name}_create")(ctypes.byref(options), ctypes.byref(self.context), said, len(said)):
            raise RuntimeError(said.value.decode())

    def prepared(self, inputs, outputs):
        """A function that runs the model with these, so that little is left to do at each call."""
        given = (Tensor * len(inputs))(*map(described, inputs))
        made = (Tensor * len(outputs))(*map(described, outputs))
        arguments = (self.context, given, ctypes.c_int32(len(inputs)), made, ctypes.c_int32(len(outputs)))

        def run():
            if self.run_tensors(*arguments):
                raise RuntimeError(self.error(self.context).decode())

        return run
