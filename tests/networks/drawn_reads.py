"""Operators with indices that are data, products of bytes, recurrences, transforms, and operators of onnxruntime's optimiser."""
import numpy

from drawing import FLOATS

MICROSOFT = {"domain": "com.microsoft"}


def floats(d, *shape, scale=1.0):
    return d.input((d.numbers.standard_normal(shape) * scale).astype(numpy.float32))


def weights(d, *shape, scale=0.4):
    return d.constant(d.numbers.standard_normal(shape) * scale, "f32")


def image(d):
    x = d.pick(("f32",), lambda shape: len(shape) == 4 and min(shape[2:]) >= 2)
    return x if x is not None and d.choose.random() < 0.5 else floats(d, d.choose.randint(1, 2), 2, d.choose.randint(2, 6), d.choose.randint(2, 6))


def reduction_of(d):
    names = ("none", "add", "mul", "max", "min") if d.opset >= 18 else ("none", "add", "mul") if d.opset >= 16 else ("none",)
    name = d.choose.choice(names)
    return name, {} if name == "none" else {"reduction": name}


def scatter_nd(d):
    x = d.pick(FLOATS + ("i64", "i32"), lambda shape: 1 <= len(shape) <= 4)
    if x is None:
        return
    shape = d.shape(x)
    depth = d.choose.randint(1, len(shape))
    name, attributes = reduction_of(d)
    if d.choose.random() < 0.4:  # a range along each axis, as assignments to slices are exported
        grid = [d.choose.choice((None, 1, 2)) for _ in range(depth)]
        ranges = [numpy.arange(d.choose.randrange(extent), extent, step) if step else numpy.array([d.choose.randrange(extent)]) for step, extent in zip(grid, shape)]
        indices = numpy.stack(numpy.meshgrid(*ranges, indexing="ij"), -1)
        indices = d.constant(indices.astype(numpy.int64))
    else:
        places = numpy.prod(shape[:depth])
        count = d.choose.randint(1, 4) if name != "none" else d.choose.randint(1, min(4, places))
        flat = d.numbers.choice(places, count, replace=name != "none")  # of several writes to one place, any may be the last
        indices = numpy.stack(numpy.unravel_index(flat, shape[:depth]), -1).astype(numpy.int64)
        indices = numpy.where(d.numbers.random(indices.shape) < 0.3, indices - numpy.array(shape[:depth]), indices)
        indices = d.constant(indices) if d.choose.random() < 0.5 else d.input(indices)
    updates = (*d.shape(indices)[:-1], *shape[depth:])
    d.add("ScatterND", [x, indices, d.constant(d.numbers.integers(-3, 4, updates), d.type(x))], **attributes)


def scatter_elements(d):
    x = d.pick(FLOATS + ("i64", "i32"), lambda shape: 1 <= len(shape) <= 3)
    if x is None:
        return
    shape = d.shape(x)
    axis = d.choose.randrange(len(shape))
    name, attributes = reduction_of(d)
    extents = [d.choose.randint(1, extent) for extent in shape]
    order = numpy.argsort(d.numbers.random([shape[axis] if i == axis else extent for i, extent in enumerate(extents)]), axis)
    indices = numpy.take(order, range(extents[axis]), axis)  # no place twice
    if name != "none":
        indices = d.numbers.integers(-shape[axis], shape[axis], extents)
    indices = d.input(indices.astype(numpy.int64))
    d.add("ScatterElements", [x, indices, d.constant(d.numbers.integers(-3, 4, extents), d.type(x))], axis=axis - len(shape) if d.choose.random() < 0.3 else axis, **attributes)


def grid_sample(d):
    if d.opset < 16:
        return
    x = image(d)
    names = ("linear", "nearest", "cubic") if d.opset >= 20 else ("bilinear", "nearest", "bicubic")
    grid = floats(d, d.shape(x)[0], d.choose.randint(1, 4), d.choose.randint(1, 4), 2, scale=0.7)
    d.add("GridSample", [x, grid], mode=d.choose.choice(names), padding_mode=d.choose.choice(("zeros", "border", "reflection")), align_corners=d.choose.randint(0, 1))


