"""Operators whose results' extents depend on data, and operators that take these."""
import numpy

from drawing import FLOATS, INTEGERS

NUMBERS = FLOATS + INTEGERS


def add(d, op, inputs, outputs=1, /, **attributes):
    """As Drawing.add, with results that no other operator picks."""
    names = d.add(op, inputs, outputs, **attributes)
    d.apart.update([names] if isinstance(names, str) else names or ())
    return names


def part(d, x, axis):
    start, end = d.choose.choice((0, 0, 1)), d.choose.choice((1, 2, 3, 99, -1, -2))
    return add(d, "Slice", [x, d.constant([start]), d.constant([end]), d.constant([axis])]), axis


def joined(d, x, axis):
    shape = list(d.shape(x))
    shape[axis] = d.choose.randint(1, 3)
    other = d.constant(d.numbers.integers(0, 5, shape), d.type(x))
    return add(d, "Concat", d.choose.choice(([x, other], [other, x], [x, x], [x, other, x])), axis=axis), axis


def beside(d, x, axis):
    other = [i for i in range(len(d.shape(x))) if i != axis]
    return (add(d, "Concat", [x, x], axis=d.choose.choice(other)), axis) if other else (x, axis)


def turned(d, x, axis):
    order = d.choose.sample(range(len(d.shape(x))), len(d.shape(x)))
    return add(d, "Transpose", [x], perm=order), order.index(axis)


def computed(d, x, axis):
    if d.type(x) == "bool":
        return add(d, "Not", [x]), axis
    return (add(d, "Add", [x, x]) if d.choose.random() < 0.5 else add(d, "Mul", [x, d.constant(3, d.type(x))])), axis


def longer(d, x, axis):
    at = d.choose.randint(0, len(d.shape(x)))
    return add(d, "Unsqueeze", [x, d.constant([at])]), axis + (at <= axis)


def reduced(d, x, axis):
    if d.type(x) not in ("f32", "i64"):
        return x, axis
    op = d.choose.choice(("ReduceSum", "ReduceMax", "ReduceMean") if d.type(x) == "f32" else ("ReduceSum", "ReduceMax"))
    over = d.choose.randrange(len(d.shape(x)))
    if op == "ReduceSum" or d.opset >= 18:
        made = add(d, op, [x, d.constant([over])], keepdims=0)
    else:
        made = add(d, op, [x], axes=[over], keepdims=0)
    return (x, axis) if over == axis else (made, axis - (over < axis))


def expanded(d, x, axis):
    """Another tensor, of the shape that x has."""
    one = d.constant(d.numbers.integers(-3, 4, [1] * len(d.shape(x))), "f32")
    return add(d, "Expand", [one, add(d, "Shape", [x])]), axis


def numbered(d, x, axis):
    extent = add(d, "Gather", [add(d, "Shape", [x]), d.constant(axis)])
    return (add(d, "Range", [d.constant(0), extent, d.constant(1)]), 0) if extent else (None, axis)


def shape_of(d, x, axis):
    add(d, "Shape", [x])
    return x, axis


def again(d, x, axis):
    return add(d, "NonZero", [x]), 1


def best(d, x, axis):
    if d.type(x) not in ("f32", "i64") or d.shape(x)[axis] == 0:
        return x, axis
    made = add(d, "TopK", [x, d.constant([1])], 2, axis=axis, largest=d.choose.randint(0, 1))
    return (d.choose.choice(made) if made else None), axis


def follow(d, x, axis):
    """Some operators of which each takes what the one before gives."""
    for _ in range(d.choose.randint(0, 4)):
        if x is None or len(d.shape(x)) > 4:
            return
        x, axis = d.choose.choice((part, joined, beside, turned, computed, longer, reduced, shape_of, expanded, numbered, again, best))(d, x, axis)


def nonzero(d):
    x = d.pick((*NUMBERS, "bool"), lambda shape: len(shape) >= 1)
    if x is None:
        return
    if d.choose.random() < 0.7 and d.type(x) != "bool":
        x = d.add("Greater", [x, d.constant(0, d.type(x))]) or x
    places = add(d, "NonZero", [x])
    if places is None:
        return
    follow(d, places, 1)
    rows = d.pick(NUMBERS, lambda shape: len(shape) >= 1 and shape[0] == d.shape(x)[0])
    if rows is not None and len(d.shape(x)) == 1:
        chosen = add(d, "Gather", [rows, add(d, "Squeeze", [places, d.constant([0])])])
        chosen is not None and follow(d, chosen, 0)


def compress(d):
    x = d.pick(NUMBERS, lambda shape: len(shape) >= 1)
    if x is None:
        return
    axis = d.choose.choice((None, *range(len(d.shape(x)))))
    extent = d.array(x).size if axis is None else d.shape(x)[axis]
    condition = d.input(d.numbers.random(d.choose.randint(1, extent)) < 0.6)
    made = add(d, "Compress", [x, condition], **({} if axis is None else {"axis": axis}))
    made is not None and follow(d, made, axis or 0)


def unique(d):
    x = d.pick(("f32", "f64", "i64", "i8"), lambda shape: numpy.prod(shape) <= 200)
    if x is None:
        return
    if d.choose.random() < 0.7:
        x = d.input(d.numbers.integers(-2, 3, d.shape(x)).astype(d.array(x).dtype))
    axis = d.choose.choice((None, *range(len(d.shape(x)))))
    made = add(d, "Unique", [x], 4, sorted=d.choose.randint(0, 1), **({} if axis is None else {"axis": axis}))
    made is not None and follow(d, made[0], axis or 0)


def suppressed(d):
    batches, classes, count = d.choose.randint(1, 2), d.choose.randint(1, 3), d.choose.randint(1, 14)
    corners = d.numbers.random((batches, count, 2)) * 2
    boxes = numpy.concatenate([corners, corners + 0.3 + d.numbers.random((batches, count, 2))], 2).astype(numpy.float32)
    scores = d.numbers.random((batches, classes, count)).astype(numpy.float32)
    inputs = [d.input(boxes), d.input(scores), d.constant([d.choose.choice((1, 3, 20))]), d.constant([d.choose.choice((0.0, 0.3, 0.7))], "f32"), d.constant([d.choose.choice((0.0, 0.5))], "f32")]
    made = add(d, "NonMaxSuppression", inputs[:d.choose.randint(3, 5)], center_point_box=d.choose.randint(0, 1))
    made is not None and follow(d, made, 0)


OPERATORS = (nonzero, compress, unique, suppressed)
