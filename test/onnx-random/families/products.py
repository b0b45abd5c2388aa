"""Matrix products, Einsum, attention."""

import string

from onnx import TensorProto

import schemas
from families import operators


@operators("MatMul")
def matmul(g, op):
    x = g.operand(op, low=1, high=5, limits=(-99, 99))
    inner = x.shape[-1]
    kind = g.rng.randrange(3)
    if kind == 0:
        shape = (inner,)
    elif kind == 1 or x.rank < 3:
        shape = (inner, g.size())
    else:
        shape = (*(1 if g.chance(0.3) else size for size in x.shape[g.rng.randint(0, x.rank - 2):-2]), inner, g.size())
    g.op(op, [x, g.weight(x.dtype, shape)])


@operators("Gemm")
def gemm(g, op):
    m, k, n = g.size(), g.size(), g.size()
    x = g.pick(lambda value: value.rank == 2 and value.dtype == TensorProto.FLOAT, 0.4)
    flip_a, flip_b = g.rng.choice([None, 0, 1]), g.rng.choice([None, 0, 1])
    x = x or g.new(g.dtype(op), (k, m) if flip_a else (m, k))
    m, k = x.shape[::-1] if flip_a else x.shape
    inputs = [x, g.weight(x.dtype, (n, k) if flip_b else (k, n))]
    if g.scope.opset < 11 or g.chance(0.7):
        inputs.append(g.weight(x.dtype, g.rng.choice([(n,), (m, n), (1, n), (m, 1), (), (1,)])))
    g.op(op, inputs, transA=flip_a, transB=flip_b, alpha=g.rng.choice([None, 1.0, 0.5]), beta=g.rng.choice([None, 1.0, 2.0]))


@operators("Einsum")
def einsum(g, op):
    letters = g.rng.sample(string.ascii_lowercase[:6] + "XY", g.rng.randint(1, 4))
    sizes = {letter: g.rng.choice([1, 2, 3, 4]) for letter in letters}
    dots = g.chance(0.25)
    terms = []
    for _ in range(g.rng.choice([1, 2, 2, 2, 3])):
        term = "".join(g.rng.sample(letters, g.rng.randint(0 if dots else 1, len(letters))))
        if term and g.chance(0.1):
            term += term[0]
        terms.append(term)
    wide = g.shape(g.rng.choice([1, 1, 2])) if dots else ()
    dtype = g.dtype(op, 0, [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64])
    inputs = [g.weight(dtype, (*wide, *(sizes[letter] for letter in term))) for term in terms]
    there = sorted(set("".join(terms)))
    equation = (" , " if g.chance(0.2) else ",").join("..." * dots + term for term in terms)
    if g.chance(0.8):
        equation += g.rng.choice(["->", " -> "]) + "..." * dots + "".join(g.rng.sample(there, g.rng.randint(0, len(there))))
    g.op(op, inputs, equation=equation)


@operators("MatMulInteger")
def matmul_integer(g, op):
    m, k, n = (g.rng.choice([1, 2, 3, 5, 17]) for _ in range(3))
    batch = g.shape(g.rng.choice([0, 0, 1, 2]))
    a = g.new(g.dtype(op, 0), (*batch, m, k))
    b = g.weight(g.dtype(op, 1), (*(batch if g.chance(0.4) else ()), k, n))
    inputs = [a, b]
    if g.chance(0.6):
        inputs.append(g.weight(a.dtype, g.rng.choice([(), (1,)])))
        if g.chance(0.6):
            inputs.append(g.weight(b.dtype, g.rng.choice([(), (n,)]) if b.rank == 2 else ()))
    g.op(op, inputs)


@operators("Attention")
def attention(g, op):
    batch, heads, groups, length, past, size = (g.rng.choice(each) for each in
                                                ([1, 2], [1, 2, 4], [1, 2], [1, 3, 5], [0, 0, 2], [2, 4]))
    key_heads = heads if g.chance(0.5) or heads % groups else heads // groups
    key_length = length if g.chance(0.6) else g.rng.choice([2, 4])
    dtype = g.dtype(op, 0, [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE])
    flat = g.chance(0.4)

    def tensor(count, steps):
        return g.new(dtype, (batch, steps, count * size) if flat else (batch, count, steps, size), -2, 2)
    inputs = [tensor(heads, length), tensor(key_heads, key_length), tensor(key_heads, key_length)]
    if g.chance(0.4) or past:
        total = key_length + past
        mask = None
        if g.chance(0.7):
            shape = g.rng.choice([(length, total), (1, 1, length, total), (batch, heads, length, total)])
            mask = g.weight(g.rng.choice([dtype, TensorProto.BOOL]), shape)
        inputs.append(mask)
    if past:
        inputs += [g.weight(dtype, (batch, key_heads, past, size)) for _ in range(2)]
    outputs = 3 if past else 1
    g.op(op, inputs, outputs=outputs, q_num_heads=heads if flat else None, kv_num_heads=key_heads if flat else None,
         is_causal=g.rng.choice([None, 0, 1]), scale=g.rng.choice([None, 0.5]), softcap=g.rng.choice([None, None, 2.0]))


@operators("RotaryEmbedding")
def rotary_embedding(g, op):
    batch, heads, length, size = g.rng.choice([1, 2]), g.rng.choice([1, 3]), g.rng.choice([1, 4]), g.rng.choice([4, 8])
    flat = g.chance(0.4)
    x = g.new(g.dtype(op, 0, schemas.FLOATS[:3]), (batch, length, heads * size) if flat else (batch, heads, length, size))
    places = g.chance(0.6)
    part = g.rng.choice([0, 0, size // 2])
    table = (8 if places else batch,) + (() if places else (length,)) + ((part or size) // 2,)
    inputs = [x, g.weight(x.dtype, table, -1, 1), g.weight(x.dtype, table, -1, 1)]
    if places:
        inputs.append(g.source(g.array(TensorProto.INT64, (batch, length), 0, 8)))
    g.op(op, inputs, interleaved=g.rng.choice([None, 0, 1]), num_heads=heads if flat else None,
         rotary_embedding_dim=part or None)


@operators("CausalConvWithState")
def causal_conv(g, op):
    batch, channels, length, kernel = g.rng.choice([1, 2]), g.rng.choice([1, 3]), g.rng.choice([1, 4]), g.rng.choice([2, 3])
    x = g.new(TensorProto.FLOAT, (batch, channels, length))
    inputs = [x, g.weight(x.dtype, (channels, 1, kernel)), g.weight(x.dtype, (channels,)) if g.chance(0.5) else None,
              g.weight(x.dtype, (batch, channels, kernel - 1)) if g.chance(0.5) else None]
    g.op(op, inputs, outputs=2, activation=g.rng.choice([None, "silu", "none"]))