def roi_align(d):
    x = image(d)
    count = d.choose.randint(1, 3)
    corners = d.numbers.random((count, 2)) * 3
    boxes = numpy.concatenate([corners, corners + 0.5 + d.numbers.random((count, 2)) * 4], 1).astype(numpy.float32)
    modes = {"coordinate_transformation_mode": d.choose.choice(("half_pixel", "output_half_pixel"))} if d.opset >= 16 else {}
    d.add("RoiAlign", [x, d.input(boxes), d.constant(d.numbers.integers(0, d.shape(x)[0], count))], sampling_ratio=d.choose.randint(1, 3),
          output_height=d.choose.randint(1, 3), output_width=d.choose.randint(1, 3), spatial_scale=d.choose.choice((1.0, 0.5)), mode=d.choose.choice(("avg", "avg", "max")), **modes)


def recurrent(d):
    op, gates = d.choose.choice((("RNN", 1), ("GRU", 3), ("LSTM", 4), ("LSTM", 4)))
    steps, batch, width, hidden = (d.choose.randint(1, 4) for _ in range(4))
    direction = d.choose.choice(("forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden, "direction": direction}
    some = lambda made: made if d.choose.random() < 0.5 else ""
    inputs = [floats(d, steps, batch, width), weights(d, directions, gates * hidden, width), weights(d, directions, gates * hidden, hidden),
              some(weights(d, directions, 2 * gates * hidden)), some(d.constant(d.numbers.integers(1, steps + 1, batch), "i32")), some(floats(d, directions, batch, hidden))]
    if op == "LSTM":
        inputs += [some(floats(d, directions, batch, hidden)), some(weights(d, directions, 3 * hidden))]
    if op == "GRU":
        attributes["linear_before_reset"] = d.choose.randint(0, 1)
    if op == "RNN" and d.choose.random() < 0.5:
        attributes["activations"] = [d.choose.choice(("Relu", "Tanh", "Sigmoid", "Softsign"))] * directions
    d.add(op, inputs, 3 if op == "LSTM" else 2, **attributes)


def of_bytes(d, shape, dtype=None):
    dtype = dtype or d.choose.choice(("u8", "i8"))
    values = d.numbers.integers(0, 256, shape) if dtype == "u8" else d.numbers.integers(-128, 128, shape)
    return d.input(values.astype(numpy.uint8 if dtype == "u8" else numpy.int8))


def zero_of(d, x, shape=()):
    return d.constant(d.numbers.integers(0, 100, shape), d.type(x))


def scale_of(d, shape=(), size=0.02):
    return d.constant(d.numbers.uniform(0.5, 1.5, shape) * size, "f32")


def products_of_bytes(d):
    rows, terms, columns = (d.choose.randint(1, 6) for _ in range(3))
    batch = d.choose.choice(((), (2,)))
    a, b = of_bytes(d, (*batch, rows, terms)), of_bytes(d, (terms, columns))
    if d.choose.random() < 0.5:
        d.add("MatMulInteger", [a, b, *([zero_of(d, a), zero_of(d, b, d.choose.choice(((), (columns,))))][:d.choose.randint(0, 2)])])
    else:
        b = b if d.type(b) == d.type(a) else of_bytes(d, (terms, columns), d.type(a))
        d.add("QLinearMatMul", [a, scale_of(d), zero_of(d, a), b, scale_of(d), zero_of(d, b), scale_of(d, size=0.1), zero_of(d, a)])


def convolutions_of_bytes(d):
    groups = d.choose.choice((1, 1, 2))
    x, w = of_bytes(d, (1, 2 * groups, 5, 4), "u8"), of_bytes(d, (2 * groups, 2, 3, 2), d.choose.choice(("u8", "i8")))
    attributes = {"group": groups, "pads": [d.choose.randint(0, 1) for _ in range(4)], "strides": [d.choose.randint(1, 2) for _ in range(2)]}
    if d.choose.random() < 0.5:
        d.add("ConvInteger", [x, w, *([zero_of(d, x), zero_of(d, w)][:d.choose.randint(0, 2)])], **attributes)
    else:
        per_channel = d.choose.choice(((), (2 * groups,)))
        bias = [d.constant(d.numbers.integers(-500, 500, 2 * groups), "i32")] if d.choose.random() < 0.5 else []
        zero = d.constant(numpy.zeros(per_channel, numpy.int64) if d.type(w) == "i8" else 100 + numpy.zeros((), numpy.int64), d.type(w))
        scale = scale_of(d, per_channel if d.type(w) == "i8" else ())
        d.add("QLinearConv", [x, scale_of(d), zero_of(d, x), w, scale, zero, scale_of(d, size=0.1), zero_of(d, x), *bias], **attributes)


def dynamic_bytes(d):
    x = d.pick(("f32",))
    x is not None and d.add("DynamicQuantizeLinear", [x], 3)


def transform(d):
    if d.opset < 17:
        return
    if d.choose.random() < 0.4:
        length = d.choose.randint(4, 12)
        frame = d.choose.randint(2, length)
        window = [weights(d, frame), d.constant(frame)] if d.choose.random() < 0.5 else ["", d.constant(frame)]
        d.add("STFT", [floats(d, 2, length, 1), d.constant(d.choose.randint(1, 3)), *window], onesided=d.choose.randint(0, 1))
        return
    parts = d.choose.randint(1, 2)
    x = floats(d, 2, d.choose.randint(2, 9), parts)
    how = {"inverse": d.choose.randint(0, 1)} if parts == 2 else {"onesided": d.choose.randint(0, 1)}
    if d.opset >= 20:
        d.add("DFT", [x, "", d.constant(1)], **how)
    else:
        d.add("DFT", [x], axis=1, **how)


def pool_of_powers(d):
    d.add("LpPool", [image(d)], kernel_shape=[2, 2], p=d.choose.randint(1, 3), strides=[1, d.choose.randint(1, 2)], pads=[0, 0, 0, d.choose.randint(0, 1)])


def crop_or_pad(d):
    x = d.pick(("f32", "i64"), lambda shape: len(shape) >= 1)
    if x is not None and d.opset >= 18:
        axes = d.choose.sample(range(len(d.shape(x))), d.choose.randint(1, len(d.shape(x))))
        d.add("CenterCropPad", [x, d.constant([d.choose.randint(1, 6) for _ in axes])], axes=axes)


def columns_to_image(d):
    if d.opset >= 18:
        kernel, image = [d.choose.randint(1, 2) for _ in range(2)], [d.choose.randint(3, 5) for _ in range(2)]
        stride, pads = d.choose.randint(1, 2), [d.choose.randint(0, 1) for _ in range(4)]
        windows = [(extent + pads[i] + pads[i + 2] - k) // stride + 1 for i, (extent, k) in enumerate(zip(image, kernel))]
        x = floats(d, 2, 2 * kernel[0] * kernel[1], windows[0] * windows[1])
        d.add("Col2Im", [x, d.constant(image), d.constant(kernel)], strides=[stride, stride], pads=pads)


def heads(d):
    """Attention as one operator, with optional inputs and attributes."""
    if d.opset < 23:
        return
    batch, kv, queries, keys, width = (d.choose.randint(1, 3) for _ in range(5))
    count = kv * d.choose.randint(1, 2)
    if d.choose.random() < 0.5:
        shapes, attributes = [(batch, count, queries, width), (batch, kv, keys, width), (batch, kv, keys, 2)], {}
    else:
        shapes, attributes = [(batch, queries, count * width), (batch, keys, kv * width), (batch, keys, kv * 2)], {"q_num_heads": count, "kv_num_heads": kv}
    inputs, outputs, total = [floats(d, *shape) for shape in shapes], 1, keys
    past = []
    if d.choose.random() < 0.4:
        past, outputs = [floats(d, batch, kv, 2, width), floats(d, batch, kv, 2, 2)], 3
        total += 2
    if d.choose.random() < 0.5 and total > 1:
        shape = d.choose.choice(((queries, total), (1, 1, queries, total), (batch, count, queries, total)))
        mask = floats(d, *shape) if d.choose.random() < 0.5 else d.input(d.numbers.random(shape) < 0.7)
        inputs.append(mask)
    elif past:
        inputs.append("")
    if d.choose.random() < 0.3 and not past and queries <= keys:
        attributes["is_causal"] = 1
    if d.choose.random() < 0.3:
        attributes["softcap"] = 2.0
    if d.choose.random() < 0.3:
        attributes["scale"] = 0.3
    d.add("Attention", [*inputs, *past], outputs, **attributes)


def rotary(d):
    if d.opset < 23:
        return
    batch, count, length, width = d.choose.randint(1, 2), d.choose.randint(1, 3), d.choose.randint(1, 4), 4
    rotated = d.choose.choice((0, 2))
    half = (rotated or width) // 2
    attributes = {"interleaved": d.choose.randint(0, 1), "rotary_embedding_dim": rotated, "num_heads": count}
    x = floats(d, batch, count, length, width) if not rotated and d.choose.random() < 0.5 else floats(d, batch, length, count * width)
    if d.choose.random() < 0.5:
        d.add("RotaryEmbedding", [x, floats(d, 7, half), floats(d, 7, half), d.input(d.numbers.integers(0, 7, (batch, length)))], **attributes)
    else:
        d.add("RotaryEmbedding", [x, floats(d, batch, length, half), floats(d, batch, length, half)], **attributes)


def fused(d):
    x = d.pick(("f32",), lambda shape: len(shape) in (2, 3))
    if x is None:
        return
    shape = d.shape(x)
    which = d.choose.randrange(5)
    if which == 0:
        d.add(d.choose.choice(("Gelu", "QuickGelu")), [x], **MICROSOFT)
    elif which == 1:
        d.add(d.choose.choice(("BiasGelu", "FastGelu")), [x, weights(d, shape[-1])], **MICROSOFT)
    elif which == 2 and len(shape) == 3:
        op = d.choose.choice(("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"))
        d.add(op, [x, weights(d, *shape), *(weights(d, shape[-1]) for _ in range(d.choose.randint(1, 2)))], epsilon=1e-3, **MICROSOFT)
    elif which == 3:
        columns, transposed = d.choose.randint(1, 4), d.choose.randint(0, 1)
        other = weights(d, columns, shape[-1]) if transposed else weights(d, shape[-1], columns)
        d.add("FusedMatMul", [x, other], alpha=0.5, transB=transposed, **MICROSOFT)
    elif which == 4:
        columns, blocks, bits = d.choose.randint(1, 3), d.choose.randint(1, 2), d.choose.choice((4, 4, 8))
        a = floats(d, 2, 16 * blocks)
        given = [a, d.constant(d.numbers.integers(0, 256, (columns, blocks, 2 * bits)), "u8"), weights(d, columns, blocks)]
        if d.choose.random() < 0.5:
            given.append(d.constant(d.numbers.integers(0, 256, (columns, (blocks + 1) // 2 if bits == 4 else blocks)), "u8"))
        d.add("MatMulNBits", given, K=16 * blocks, N=columns, bits=bits, block_size=16, **MICROSOFT)


def fused_bytes(d):
    x = of_bytes(d, (2, 3))
    if d.choose.random() < 0.5:
        d.add(d.choose.choice(("QLinearAdd", "QLinearMul")), [x, scale_of(d), zero_of(d, x), of_bytes(d, (3,), d.type(x)), scale_of(d), zero_of(d, x), scale_of(d, size=0.1), zero_of(d, x)], **MICROSOFT)
    else:
        d.add(d.choose.choice(("QLinearSigmoid", "QLinearLeakyRelu")), [x, scale_of(d), zero_of(d, x), scale_of(d), zero_of(d, x)], **MICROSOFT)


OPERATORS = (scatter_nd, scatter_nd, scatter_elements, grid_sample, grid_sample, roi_align, recurrent, recurrent, products_of_bytes, convolutions_of_bytes, dynamic_bytes, transform,
             pool_of_powers, crop_or_pad, columns_to_image, heads, heads, rotary, fused, fused, fused_bytes)
