#!/usr/bin/env python3
"""torch_models.py DIR PATTERN: what PyTorch's two exporters make of networks, with random weights, a case each.

Prints the names of all that match. A name ends in -script for the exporter by TorchScript (dynamo=False), whose files have open
sizes by dynamic_axes, and in -dynamo for the current one, by dynamic_shapes. Runs in the environment of
test/bench/models/environments.py that has torch.
"""

import os
import re
import sys
import warnings

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "bench", "models")]
warnings.filterwarnings("ignore")
import case
import torch
import torchvision
import transformers
from torch import nn

SEED = 5


class Call(nn.Module):
    """A network called by `function` on its inputs: (network, inputs) to a tensor or a tuple of these."""

    def __init__(self, network, function):
        super().__init__()
        self.network, self.function = network, function

    def forward(self, *inputs):
        return self.function(self.network, *inputs)


class Network:
    """A module, example inputs by name, which of their axes are open, and the sizes of further runs."""

    def __init__(self, make, inputs, axes=None, runs=(), values=None):
        self.make, self.inputs, self.axes, self.values = make, inputs, axes or {}, values or {}
        self.runs = [{name: list(tensor.shape) for name, tensor in inputs.items()}, *runs]


def seeded(module):
    """Norms that have seen no data keep what goes through them; biases are not zero, nor are a head's weights, which ViT begins with."""
    for name, parameter in module.named_parameters():
        if name.endswith("bias") or not parameter.any():
            nn.init.normal_(parameter, std=0.1)
    return module.eval()


def picture(*shape):
    return torch.randn(*shape)


def tokens(count, *shape):
    return torch.randint(0, count, shape)


BATCH = {0: "batch"}
PICTURE = {0: "batch", 2: "height", 3: "width"}
TEXT = {0: "batch", 1: "length"}


def vision(name, size=224, **options):
    axes = {"image": BATCH}
    return Network(
        lambda: getattr(torchvision.models, name)(weights=None, **options), {"image": picture(2, 3, size, size)}, axes,
        [{"image": [1, 3, size, size]}],
    )  # fmt: skip


def segmentation(name):
    def make():
        network = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=5)
        return Call(network, lambda net, image: net(image)["out"])

    return Network(make, {"image": picture(1, 3, 96, 128)}, {"image": PICTURE}, [{"image": [2, 3, 64, 96]}])


def detection(name, **options):
    def make():
        network = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, num_classes=5, **options)
        return Call(network, lambda net, image: tuple(net([image])[0].values()))

    open_sizes, runs = {"image": {1: "height", 2: "width"}}, [{"image": [3, 96, 128]}]
    return Network(make, {"image": torch.rand(3, 128, 160)}, open_sizes, runs, {"image": {"scale": 0.3}})  # about as far apart as from 0 to 1


def text_encoder(model, config, **settings):
    configuration = getattr(transformers, config)(**settings)
    call = lambda net, ids, mask: net(input_ids=ids, attention_mask=mask).last_hidden_state  # noqa: E731
    return Network(
        lambda: Call(getattr(transformers, model)(configuration), call),
        {"input_ids": tokens(configuration.vocab_size, 2, 12), "attention_mask": torch.ones(2, 12, dtype=torch.int64)},
        {"input_ids": TEXT, "attention_mask": TEXT}, [{"input_ids": [1, 7], "attention_mask": [1, 7]}],
        {"input_ids": {"from": 3, "to": configuration.vocab_size}, "attention_mask": {"of": [1]}},
    )  # fmt: skip


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 300}
VISION = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "image_size": 64}


def t5(part):
    config = transformers.T5Config(
        vocab_size=300, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0)  # fmt: skip
    if part == "encoder":
        call = lambda net, ids, mask: net.encoder(input_ids=ids, attention_mask=mask).last_hidden_state  # noqa: E731
        inputs = {"input_ids": tokens(300, 2, 12), "attention_mask": torch.ones(2, 12, dtype=torch.int64)}
        axes, runs = {"input_ids": TEXT, "attention_mask": TEXT}, [{"input_ids": [1, 7], "attention_mask": [1, 7]}]
        values = {"input_ids": {"from": 0, "to": 300}, "attention_mask": {"of": [1]}}
    else:
        call = lambda net, ids, state: net(decoder_input_ids=ids, encoder_outputs=(state,), use_cache=False).logits  # noqa: E731
        inputs = {"decoder_input_ids": tokens(300, 2, 5), "state": torch.randn(2, 12, 64)}
        axes = {"decoder_input_ids": TEXT, "state": {0: "batch", 1: "source"}}
        runs = [{"decoder_input_ids": [1, 9], "state": [1, 7, 64]}]
        values = {"decoder_input_ids": {"from": 0, "to": 300}}
    return Network(lambda: Call(transformers.T5ForConditionalGeneration(config), call), inputs, axes, runs, values)


