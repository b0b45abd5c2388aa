#!/usr/bin/env python3
"""start.py NAME WEIGHTS INPUT...: what a program of PyTorch's does until it has the first output of a network."""

import os
import sys

import numpy
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "models"))
import networks

with torch.inference_mode():
    model = networks.NETWORKS[sys.argv[1]]()[0].eval()
    model.load_state_dict(torch.load(sys.argv[2], mmap=True))
    model.cuda()
    result = model(*(torch.from_numpy(numpy.load(file)).cuda() for file in sys.argv[3:]))
    numpy.save(os.devnull, (result if isinstance(result, torch.Tensor) else result[0]).cpu().numpy())
