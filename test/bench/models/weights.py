"""Seeded weights under which a network says something.

No trained weights can be had, and a framework's initial ones hide mistakes: layer scales of 1e-6 switch whole blocks
off, and running statistics of 0 and 1 let a deep network's activations vanish or overflow. So every parameter is drawn
anew: a product's weights with a deviation of 1/sqrt(what is summed), norms around 1, biases and tables around 0. Batch
norms then take the statistics of a batch, and the last layer is scaled so that the outputs are of order one.
"""

import math

import torch
from torch import nn

SEED = 20240229
CALIBRATION_BATCH = 4


def fan_in(module, name, parameter):
    """How many products one output of `module` sums, 1 for what is not a matrix."""
    if isinstance(module, nn.Embedding):
        return parameter.shape[1]  # may be the last product's matrix as well
    if type(module).__name__ == "Conv1D":  # GPT-2's, which is a product with its matrix transposed
        return parameter.shape[0]
    return math.prod(parameter.shape[1:]) if name.startswith(("weight", "in_proj_weight")) else 1


def draw(module, name, parameter):
    noise = torch.randn(parameter.shape)
    if name == "layer_scale":
        return 0.2 + 0.05 * noise
    if parameter.dim() >= 2 and (count := fan_in(module, name, parameter)) > 1:
        gain = math.sqrt(2) if isinstance(module, nn.modules.conv._ConvNd) else 1
        return noise * gain / math.sqrt(count)
    if name == "weight":
        return 1 + 0.1 * noise
    return 0.1 * noise


def first_output(model, inputs):
    result = model(*inputs)
    return result[0] if isinstance(result, (tuple, list)) else result


def scale_outputs(model, inputs):
    deviation = first_output(model, inputs).std().item()
    last = [module for module in model.modules() if isinstance(module, (nn.Linear, nn.Conv2d))][-1]
    if not 0.3 < deviation < 3 and math.isfinite(deviation):
        last.weight.mul_(1 / deviation)
        if last.bias is not None:
            last.bias.mul_(1 / deviation)
    deviation = first_output(model, inputs).std().item()
    if not 0.05 < deviation < 20:
        raise SystemExit(f"outputs deviate by {deviation}, wanted about 1: the weights do not fit this network")


@torch.no_grad()
def settle(model, make_inputs):
    """Draws the weights of `model`, whose inputs make_inputs(batch) gives, and makes it ready to run."""
    torch.manual_seed(SEED)
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.requires_grad:  # tables of positions that are computed stay
                parameter.copy_(draw(module, name, parameter))
    norms = [module for module in model.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    if norms:
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
            norm.train()
        model(*make_inputs(CALIBRATION_BATCH))
    model.eval()
    scale_outputs(model, make_inputs(1))