def clip():
    def make():
        config = transformers.CLIPConfig(
            text_config={**SMALL, "max_position_embeddings": 32, "eos_token_id": 299}, vision_config={**VISION, "patch_size": 16},
            projection_dim=32)  # fmt: skip
        return Call(
            transformers.CLIPModel(config),
            lambda net, ids, pixels: net(input_ids=ids, pixel_values=pixels).logits_per_image,
        )

    return Network(
        make, {"input_ids": tokens(299, 2, 8), "pixel_values": picture(3, 3, 64, 64)},
        {"input_ids": {0: "texts", 1: "length"}, "pixel_values": {0: "images"}},
        [{"input_ids": [1, 5], "pixel_values": [1, 3, 64, 64]}], {"input_ids": {"from": 0, "to": 300}},
    )  # fmt: skip


def sam():
    def make():
        config = transformers.SamConfig(
            vision_config={"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "mlp_dim": 96, "image_size": 128,
                           "patch_size": 16, "output_channels": 32, "num_pos_feats": 16, "global_attn_indexes": [1], "window_size": 4},
            prompt_encoder_config={"hidden_size": 32, "image_size": 128, "patch_size": 16, "mask_input_channels": 8},
            mask_decoder_config={"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "mlp_dim": 64,
                                 "iou_head_hidden_dim": 32})  # fmt: skip
        call = lambda net, pixels, points: tuple(  # noqa: E731
            net(pixel_values=pixels, input_points=points, multimask_output=True)[name] for name in ("iou_scores", "pred_masks"))
        return Call(transformers.SamModel(config), call)

    return Network(
        make, {"pixel_values": picture(1, 3, 128, 128), "points": torch.rand(1, 1, 2, 2) * 128}, {"points": {2: "points"}},
        [{"pixel_values": [1, 3, 128, 128], "points": [1, 1, 5, 2]}], {"points": {"scale": 40}},
    )  # fmt: skip


def rt_detr():
    def make():
        backbone = transformers.RTDetrResNetConfig(
            embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], layer_type="basic",
            out_features=["stage2", "stage3", "stage4"])  # fmt: skip
        config = transformers.RTDetrConfig(
            backbone_config=backbone, encoder_hidden_dim=32, encoder_in_channels=[32, 48, 64], feat_strides=[8, 16, 32],
            encoder_ffn_dim=64, d_model=32, num_queries=20, decoder_in_channels=[32, 32, 32], decoder_ffn_dim=64,
            decoder_layers=2, decoder_attention_heads=4, encoder_attention_heads=4, num_labels=5)  # fmt: skip
        call = lambda net, pixels: tuple(net(pixel_values=pixels)[name] for name in ("logits", "pred_boxes"))  # noqa: E731
        return Call(transformers.RTDetrForObjectDetection(config), call)

    return Network(make, {"pixels": picture(2, 3, 128, 128)}, {"pixels": BATCH}, [{"pixels": [1, 3, 128, 128]}])


def whisper(part):
    config = transformers.WhisperConfig(
        vocab_size=300, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=100, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, suppress_tokens=[], begin_suppress_tokens=[])  # fmt: skip
    if part == "encoder":
        call = lambda net, mel: net.model.encoder(mel).last_hidden_state  # noqa: E731
        inputs, axes, runs, values = {"mel": torch.randn(2, 80, 200)}, {"mel": BATCH}, [{"mel": [1, 80, 200]}], {}
    else:
        call = lambda net, ids, state: net(decoder_input_ids=ids, encoder_outputs=(state,), use_cache=False).logits  # noqa: E731
        inputs = {"ids": tokens(300, 2, 6), "state": torch.randn(2, 100, 64)}
        axes, runs, values = {"ids": TEXT, "state": BATCH}, [{"ids": [1, 3], "state": [1, 100, 64]}], {"ids": {"from": 0, "to": 300}}
    return Network(lambda: Call(transformers.WhisperForConditionalGeneration(config), call), inputs, axes, runs, values)


