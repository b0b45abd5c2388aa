"""Operators of ai.onnx.ml: features, linear models, trees."""

from onnx import TensorProto

from families import operators

DOMAIN = "ai.onnx.ml"
NUMBERS = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32]


def rows(g, op, width=None, among=NUMBERS):
    """A table of numbers, one row for each example."""
    found = g.pick(lambda value: value.rank == 2 and value.dtype in among and value.data.size and width in (None, value.shape[1]), 0.4)
    return found or g.new(g.dtype(op, 0, among, DOMAIN), (g.rng.choice([1, 2, 5]), width or g.rng.choice([1, 3, 4])))


def floats(g, count, low=-2, high=2):
    return [float(each) for each in g.array(TensorProto.FLOAT, (count,), low, high)]


@operators("ArrayFeatureExtractor")
def array_feature_extractor(g, op):
    x = g.operand(op, low=1, high=3, domain=DOMAIN, where=lambda value: value.data.size > 0)
    g.op(op, [x, g.source(g.array(TensorProto.INT64, (g.rng.choice([1, 2, 3]),), 0, x.shape[-1]))], domain=DOMAIN)


@operators("Binarizer")
def binarizer(g, op):
    g.op(op, [g.operand(op, domain=DOMAIN)], domain=DOMAIN, threshold=g.rng.choice([None, 0.5, -1.0]))


@operators("Normalizer")
def normalizer(g, op):
    g.op(op, [rows(g, op)], domain=DOMAIN, norm=g.rng.choice([None, "MAX", "L1", "L2"]))


@operators("Scaler")
def scaler(g, op):
    x = rows(g, op)
    count = g.rng.choice([1, x.shape[1]])
    g.op(op, [x], domain=DOMAIN, offset=floats(g, count), scale=floats(g, count))


@operators("Imputer")
def imputer(g, op):
    x = rows(g, op, among=[TensorProto.FLOAT, TensorProto.INT64])
    count = g.rng.choice([1, x.shape[1]])
    if x.dtype == TensorProto.FLOAT:
        g.op(op, [x], domain=DOMAIN, imputed_value_floats=floats(g, count), replaced_value_float=g.rng.choice([1.0, 0.25]))
    else:
        g.op(op, [x], domain=DOMAIN, imputed_value_int64s=list(range(7, 7 + count)), replaced_value_int64=g.rng.choice([1, 2]))


@operators("FeatureVectorizer")
def feature_vectorizer(g, op):
    x = rows(g, op)
    y = g.new(x.dtype, (x.shape[0], 2))
    g.op(op, [x, y], domain=DOMAIN, inputdimensions=[x.shape[1], 2])


@operators("OneHotEncoder")
def one_hot_encoder(g, op):
    if g.chance(0.5):
        x, kinds = g.new(TensorProto.STRING, g.shape(high=2)), {"cats_strings": ["a", "b", "abc"]}
    else:
        x, kinds = g.new(TensorProto.INT64, g.shape(high=2), 0, 4), {"cats_int64s": [0, 1, 3]}
    g.op(op, [x], domain=DOMAIN, zeros=1, **kinds)


@operators("LinearRegressor")
def linear_regressor(g, op):
    x, targets = rows(g, op, among=[TensorProto.FLOAT]), g.rng.choice([1, 2])
    g.op(op, [x], domain=DOMAIN, targets=targets, coefficients=floats(g, targets * x.shape[1]),
         intercepts=floats(g, targets) if g.chance(0.6) else None)


@operators("TreeEnsembleRegressor")
def tree_ensemble(g, op):
    """A tree of one decision on each of two levels."""
    x = rows(g, op, among=[TensorProto.FLOAT])
    features = [g.rng.randrange(x.shape[1]) for _ in range(2)]
    mode = g.rng.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"])
    leaves = [2, 3, 4]
    g.op(op, [x], domain=DOMAIN, n_targets=1, nodes_treeids=[0] * 5, nodes_nodeids=[0, 1, 2, 3, 4], nodes_featureids=[*features, 0, 0, 0],
         nodes_values=[*floats(g, 2), 0.0, 0.0, 0.0], nodes_modes=[mode, mode, "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[1, 3, 0, 0, 0],
         nodes_falsenodeids=[2, 4, 0, 0, 0], target_treeids=[0] * 3, target_nodeids=leaves, target_ids=[0] * 3,
         target_weights=floats(g, 3), base_values=g.rng.choice([None, [0.5]]),
         post_transform=g.rng.choice([None, "NONE", "LOGISTIC"]), aggregate_function=g.rng.choice([None, "SUM", "AVERAGE", "MIN", "MAX"]))
