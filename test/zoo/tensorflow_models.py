#!/usr/bin/env python3
"""tensorflow_models.py DIR PATTERN: what tf2onnx makes of Keras networks and TensorFlow functions, with random weights, a case each.

Prints the names of all that match. Runs in the environment of captures.py that has TensorFlow. Its pictures have their channels
last, so that files are full of Transpose; recurrent layers and loops become Loop, or LSTM and GRU where tf2onnx knows them.
"""

import os
import re
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
sys.dont_write_bytecode = True
import case
import keras
import tensorflow as tf
import tf2onnx
from keras import layers

SEED, OPSET = 5, 18
TOKENS = 200


class Network:
    """A function of tensors, the signature of each input by name (None: an open size), the sizes of runs, and rules of values."""

    def __init__(self, make, inputs, runs, values=None):
        self.make, self.runs, self.values = make, runs, values or {}
        self.signature = [tf.TensorSpec(shape, kind, name) for name, (shape, kind) in inputs.items()]


def trained(network):
    """With biases that are not zero, as after training."""
    random = keras.random.SeedGenerator(SEED)
    for weight in network.weights:
        if weight.name in ("bias", "beta", "moving_mean"):
            weight.assign(keras.random.normal(weight.shape, stddev=0.1, seed=random))
    return network


def pictures(make, shape, *runs):
    return Network(make, {"image": (shape, tf.float32)}, [{"image": list(run)} for run in runs])


def application(name, size):
    def make():
        network = trained(getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10))
        return lambda image: network(image, training=False)

    return pictures(make, (None, size, size, 3), (1, size, size, 3), (2, size, size, 3))


def unet():
    def make():
        image = keras.Input((None, None, 3))
        fine = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
        coarse = layers.BatchNormalization()(layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(fine))
        deep = layers.SeparableConv2D(32, 3, dilation_rate=2, padding="same", activation="swish")(layers.MaxPooling2D()(coarse))
        up = layers.Concatenate()([layers.UpSampling2D()(deep), coarse])
        up = layers.Concatenate()([layers.Conv2DTranspose(16, 3, strides=2, padding="same")(up), fine])
        return trained(keras.Model(image, layers.Conv2D(2, 1, activation="softmax")(up)))

    return pictures(make, (None, None, None, 3), (1, 96, 128, 3), (2, 64, 64, 3))


def series(make, width):
    return Network(make, {"series": ((None, None, width), tf.float32)}, [{"series": [2, 12, width]}, {"series": [1, 30, width]}])


def recurrent(kind, **options):
    def make():
        first, second = getattr(layers, kind)(32, return_sequences=True, **options), getattr(layers, kind)(16, **options)
        return trained(keras.Sequential([keras.Input((None, 24)), layers.Bidirectional(first), second]))

    return series(make, 24)


def wavenet():
    def make():
        signal = x = keras.Input((None, 8))
        for rate in (1, 2, 4, 8):
            gate = layers.Conv1D(32, 2, dilation_rate=rate, padding="causal", activation="sigmoid")(x)
            x = layers.Conv1D(32, 2, dilation_rate=rate, padding="causal", activation="tanh")(x) * gate
        return trained(keras.Model(signal, layers.Dense(4)(layers.LayerNormalization()(x))))

    return series(make, 8)


def transformer():
    def make():
        ids = keras.Input((None,), dtype="int32")
        x = layers.Embedding(TOKENS, 64)(ids)
        for _ in range(2):
            x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x, use_causal_mask=True))
            x = layers.LayerNormalization()(x + layers.Dense(64)(layers.Dense(128, activation="swish")(x)))
        return trained(keras.Model(ids, layers.Dense(TOKENS)(x)))

    return Network(make, {"ids": ((None, None), tf.int32)}, [{"ids": [2, 12]}, {"ids": [1, 7]}], {"ids": {"from": 0, "to": TOKENS}})


def spectrogram():
    def logarithms(series):
        mel = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000)
        return tf.math.log(tf.abs(tf.signal.rfft(tf.signal.frame(series, 256, 128))) @ mel + 1e-6)

    return Network(lambda: logarithms, {"series": ((None,), tf.float32)}, [{"series": [4000]}, {"series": [1500]}])


def power_iteration():
    """The largest eigenvalue of matrices, by a loop that ends when it no longer changes or after 30 turns."""

    def iterate(series):
        square = series @ tf.transpose(series, [0, 2, 1])

        def turn(count, vector, _, change):
            following = square @ vector
            size = tf.norm(following, axis=[1, 2], keepdims=True)
            return count + 1, following / size, size, tf.reduce_max(tf.abs(following / size - vector))

        begin = (0, tf.ones_like(square[:, :, :1]), tf.ones_like(square[:, :1, :1]), tf.constant(1.0))
        return tf.while_loop(lambda count, vector, size, change: (count < 30) & (change > 1e-4), turn, begin)[2]

    return series(lambda: iterate, 6)


def boxes():
    """A detector's end: the best boxes by non-maximum suppression, and what lies under them, resized."""

    def cut(image, corners, scores):
        lower = tf.minimum(corners[:, :2], corners[:, 2:])
        upper = tf.maximum(corners[:, :2], corners[:, 2:])
        all_boxes = tf.concat([lower, upper], 1)
        chosen = tf.image.non_max_suppression(all_boxes, scores, 8, 0.4, 0.1)
        best = tf.gather(all_boxes, chosen)
        crops = tf.image.crop_and_resize(image, best, tf.zeros_like(chosen), [7, 7])
        return chosen, crops, tf.math.top_k(scores, 5).indices

    inputs = {"image": ((1, None, None, 3), tf.float32), "corners": ((None, 4), tf.float32), "scores": ((None,), tf.float32)}
    runs = [{"image": [1, 40, 60, 3], "corners": [count, 4], "scores": [count]} for count in (30, 100)]
    return Network(lambda: cut, inputs, runs, {"corners": {"scale": 0.5}})


NETWORKS = {
    "mobilenet-v2": lambda: application("MobileNetV2", 96),
    "efficientnet-v2": lambda: application("EfficientNetV2B0", 96),
    "unet": unet,
    "lstm": lambda: recurrent("LSTM"),
    "gru": lambda: recurrent("GRU"),
    "gru-reset-before": lambda: recurrent("GRU", reset_after=False),
    "rnn": lambda: recurrent("SimpleRNN"),
    "wavenet": wavenet,
    "transformer": transformer,
    "spectrogram": spectrogram,
    "power-iteration": power_iteration,
    "boxes": boxes,
}


def convert(network):
    function = tf.function(network.make(), input_signature=network.signature)
    return tf2onnx.convert.from_function(function, input_signature=network.signature, opset=OPSET)[0]


def main(folder, pattern):
    for stem, make in NETWORKS.items():
        name = f"tensorflow-{stem}"
        if not re.search(pattern, name):
            continue
        place = os.path.join(folder, name)
        keras.utils.set_random_seed(SEED)
        network = make()
        if not os.path.exists(os.path.join(place, "model.onnx")):
            print(f"converting {name}", file=sys.stderr)
            os.makedirs(place, exist_ok=True)
            try:
                data = convert(network).SerializeToString()
            except Exception as error:  # a converter that refuses a network is its own affair, told and left out
                why = (str(error).splitlines() or [type(error).__name__])[-1]
                print(f"{name}: {why[:300]}", file=sys.stderr)
                continue
            with open(os.path.join(place, "model.onnx"), "wb") as file:
                file.write(data)
        case.write(place, network.runs, network.values)
        print(name, flush=True)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