def recurrent(kind):
    def make():
        return Call(getattr(nn, kind)(24, 32, 2, batch_first=True, bidirectional=True), lambda net, x: net(x)[0])

    return Network(make, {"x": torch.randn(2, 9, 24)}, {"x": {0: "batch", 1: "length"}}, [{"x": [1, 20, 24]}])


def llama():
    settings = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 64}
    network = text_encoder("LlamaModel", "LlamaConfig", **settings)
    return network


NETWORKS = {
    "resnet18": lambda: vision("resnet18"),
    "mobilenet-v3": lambda: vision("mobilenet_v3_small"),
    "efficientnet": lambda: vision("efficientnet_b0"),
    "shufflenet": lambda: vision("shufflenet_v2_x0_5"),
    "squeezenet": lambda: vision("squeezenet1_1"),
    "densenet": lambda: vision("densenet121"),
    "swin": lambda: vision("swin_t"),
    "vit": lambda: vision("vit_b_16", image_size=64, size=64),
    "lraspp": lambda: segmentation("lraspp_mobilenet_v3_large"),
    "deeplab": lambda: segmentation("deeplabv3_mobilenet_v3_large"),
    "fcn": lambda: segmentation("fcn_resnet50"),
    "ssdlite": lambda: detection("ssdlite320_mobilenet_v3_large"),
    "faster-rcnn": lambda: detection("fasterrcnn_mobilenet_v3_large_320_fpn", min_size=128, max_size=192),
    "retinanet": lambda: detection("retinanet_resnet50_fpn", min_size=128, max_size=192),
    "bert": lambda: text_encoder("BertModel", "BertConfig", **SMALL),
    "roberta": lambda: text_encoder("RobertaModel", "RobertaConfig", **SMALL),
    "llama": llama,
    "clip": clip,
    "sam": sam,
    "rt-detr": rt_detr,
    "t5-encoder": lambda: t5("encoder"),
    "t5-decoder": lambda: t5("decoder"),
    "whisper-encoder": lambda: whisper("encoder"),
    "whisper-decoder": lambda: whisper("decoder"),
    "lstm": lambda: recurrent("LSTM"),
    "gru": lambda: recurrent("GRU"),
}


def export(network, exporter, path):
    names, inputs = list(network.inputs), tuple(network.inputs.values())
    module = seeded(network.make())
    if not isinstance(module, Call):
        module = Call(module, lambda net, *given: net(*given))
    with torch.no_grad():
        module(*inputs)  # what cannot run cannot be exported
        if exporter == "script":
            torch.onnx.export(module, inputs, path, input_names=names, dynamic_axes=network.axes, dynamo=False, opset_version=17)
            return
        shapes = {name: {axis: torch.export.Dim.DYNAMIC for axis in axes} for name, axes in network.axes.items()}
        dynamic = (tuple(shapes.get(name, {}) for name in names),)
        torch.onnx.export(module, inputs, path, input_names=names, dynamic_shapes=dynamic, dynamo=True, external_data=False,
                          verbose=False)  # fmt: skip


def main(folder, pattern):
    for stem, make in NETWORKS.items():
        for exporter in ("script", "dynamo"):
            name = f"torch-{stem}-{exporter}"
            if not re.search(pattern, name):
                continue
            place = os.path.join(folder, name)
            torch.manual_seed(SEED)
            path = os.path.join(place, "model.onnx")
            if os.path.exists(os.path.join(place, "refused")):
                continue
            network = make()
            if not os.path.exists(path):
                print(f"exporting {name}", file=sys.stderr)
                os.makedirs(place, exist_ok=True)
                try:
                    export(network, exporter, path)
                except Exception as error:  # an exporter that refuses a network is its own affair
                    why = (str(error).splitlines() or [type(error).__name__])[0]
                    print(f"{name}: {why[:300]}", file=sys.stderr)
                    with open(os.path.join(place, "refused"), "w", encoding="utf-8") as file:
                        file.write(why + "\n")
                    continue
            case.write(place, network.runs, network.values)
            print(name, flush=True)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
