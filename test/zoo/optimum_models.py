#!/usr/bin/env python3
"""optimum_models.py DIR PATTERN: what optimum makes of transformers with caches, with random weights, a case each.

Prints the names of all that match. Optimum merges a decoder without and with cached keys and values into one file, which has an If on
its input use_cache_branch: -first is that model's first token, -next a later one. Runs in the environment of captures.py that has
optimum, whose transformers are older than torch_models.py's.
"""

import os
import re
import shutil
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")
import case
import onnx
import torch
import transformers
from optimum.exporters.onnx import onnx_export_from_model

SEED, OPSET = 5, 18
TOKENS, WIDTH, HEADS = 300, 64, 4
IDS = {"from": 3, "to": TOKENS}


def whisper():
    config = transformers.WhisperConfig(
        vocab_size=TOKENS, d_model=WIDTH, encoder_layers=2, decoder_layers=2, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=128, decoder_ffn_dim=128, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1)  # fmt: skip
    return transformers.WhisperForConditionalGeneration(config), "automatic-speech-recognition-with-past"


def t5():
    config = transformers.T5Config(
        vocab_size=TOKENS, d_model=WIDTH, d_kv=16, d_ff=128, num_layers=2, num_heads=HEADS, decoder_start_token_id=0)  # fmt: skip
    return transformers.T5ForConditionalGeneration(config), "text2text-generation-with-past"


def gpt2():
    config = transformers.GPT2Config(vocab_size=TOKENS, n_embd=WIDTH, n_layer=2, n_head=HEADS, n_positions=128, n_inner=128)
    return transformers.GPT2LMHeadModel(config), "text-generation-with-past"


def shapes(path, sizes):
    """The shape of each input by its name, with these open sizes."""
    made = {}
    for port in onnx.load(path).graph.input:
        axes = port.type.tensor_type.shape.dim
        made[port.name] = [sizes[axis.dim_param] if axis.dim_param else axis.dim_value for axis in axes]
    return made


def text(batch, length, past=0, source=9):
    """Sizes by the names that optimum gives them."""
    sizes = {"batch_size": batch, "encoder_sequence_length": source}
    for of in ("sequence_length", "decoder_sequence_length"):
        sizes.update({of: length, f"past_{of}": past, f"past_{of} + {of}": past + length})
    return sizes


CASES = {
    "whisper-encoder": (whisper, "encoder_model", [text(1, 0)], {}),
    "whisper-first": (whisper, "decoder_model_merged", [text(2, 5, 1), text(1, 3, 1)], {"use_cache_branch": {"of": [0]}}),
    "whisper-next": (whisper, "decoder_model_merged", [text(2, 1, 6), text(1, 1, 20)], {"use_cache_branch": {"of": [1]}}),
    "t5-encoder": (t5, "encoder_model", [text(2, 12, source=12), text(1, 7, source=7)], {}),
    "t5-first": (t5, "decoder_model_merged", [text(2, 5, 1), text(1, 3, 1)], {"use_cache_branch": {"of": [0]}}),
    "t5-next": (t5, "decoder_model_merged", [text(2, 1, 6), text(1, 1, 20)], {"use_cache_branch": {"of": [1]}}),
    "gpt2": (gpt2, "model", [text(2, 1, 6), text(1, 5, 20)], {}),
}


def export(make, folder):
    torch.manual_seed(SEED)
    model, task = make()
    onnx_export_from_model(model.eval(), output=folder, task=task, opset=OPSET, do_validation=False)


def main(folder, pattern):
    for stem, (make, file, sizes, values) in CASES.items():
        name = f"optimum-{stem}"
        if not re.search(pattern, name):
            continue
        path = os.path.join(folder, name, "model.onnx")
        if not os.path.exists(path):
            print(f"exporting {name}", file=sys.stderr)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with tempfile.TemporaryDirectory() as scratch:
                export(make, scratch)
                shutil.copy(os.path.join(scratch, f"{file}.onnx"), path)
        rules = {**values, "input_ids": IDS, "position_ids": {"from": 0, "to": 20}, "attention_mask": {"of": [1]}, "encoder_attention_mask": {"of": [1]}}
        case.write(os.path.dirname(path), [shapes(path, each) for each in sizes], rules)
        print(name, flush=True)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
