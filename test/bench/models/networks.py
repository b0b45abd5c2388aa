"""The networks of the benchmark, as torchvision and transformers build them, and what goes into them.

Each is a function that returns a module, a function from a batch size to its inputs, the inputs' names, and which of
their axes stay open, as torch.export's dynamic_shapes, or None.
"""

import torch
import torchvision
import transformers
from torch import nn

SEQUENCE = 128
PAST = 128


def picture(batch):
    return (torch.randn(batch, 3, 224, 224),)


def vision(name):
    return lambda: (getattr(torchvision.models, name)(weights=None), picture, ["image"], None)


class Outputs(nn.Module):
    """A transformers model whose result is a tuple of the tensors named."""

    def __init__(self, model, *names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        result = self.model(*inputs)
        return tuple(result[name] for name in self.names)


def tokens(vocabulary):
    def inputs(batch):
        return torch.randint(0, vocabulary, (batch, SEQUENCE)), torch.ones(batch, SEQUENCE, dtype=torch.int64)

    return inputs


class TextEncoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def bert():
    config = transformers.BertConfig()
    model = TextEncoder(transformers.BertModel(config, add_pooling_layer=False))
    return model, tokens(config.vocab_size), ["input_ids", "attention_mask"], None


def distilbert():
    config = transformers.DistilBertConfig()
    model = TextEncoder(transformers.DistilBertModel(config))
    return model, tokens(config.vocab_size), ["input_ids", "attention_mask"], None


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config())

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


def gpt2():
    model = Gpt2()
    inputs = tokens(model.model.config.vocab_size)
    return model, lambda batch: inputs(batch)[:1], ["input_ids"], None


class Gpt2Decode(nn.Module):
    """One token after a cache of keys and values, which goes in and comes out grown."""

    def __init__(self):
        super().__init__()
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config())

    def forward(self, input_ids, *cache):
        past = transformers.DynamicCache(list(zip(cache[::2], cache[1::2])))
        result = self.model(input_ids=input_ids, past_key_values=past, use_cache=True)
        layers = result.past_key_values.layers
        return (result.logits, *(tensor for layer in layers for tensor in (layer.keys, layer.values)))


def gpt2_decode():
    model = Gpt2Decode()
    config = model.model.config
    heads, width = config.n_head, config.n_embd // config.n_head

    def inputs(batch):
        cache = [torch.randn(batch, heads, PAST, width) for _ in range(2 * config.n_layer)]
        return torch.randint(0, config.vocab_size, (batch, 1)), *cache

    names = ["input_ids"] + [f"past_{kind}_{layer}" for layer in range(config.n_layer) for kind in ("key", "value")]
    past = torch.export.Dim("past", min=1, max=config.n_positions - 1)
    return model, inputs, names, (None, ({2: past},) * (2 * config.n_layer))


def whisper_encoder():
    config = transformers.WhisperConfig(
        d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6, decoder_attention_heads=6,
        encoder_ffn_dim=1536, decoder_ffn_dim=1536,
    )  # fmt: skip
    encoder = transformers.WhisperModel(config).encoder
    return Outputs(encoder, "last_hidden_state"), lambda batch: (torch.randn(batch, 80, 3000),), ["features"], None


class Speech(nn.Module):
    """Letters out of two seconds of sound: a strided convolution over mel bands, two LSTMs both ways, a product."""

    def __init__(self, bands=80, channels=256, hidden=512, letters=32):
        super().__init__()
        self.convolution = nn.Conv1d(bands, channels, 5, stride=2, padding=2)
        self.lstm = nn.LSTM(channels, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.letters = nn.Linear(2 * hidden, letters)

    def forward(self, mel):
        frames = torch.relu(self.convolution(mel)).transpose(1, 2)
        return self.letters(self.lstm(frames)[0])


def lstm_speech():
    return Speech(), lambda batch: (torch.randn(batch, 80, 200),), ["mel"], None


def any_size(build, **axes):
    """The same for sizes that only a run knows: `axes` names them, each with its number and its least and most."""

    def built():
        model, inputs, names, _ = build()
        open_axes = {axis: torch.export.Dim(name, min=least, max=most) for name, (axis, least, most) in axes.items()}
        return model, inputs, names, (open_axes,) * len(names)

    return built


ANY_BATCH = {"batch": (0, 1, 256)}
ANY_LENGTH = {**ANY_BATCH, "length": (1, 2, 512)}

NETWORKS = {
    "resnet50": vision("resnet50"),
    "mobilenet_v2": vision("mobilenet_v2"),
    "mobilenet_v3": vision("mobilenet_v3_large"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "convnext_tiny": vision("convnext_tiny"),
    "squeezenet1_1": vision("squeezenet1_1"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "swin_t": vision("swin_t"),
    "vit_b_16": vision("vit_b_16"),
    "bert": bert,
    "distilbert": distilbert,
    "gpt2": gpt2,
    "gpt2_decode": gpt2_decode,
    "whisper_tiny_encoder": whisper_encoder,
    "lstm_speech": lstm_speech,
}
for name in ("resnet50", "mobilenet_v2", "efficientnet_b0", "convnext_tiny"):
    NETWORKS[f"{name}_any"] = any_size(NETWORKS[name], **ANY_BATCH)
for name in ("bert", "gpt2"):
    NETWORKS[f"{name}_any"] = any_size(NETWORKS[name], **ANY_LENGTH)
