#!/usr/bin/env python3
"""sklearn_models.py DIR PATTERN: what skl2onnx and onnxmltools make of scikit-learn, LightGBM and XGBoost, a case each.

Prints the names of all that match. Runs in the environment of captures.py that has these packages.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
import case
import numpy
from sklearn import (
    cluster, compose, datasets, decomposition, discriminant_analysis, ensemble, feature_extraction, feature_selection, gaussian_process,
    impute, isotonic, kernel_approximation, linear_model, mixture, multiclass, naive_bayes, neighbors, neural_network, pipeline,
    preprocessing, svm, tree,
)  # fmt: skip

SIZES = (1, 100)
X, Y = datasets.load_iris(return_X_y=True)
X = X.astype(numpy.float32)
REAL, TARGET = datasets.load_diabetes(return_X_y=True)
REAL = REAL.astype(numpy.float32)
TEXTS = ["the cat sat on the mat", "a dog and a cat", "Dogs bark at night", "mat and mats", "the night was quiet"]
TOPICS = [0, 1, 1, 0, 1]


def scaled(model):
    return pipeline.make_pipeline(preprocessing.StandardScaler(), model)


CLASSIFIERS = {
    "logistic-regression": linear_model.LogisticRegression(max_iter=500),
    "sgd-classifier": linear_model.SGDClassifier(loss="log_loss", random_state=1),
    "decision-tree": tree.DecisionTreeClassifier(random_state=1),
    "random-forest": ensemble.RandomForestClassifier(30, random_state=1),
    "extra-trees": ensemble.ExtraTreesClassifier(31, random_state=1),
    "gradient-boosting": ensemble.GradientBoostingClassifier(n_estimators=20, random_state=1),
    "ada-boost": ensemble.AdaBoostClassifier(n_estimators=10, random_state=1),
    "bagging": ensemble.BaggingClassifier(n_estimators=5, random_state=1),
    "voting": ensemble.VotingClassifier([("a", linear_model.LogisticRegression(max_iter=500)), ("b", naive_bayes.GaussianNB())], flatten_transform=False),
    "mlp-classifier": scaled(neural_network.MLPClassifier((32, 16), max_iter=200, random_state=1)),
    "svc": svm.SVC(probability=True, random_state=1),
    "linear-svc": svm.LinearSVC(),
    "knn-classifier": neighbors.KNeighborsClassifier(3),
    "gaussian-nb": naive_bayes.GaussianNB(),
    "one-vs-rest": multiclass.OneVsRestClassifier(linear_model.LogisticRegression(max_iter=500)),
    "lda": discriminant_analysis.LinearDiscriminantAnalysis(),
    "qda": discriminant_analysis.QuadraticDiscriminantAnalysis(),
}
REGRESSORS = {
    "linear-regression": linear_model.LinearRegression(),
    "elastic-net": linear_model.ElasticNet(alpha=0.01),
    "random-forest-regressor": ensemble.RandomForestRegressor(30, max_depth=8, random_state=1),
    "gradient-boosting-regressor": ensemble.GradientBoostingRegressor(n_estimators=30, random_state=1),
    "mlp-regressor": neural_network.MLPRegressor(hidden_layer_sizes=(32,), max_iter=100, random_state=1),
    "svr": svm.SVR(),
    "knn-regressor": neighbors.KNeighborsRegressor(5),
    "gaussian-process": gaussian_process.GaussianProcessRegressor(),
    "polynomial": pipeline.make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.Ridge()),
}
OTHERS = {
    "standard-scaler": preprocessing.StandardScaler(),
    "min-max-scaler": preprocessing.MinMaxScaler(),
    "robust-scaler": preprocessing.RobustScaler(),
    "normalizer": preprocessing.Normalizer(),
    "power-transformer": preprocessing.PowerTransformer(),
    "quantile-bins": preprocessing.KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    "pca": decomposition.PCA(2),
    "truncated-svd": decomposition.TruncatedSVD(2),
    "k-means": cluster.KMeans(3, n_init=2, random_state=1),
    "gaussian-mixture": mixture.GaussianMixture(3, random_state=1),
    "isolation-forest": ensemble.IsolationForest(n_estimators=20, random_state=1),
    "local-outlier-factor": neighbors.LocalOutlierFactor(novelty=True, n_neighbors=5),
    "one-class-svm": svm.OneClassSVM(),
    "simple-imputer": impute.SimpleImputer(),
    "knn-imputer": impute.KNNImputer(n_neighbors=3),
    "select-k-best": feature_selection.SelectKBest(k=2),
}


def skl(model, x=X, **options):
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType

    kinds = [("X", FloatTensorType([None, x.shape[1]]))]
    return skl2onnx.convert_sklearn(model, initial_types=kinds, options=options.get("options"), target_opset={"": 18, "ai.onnx.ml": 3})


def classifier(model):
    fitted = model.fit(X, Y)
    options = {} if isinstance(model, svm.LinearSVC) else {id(fitted): {"zipmap": False}}
    return skl(fitted, options=options)


def text():
    import skl2onnx
    from skl2onnx.common.data_types import StringTensorType

    words = pipeline.make_pipeline(feature_extraction.text.TfidfVectorizer(), linear_model.LogisticRegression()).fit(TEXTS, TOPICS)
    options = {id(words): {"zipmap": False}, id(words.steps[0][1]): {"locale": "C"}}
    return skl2onnx.convert_sklearn(words, initial_types=[("X", StringTensorType([None]))], options=options)


def columns():
    import pandas
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    table = pandas.DataFrame({"size": X[:, 0], "kind": numpy.array(["a", "b", "c"])[Y]})
    parts = compose.ColumnTransformer(
        [("n", preprocessing.StandardScaler(), ["size"]), ("c", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["kind"])]
    )
    fitted = pipeline.make_pipeline(parts, ensemble.RandomForestClassifier(10, random_state=1)).fit(table, Y)
    kinds = [("size", FloatTensorType([None, 1])), ("kind", StringTensorType([None, 1]))]
    return skl2onnx.convert_sklearn(fitted, initial_types=kinds, options={id(fitted): {"zipmap": False}})


def zip_map():
    return skl(linear_model.LogisticRegression(max_iter=500).fit(X, Y))


def boosted(kind):
    def make():
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType

        kinds = [("X", FloatTensorType([None, X.shape[1]]))]
        if kind.startswith("lightgbm"):
            import lightgbm

            settings = {"n_estimators": 20, "verbose": -1, "n_jobs": 1}
            fitted = (
                lightgbm.LGBMClassifier(**settings).fit(X, Y) if kind.endswith("classifier")
                else lightgbm.LGBMRegressor(**settings).fit(X, X[:, 0] * Y)
            )  # fmt: skip
            return onnxmltools.convert_lightgbm(fitted, initial_types=kinds, zipmap=False)
        import xgboost

        settings = {"n_estimators": 20, "n_jobs": 1}
        fitted = (
            xgboost.XGBClassifier(**settings).fit(X, Y) if kind.endswith("classifier")
            else xgboost.XGBRegressor(**settings).fit(X, X[:, 0] * Y)
        )  # fmt: skip
        return onnxmltools.convert_xgboost(fitted, initial_types=kinds)

    return make


def rows(width, name="X"):
    return [{name: [count, width]} for count in SIZES]


def makers():
    """{name: (a function that makes the model, runs, values)}"""
    made = {}
    for name, model in CLASSIFIERS.items():
        made[name] = (lambda model=model: classifier(model), rows(X.shape[1]), {"X": {"scale": 3}})
    for name, model in REGRESSORS.items():
        made[name] = (lambda model=model: skl(model.fit(REAL, TARGET), REAL), rows(REAL.shape[1]), {"X": {"scale": 0.1}})
    for name, model in OTHERS.items():
        made[name] = (lambda model=model: skl(model.fit(X, Y)), rows(X.shape[1]), {"X": {"scale": 3}})
    made["zip-map"] = (zip_map, rows(X.shape[1]), {})
    made["tfidf"] = (text, [{"X": [count]} for count in SIZES], {"X": {"words": TEXTS + ["", "a night at the mat"]}})
    made["columns"] = (columns, [{"size": [n, 1], "kind": [n, 1]} for n in SIZES], {"kind": {"words": ["a", "b", "c", "d"]}})
    for kind in ("lightgbm-classifier", "lightgbm-regressor", "xgboost-classifier", "xgboost-regressor"):
        made[kind] = (boosted(kind), rows(X.shape[1]), {"X": {"scale": 3}})
    return {f"sklearn-{name}" if "boost-" not in name and "lightgbm" not in name else name: entry for name, entry in made.items()}


def main(folder, pattern):
    for name, (make, runs, values) in makers().items():
        if not re.search(pattern, name):
            continue
        place = os.path.join(folder, name)
        if not os.path.exists(os.path.join(place, "model.onnx")):
            print(f"making {name}", file=sys.stderr)
            os.makedirs(place, exist_ok=True)
            try:
                data = make().SerializeToString()
            except Exception as error:  # a converter that fails is its own affair, told and left out
                print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            with open(os.path.join(place, "model.onnx"), "wb") as file:
                file.write(data)
        case.write(place, runs, values)
        print(name)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
