"""Operators that give elements another place, shape, number or type."""
import numpy
import onnx

from drawing import FLOATS, INTEGERS, TYPES, divisors, elements, is_float

ALL = (*FLOATS, *INTEGERS, "bool")
RESIZE_POSITIONS = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")


def axes_of(d, shape, at_least=1):
    """Some axes, a few counted from the end."""
    axes = d.choose.sample(range(len(shape)), d.choose.randint(at_least, len(shape)))
    return [axis - len(shape) if d.choose.random() < 0.3 else axis for axis in axes]


def axis_of(d, shape):
    axis = d.choose.randrange(len(shape))
    return axis - len(shape) if d.choose.random() < 0.3 else axis


def reshape(d):
    x = d.pick(ALL)
    count, shape = elements(d.shape(x)), d.shape(x)
    first = d.choose.choice(divisors(count))
    second = d.choose.choice(divisors(count // first))
    to = list(d.choose.choice(((first, count // first), (1, first, count // first), (first, second, count // first // second), (count,), (first, 1, second, count // first // second))))
    if d.choose.random() < 0.3:
        to[d.choose.randrange(len(to))] = -1
    if d.choose.random() < 0.2 and shape and -1 not in to and to[0] == shape[0]:
        to[0] = 0
    d.add("Reshape", [x, d.constant(to)])


def reshape_by_shapes(d):
    """Reshapes by the extents of another tensor, as exporters write it."""
    x = d.pick(ALL, lambda shape: len(shape) >= 2)
    if x is None:
        return
    begin = d.choose.randrange(len(d.shape(x)))
    extents = d.add("Shape", [x], start=begin, end=begin + 1) if d.opset >= 15 else None
    if extents:
        to = d.add("Concat", [extents, d.constant([-1])], axis=0)
        to and d.add("Reshape", [x, to])


def flatten(d):
    x = d.pick(ALL)
    d.add("Flatten", [x], axis=d.choose.randint(-len(d.shape(x)), len(d.shape(x))))


def squeeze(d):
    x = d.pick(ALL, lambda shape: 1 in shape)
    if x is not None:
        ones = [axis for axis, extent in enumerate(d.shape(x)) if extent == 1]
        given = [d.constant(d.choose.sample(ones, d.choose.randint(1, len(ones))))] if d.choose.random() < 0.7 else []
        d.add("Squeeze", [x, *given])


def unsqueeze(d):
    x = d.pick(ALL, lambda shape: len(shape) <= 3)
    if x is not None:
        rank = len(d.shape(x)) + d.choose.randint(1, 2)
        d.add("Unsqueeze", [x, d.constant(d.choose.sample(range(rank), rank - len(d.shape(x))))])


def transpose(d):
    x = d.pick(ALL)
    rank = len(d.shape(x))
    order = {"perm": d.choose.sample(range(rank), rank)} if rank and d.choose.random() < 0.9 else {}
    d.add("Transpose", [x], **order)


def expand(d):
    x = d.pick(ALL, lambda shape: 1 in shape or len(shape) <= 2)
    if x is not None:
        to = [d.choose.choice((1, 2, 3, 5)) if extent == 1 else d.choose.choice((1, extent)) for extent in d.shape(x)]
        front = [d.choose.choice((1, 2, 3)) for _ in range(d.choose.randint(0, 4 - len(to)))] if len(to) < 4 else []
        d.add("Expand", [x, d.constant([*front, *to])])


def tile(d):
    x = d.pick(ALL)
    d.add("Tile", [x, d.constant([d.choose.choice((1, 1, 2, 3)) for _ in d.shape(x)])])


def blocks(d):
    x = d.pick(FLOATS, lambda shape: len(shape) == 4)
    if x is not None:
        op = d.choose.choice(("DepthToSpace", "SpaceToDepth"))
        mode = {"mode": d.choose.choice(("DCR", "CRD"))} if op == "DepthToSpace" else {}
        d.add(op, [x], blocksize=2, **mode)


def cut(d):
    x = d.pick(ALL, len)
    if x is None:
        return
    axes = axes_of(d, d.shape(x))
    begins, ends, steps = [], [], []
    for axis in axes:
        extent = d.shape(x)[axis]
        step = d.choose.choice((1, 1, 1, 2, 3, -1, -2))
        begin, end = sorted((d.choose.randint(0, extent - 1), d.choose.randint(1, extent)))
        if step < 0:
            begin, end = end, begin - 1 if begin > 0 else -2 ** 62
        if d.choose.random() < 0.2:
            begin -= extent
        if d.choose.random() < 0.2 and step > 0:
            end = 2 ** 62
        begins.append(begin), ends.append(end), steps.append(step)
    given = [begins, ends, axes, steps] if any(step != 1 for step in steps) or d.choose.random() < 0.5 else [begins, ends, axes]
    d.add("Slice", [x, *(d.constant(values) for values in given)])


def pad(d):
    x = d.pick(FLOATS + ("i64", "i32", "u8"), len)
    if x is None:
        return
    shape = d.shape(x)
    mode = d.choose.choice(("constant", "constant", "edge", "reflect") + (("wrap",) if d.opset >= 19 else ()))
    low = -1 if mode == "constant" and d.choose.random() < 0.3 else 0
    pads = [d.choose.randint(low, 2) for _ in range(2 * len(shape))]
    if mode == "reflect":
        pads = [min(value, shape[i % len(shape)] - 1) for i, value in enumerate(pads)]
    value = [d.constant(d.choose.choice((0, 1, 3)), d.type(x))] if mode == "constant" and d.choose.random() < 0.5 else []
    if d.opset >= 18 and d.choose.random() < 0.3:
        axis = axis_of(d, shape)
        d.add("Pad", [x, d.constant([pads[axis], pads[axis + len(shape)] if axis >= 0 else pads[axis]]), *(value or [""]), d.constant([axis])], mode=mode)
    else:
        d.add("Pad", [x, d.constant(pads), *value], mode=mode)


def join(d):
    x = d.pick(ALL, len)
    if x is None:
        return
    shape, parts = d.shape(x), [x]
    axis = axis_of(d, shape)
    for _ in range(d.choose.randint(1, 3)):
        fits = [name for name in d.values if d.type(name) == d.type(x) and len(d.shape(name)) == len(shape)
                and all(i == axis % len(shape) or d.shape(name)[i] == extent for i, extent in enumerate(shape))]
        parts.append(d.choose.choice(fits[-6:]))
    if d.choose.random() < 0.15 and is_float(d.array(x)):
        more = list(shape)
        more[axis] = d.choose.randint(1, 3)
        parts.append(d.constant(d.numbers.standard_normal(more), d.type(x)))
    d.choose.shuffle(parts)
    d.add("Concat", parts, axis=axis)


def views_joined(d):
    """Joins slices again, transposed or not; others read them, too."""
    x = d.pick(ALL, lambda shape: len(shape) >= 2 and max(shape) >= 2)
    if x is None:
        return
    shape = d.shape(x)
    axis = max(range(len(shape)), key=shape.__getitem__)
    at = d.choose.randrange(1, shape[axis])
    parts = [d.add("Slice", [x, d.constant([begin]), d.constant([end]), d.constant([axis])]) for begin, end in ((0, at), (at, shape[axis]))]
    if d.choose.random() < 0.5:
        parts.reverse()
    if d.choose.random() < 0.4:
        parts.append(d.choose.choice(parts))
    if is_float(d.array(x)) and d.choose.random() < 0.5:
        changed = d.choose.randrange(len(parts))
        parts[changed] = d.add("Tanh", [parts[changed]])
    if None not in parts:
        d.add("Concat", parts, axis=axis)
        if d.choose.random() < 0.4:
            d.add("Neg" if d.type(x) != "bool" and d.type(x)[0] != "u" else "Identity", [d.choose.choice(parts)])


def split(d):
    x = d.pick(ALL, lambda shape: any(extent >= 2 for extent in shape))
    if x is None:
        return
    shape = d.shape(x)
    axis = d.choose.choice([i for i, extent in enumerate(shape) if extent >= 2])
    extent, count = shape[axis], d.choose.randint(2, min(3, shape[axis]))
    if d.choose.random() < 0.6:
        ends = sorted(d.choose.sample(range(1, extent), count - 1))
        sizes = [end - begin for begin, end in zip([0, *ends], [*ends, extent])]
        d.add("Split", [x, d.constant(sizes)], count, axis=axis)
    elif d.opset >= 18:
        d.add("Split", [x], count, axis=axis, num_outputs=count)
    elif extent % count == 0:
        d.add("Split", [x], count, axis=axis)


def gather(d):
    x = d.pick(ALL, len)
    if x is None:
        return
    axis = axis_of(d, d.shape(x))
    extent = d.shape(x)[axis]
    shape = d.choose.choice(((), (1,), (3,), (2, 2), (extent,)))
    indices = d.numbers.integers(-extent, extent, shape)
    dtype = d.choose.choice(("i64", "i32"))
    d.add("Gather", [x, d.constant(indices, dtype) if d.choose.random() < 0.5 else d.input(numpy.asarray(indices, TYPES[dtype][1]))], axis=axis)


def gather_elements(d):
    x = d.pick(ALL, lambda shape: 1 <= len(shape) <= 3)
    if x is None:
        return
    shape = list(d.shape(x))
    axis = axis_of(d, shape)
    extent = shape[axis]
    shape[axis] = d.choose.randint(1, extent + 1)
    d.add("GatherElements", [x, d.input(d.numbers.integers(-extent, extent, shape))], axis=axis)


def gather_nd(d):
    x = d.pick(ALL, lambda shape: len(shape) >= 2)
    if x is None:
        return
    shape = d.shape(x)
    batch = d.choose.randint(0, 1)
    depth = d.choose.randint(1, len(shape) - batch)
    indices = numpy.stack([d.numbers.integers(-extent, extent, (*shape[:batch], 3)) for extent in shape[batch:batch + depth]], -1)
    d.add("GatherND", [x, d.constant(indices) if d.choose.random() < 0.5 else d.input(indices)], batch_dims=batch)


def reverse_sequence(d):
    x = d.pick(("f32", "i64"), lambda shape: len(shape) >= 2)
    if x is not None:
        batch = d.choose.randint(0, 1)
        lengths = d.numbers.integers(1, d.shape(x)[1 - batch] + 1, d.shape(x)[batch])
        d.add("ReverseSequence", [x, d.constant(lengths)], batch_axis=batch, time_axis=1 - batch)


def triangle(d):
    x = d.pick(("f32", "f64", "i64", "bool"), lambda shape: len(shape) >= 2)
    if x is not None:
        d.add("Trilu", [x, d.constant(d.choose.randint(-2, 2))], upper=d.choose.randint(0, 1))


def one_hot(d):
    x = d.pick(("i64", "i32"), lambda shape: len(shape) <= 3)
    if x is not None:
        depth = d.choose.randint(2, 5)
        d.add("OneHot", [x, d.constant(depth), d.constant([0, 1] if d.choose.random() < 0.5 else [-1, 2], d.choose.choice(("f32", "i64")))], axis=d.choose.randint(-1, len(d.shape(x))))


def resize(d):
    x = d.pick(("f32", "f32", "f64"), lambda shape: len(shape) in (3, 4))
    if x is None:
        return
    shape = d.shape(x)
    mode = d.choose.choice(("nearest", "linear", "cubic") if len(shape) == 4 else ("nearest", "linear"))
    attributes = {"mode": mode, "coordinate_transformation_mode": d.choose.choice(RESIZE_POSITIONS)}
    if mode == "nearest":
        attributes["nearest_mode"] = d.choose.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
        if attributes["nearest_mode"] in ("floor", "ceil") and attributes["coordinate_transformation_mode"] == "align_corners":
            del attributes["nearest_mode"]  # f32 misses positions at integers
    if mode == "cubic" and d.choose.random() < 0.3:
        attributes["cubic_coeff_a"] = -0.5
    if d.choose.random() < 0.6:
        if attributes.get("nearest_mode") in ("floor", "ceil"):
            del attributes["nearest_mode"]  # at integer positions, rounding in f32 makes onnxruntime take the neighbour at times
        to = [*shape[:2], *(d.choose.randint(1, 13) for _ in shape[2:])]
        d.add("Resize", [x, "", "", d.constant(to)], **attributes)
    else:
        if attributes["coordinate_transformation_mode"] == "align_corners":
            return  # refused where a scale gives no whole extent
        scales = [1.0, 1.0, *(d.choose.choice((0.5, 2.0, 3.0, 1.5, 0.75, 1.25)) for _ in shape[2:])]
        if all(int(extent * scale) != extent for extent, scale in zip(shape[2:], scales[2:])):  # onnxruntime copies where no extent changes
            d.add("Resize", [x, "", d.constant(scales, "f32")], **attributes)


def cast(d):
    x = d.pick(ALL)
    array, near = d.values[x], d.disturbed[x]
    to = d.choose.choice(("f32", "f32", "f64", "f16", "bf16", "i64", "i32", "u8", "i8", "bool"))
    if to in INTEGERS and array.dtype != bool:
        low, high = (0, 127) if to in ("u8", "i8") else (-2 ** 31 + 1, 2 ** 31 - 1)
        wide = array.astype(numpy.float64)
        if wide.min() < low or wide.max() > high:
            return
    if to == "bool" and is_float(array) and numpy.abs(array.astype(numpy.float64)).min() < 1e-3:
        return
    with numpy.errstate(all="ignore"):
        d.add_known("Cast", [x], array.astype(TYPES[to][1]), near.astype(TYPES[to][1]), to=TYPES[to][0])


def sum_along(d):
    x = d.pick(("f32", "f64", "i64", "i32"))
    if x is not None and d.shape(x):
        d.add("CumSum", [x, d.constant(axis_of(d, d.shape(x)))], exclusive=d.choose.randint(0, 1), reverse=d.choose.randint(0, 1))


def identity(d):
    d.add("Identity", [d.pick(ALL, odd=True)])


def constant_node(d):
    """Adds an operand that does not depend on the inputs."""
    values = d.numbers.standard_normal(d.choose.choice(((), (1,), (3, 1), (4,)))).astype(numpy.float32)
    x = d.pick(("f32",))
    if x is not None:
        made = d.add_known("Constant", [], values, values, value=onnx.numpy_helper.from_array(values))
        made and d.add(d.choose.choice(("Mul", "Add")), [x, made])


OPERATORS = (reshape, reshape, reshape_by_shapes, flatten, squeeze, unsqueeze, transpose, transpose, expand, tile, blocks, cut, cut, cut, pad, pad, join, join, join, views_joined, views_joined,
             split, split, gather, gather_elements, gather_nd, reverse_sequence, triangle, one_hot, resize, resize, resize, cast, cast, sum_along, identity, constant_node)
