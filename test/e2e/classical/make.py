#!/usr/bin/env python3
"""make.py: writes the models of this folder, with a few rows and what ONNX Runtime computes of them.

Run by hand, with onnxruntime, scikit-learn and skl2onnx installed; its results are stored. Each is a model of scikit-learn as
its converter writes it: operators of ai.onnx.ml, with labels that are strings.
"""

import os

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.svm import SVC

HERE = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(1)
X = random.normal(size=(60, 3)).astype(np.float32)
LABELS = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])]
WORDS = random.choice(["red", "green", "blue"], size=(60, 2))

MODELS = {
    "forest": (RandomForestClassifier(4, max_depth=3, random_state=1), X),
    "boosting": (GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=1), X),
    "support_vectors": (SVC(probability=True, random_state=1), X[:30]),
    "scaled": (make_pipeline(MinMaxScaler(), LogisticRegression()), X),
    "words": (make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()), WORDS),
}

for name, (model, rows) in MODELS.items():
    model.fit(rows, LABELS[: len(rows)])
    kind = StringTensorType if rows.dtype.kind == "U" else FloatTensorType
    proto = to_onnx(model, initial_types=[("x", kind([None, rows.shape[1]]))], options={"zipmap": False},
                    target_opset={"": 17, "ai.onnx.ml": 3})
    given = rows[::12]
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    results = session.run(None, {"x": given.astype(object) if kind is StringTensorType else given})
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(proto.SerializeToString())
    np.save(os.path.join(folder, "input_0.npy"), given)
    for i, result in enumerate(results):
        np.save(os.path.join(folder, f"output_{i}.npy"), result.astype("U") if result.dtype == object else result)
