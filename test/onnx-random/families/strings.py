"""Operators of strings."""

import numpy
from onnx import TensorProto

from families import operators


@operators("StringConcat")
def string_concat(g, op):
    x = g.operand(op)
    g.op(op, [x, g.partner(x)])


@operators("StringSplit")
def string_split(g, op):
    x = g.source(g.scope.generator.choice(numpy.array(["a b", "a,b,c", "", "abc", ", x"], dtype=object), g.shape(high=3)))
    g.op(op, [x], outputs=2, delimiter=g.rng.choice([None, ",", " ", ", "]), maxsplit=g.rng.choice([None, 1, 2]))


@operators("RegexFullMatch")
def regex(g, op):
    g.op(op, [g.operand(op)], pattern=g.rng.choice(["a.*", "[a-z]+", "", "(ab|b)c?", "\\w \\w"]))


@operators("StringNormalizer")
def string_normalizer(g, op):
    shape = g.rng.choice([(3,), (1, 4), (1,)])
    g.op(op, [g.new(TensorProto.STRING, shape)], case_change_action=g.rng.choice([None, "LOWER", "UPPER", "NONE"]),
         is_case_sensitive=g.rng.choice([None, 0, 1]), stopwords=g.rng.choice([None, ["a"], ["abc", "B"]]))


@operators("LabelEncoder")
def label_encoder(g, op):
    x = g.new(TensorProto.STRING, g.shape(high=3))
    g.op(op, [x], domain="ai.onnx.ml", keys_strings=["a", "b", "abc"], values_int64s=[3, 1, 4], default_int64=g.rng.choice([None, 9]))


@operators("TfIdfVectorizer")
def tf_idf(g, op):
    x = g.new(g.rng.choice([TensorProto.INT32, TensorProto.INT64]), g.rng.choice([(6,), (2, 5)]), 0, 5)
    g.op(op, [x], mode=g.rng.choice(["TF", "IDF", "TFIDF"]), min_gram_length=1, max_gram_length=2, max_skip_count=g.rng.choice([0, 1]),
         ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4], pool_int64s=[1, 2, 3, 1, 2, 3, 4],
         weights=g.rng.choice([None, [1.0, 2.0, 0.5, 1.0, 3.0]]))
