"""Operators that compute: element by element, along axes, products, windows, and small graphs of these as networks have them."""
import math

import numpy

from drawing import FLOATS, INTEGERS, TYPES, divisors, is_float
from drawn_moves import axes_of, axis_of

F = ("f32", "f32", "f32", *FLOATS)
ANY_SIGN = ("Relu", "Tanh", "Sigmoid", "Sinh", "Cosh", "Softplus", "Erf", "Neg", "Abs", "Exp", "Sin", "Cos", "Asinh", "Softsign", "Ceil", "Floor", "Round", "Sign", "Reciprocal", "Tan")
SINCE = {"HardSwish": 14, "Mish": 18, "Gelu": 20, "LayerNormalization": 17, "GroupNormalization": 21, "RMSNormalization": 23, "Swish": 24}
COMPARISONS = ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
EQUATIONS = ("ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "bij,bkj->bki", "ij,ij->i", "i,j->ij", "ij->ji", "ij->i", "bij->b", "ij,jk", "bhij,bhjk->bihk", "ij,j->i", "...i,ij->...j")


def one_of(d, *choices):
    return d.choose.choice(choices)


def weights(d, shape, dtype="f32"):
    return d.constant(d.numbers.standard_normal(shape) / math.sqrt(max(1, math.prod(shape[1:]))), dtype)


def unary(d):
    odd = d.choose.random() < 0.1
    x = d.pick(F, odd=odd)
    if x is None:
        return
    d.add(d.choose.choice(ANY_SIGN), [x], odd=odd)


def positive_unary(d):
    x = d.pick(F)
    if x is None:
        return
    op = one_of(d, "Log", "Sqrt", "Reciprocal", "Acosh", "Atanh")
    if op == "Atanh":
        x = d.add("Tanh", [x])
        x = x and d.add("Mul", [x, d.constant(0.5, d.type(x))])
    else:
        x = d.add("Abs", [x])
        x = x and d.add("Add", [x, d.constant(1.25 if op == "Acosh" else 0.25, d.type(x))])
    x and d.add(op, [x])


def activation(d):
    x = d.pick(F)
    if x is None:
        return
    op, attributes = one_of(d, ("Elu", {"alpha": 0.7}), ("Elu", {}), ("Selu", {}), ("Celu", {"alpha": 1.5}), ("LeakyRelu", {"alpha": 0.2}), ("LeakyRelu", {}), ("ThresholdedRelu", {"alpha": 0.3}),
                            ("HardSigmoid", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("Shrink", {"lambd": 0.4, "bias": 0.1}), ("HardSwish", {}), ("Mish", {}), ("Gelu", {}),
                            ("Gelu", {"approximate": "tanh"}))
    if d.opset >= SINCE.get(op, 0) and (op != "Celu" or d.type(x) == "f32"):
        d.add(op, [x], **attributes)


def integer_unary(d):
    x = d.pick((*INTEGERS, "bool"))
    if x is None:
        return
    if d.type(x) == "bool":
        d.add("Not", [x])
    elif d.opset >= 18 and d.choose.random() < 0.3:
        d.add("BitwiseNot", [x])
    elif d.type(x)[0] == "i":
        d.add(one_of(d, "Neg", "Abs", "Sign"), [x])


def smaller_shape(d, shape):
    """A shape that broadcasts to `shape`, but may be a little larger where `shape` has ones."""
    drawn = [one_of(d, 1, extent, extent) if extent > 1 else one_of(d, 1, 1, 1, 3) for extent in shape]
    return tuple(drawn[d.choose.randint(0, len(drawn)):] if d.choose.random() < 0.5 else drawn)


def fits_beside(shape):
    return lambda other: all(a == b or 1 in (a, b) for a, b in zip(reversed(shape), reversed(other)))


def second(d, x, values=None):
    """A tensor or constant of x's type that broadcasts with x."""
    if d.choose.random() < 0.5:
        other = d.pick((d.type(x),), fits_beside(d.shape(x)))
        if other is not None:
            return other
    drawn = values if values is not None else d.numbers.standard_normal if is_float(d.array(x)) else lambda shape: d.numbers.integers(1, 9, shape)
    return d.constant(drawn(smaller_shape(d, d.shape(x))), d.type(x))


def binary(d):
    x = d.pick(F + ("i64", "i32"), odd=d.choose.random() < 0.1)
    if x is None:
        return
    op = one_of(d, "Add", "Sub", "Mul", "Add", "Mul", "Max", "Min", "Div", "PRelu", "Mean", "Sum")
    if op in ("PRelu", "Mean") and not is_float(d.array(x)):
        op = "Max"
    inputs = [x, second(d, x)]
    if op == "PRelu":
        inputs[1] = d.constant(d.numbers.standard_normal(one_of(d, (), [one_of(d, 1, extent) for extent in d.shape(x)])), d.type(x))
    if op == "Div" and not is_float(d.array(x)):
        inputs[1] = d.constant(d.choose.randint(1, 9), d.type(x))
    elif op != "PRelu" and d.choose.random() < 0.3:
        inputs.reverse()
    if op in ("Max", "Min", "Mean", "Sum") and d.choose.random() < 0.3:
        inputs.append(second(d, x))
    d.add(op, inputs, odd=d.choose.random() < 0.1)


def integers(d):
    x = d.pick(INTEGERS)
    if x is None:
        return
    op = one_of(d, "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Pow")
    if op == "Mod":
        d.add("Mod", [x, d.constant(d.choose.randint(1, 9), d.type(x))], fmod=d.choose.randint(0, 1))
    elif op == "BitShift":
        if d.type(x)[0] == "u":
            d.add("BitShift", [x, d.constant(d.numbers.integers(0, 8, smaller_shape(d, d.shape(x))), d.type(x))], direction=one_of(d, "LEFT", "RIGHT"))
    elif op == "Pow":
        if d.type(x) in ("i64", "i32"):
            d.add("Pow", [x, d.constant(d.choose.randint(1, 3), d.type(x))])
    elif d.opset >= 18:
        d.add(op, [x, second(d, x)])


def power(d):
    x = d.pick(("f32", "f64"))
    exponent = one_of(d, 2.0, 3.0, 1.0, 0.5, -1.0, 2.5)
    if exponent != int(exponent) or exponent < 0:
        x = x and d.add("Abs", [x])
        x = x and d.add("Add", [x, d.constant(0.3, d.type(x))])
    x and d.add("Pow", [x, d.constant(exponent, d.type(x))])


def comparison(d):
    x = d.pick(("f32", "i64", "i32"))
    made = x and d.add(d.choose.choice(COMPARISONS), [x, second(d, x)])
    if made and d.choose.random() < 0.6:
        x = d.pick(F + ("i64",), fits_beside(d.shape(made)))
        x and d.add("Where", [made, x, second(d, x)])


def conditions(d):
    x = d.pick(("bool",))
    if x is not None:
        other = d.pick(("bool",), fits_beside(d.shape(x)))
        d.add(one_of(d, "And", "Or", "Xor"), [x, other])


def clip(d):
    x = d.pick(F + ("i64", "i32", "u8", "i8"))
    if x is None:
        return
    low, high = (d.constant(value, d.type(x)) for value in ((-0.5, 0.75) if is_float(d.array(x)) else (1, 5)))
    d.add("Clip", one_of(d, [x, low, high], [x, "", high], [x, low]))


def guard(d):
    """Makes non-finite numbers, and removes them again."""
    x = d.pick(("f32", "f64"))
    made = x and d.add(one_of(d, "Log", "Sqrt"), [x], odd=True)
    if made:
        is_odd = d.add(one_of(d, "IsNaN", "IsInf"), [made])
        is_odd and d.add("Where", [is_odd, d.constant(0.5, d.type(x)), made], odd=True)


def reduction(d):
    op = one_of(d, "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum")
    x = d.pick(F + (("i64", "i32") if op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare") else ()))
    if x is None or not d.shape(x):
        return
    if op == "ReduceLogSum":
        x = d.add("Abs", [x])
        x = x and d.add("Add", [x, d.constant(0.2, d.type(x))])
        if x is None:
            return
    attributes = {} if d.choose.random() < 0.3 else {"keepdims": d.choose.randint(0, 1)}
    by_input = d.opset >= 18 or op == "ReduceSum"
    axes = axes_of(d, d.shape(x))
    if d.choose.random() < 0.15:
        if by_input and op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd") and d.choose.random() < 0.5:
            attributes["noop_with_empty_axes"] = 1
        d.add(op, [x], **attributes)
    elif by_input:
        d.add(op, [x, d.constant(axes)], **attributes)
    else:
        d.add(op, [x], axes=axes, **attributes)


def position(d):
    x = d.pick(("f32", "f64", "i64", "i32"))
    if x is None or not d.shape(x):
        return
    attributes = {"axis": axis_of(d, d.shape(x)), "keepdims": d.choose.randint(0, 1)}
    if d.choose.random() < 0.5:
        attributes["select_last_index"] = d.choose.randint(0, 1)
    d.add(one_of(d, "ArgMax", "ArgMin"), [x], **attributes)


def largest(d):
    x = d.pick(("f32", "f64", "i64", "i32"), len)
    if x is None:
        return
    axis = axis_of(d, d.shape(x))
    count = d.choose.randint(1, d.shape(x)[axis])
    d.add("TopK", [x, d.constant([count])], 2, unread=one_of(d, (), (), (0,), (1,)), axis=axis, largest=d.choose.randint(0, 1))


def along(d):
    x = d.pick(F)
    if x is None or not d.shape(x):
        return
    op = one_of(d, "Softmax", "Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
    attributes = {"p": d.choose.randint(1, 2)} if op == "LpNormalization" else {}
    d.add(op, [x], axis=axis_of(d, d.shape(x)), **attributes)


def normalization(d):
    x = d.pick(F, lambda shape: len(shape) >= 3)
    if x is None:
        return
    shape, dtype = d.shape(x), d.type(x)
    op = one_of(d, "LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization", "MeanVarianceNormalization", "LRN")
    if d.opset < SINCE.get(op, 0):
        op = "InstanceNormalization"
    if op in ("LayerNormalization", "RMSNormalization"):
        axis = axis_of(d, shape)
        own = shape[axis:]
        bias = [weights(d, own, dtype)] if op == "LayerNormalization" and d.choose.random() < 0.5 else []
        d.add(op, [x, weights(d, own, dtype), *bias], axis=axis, epsilon=one_of(d, 1e-5, 1e-2))
    elif op == "BatchNormalization":
        d.add(op, [x, *(weights(d, shape[1:2], dtype) for _ in range(3)), d.constant(d.numbers.uniform(0.5, 2, shape[1]), dtype)])
    elif op == "MeanVarianceNormalization":
        d.add(op, [x], axes=d.choose.sample(range(len(shape)), d.choose.randint(1, len(shape))))
    elif op == "LRN":
        len(shape) == 4 and d.add(op, [x], size=one_of(d, 1, 3, 5), alpha=0.1)
    elif op == "GroupNormalization":
        d.add(op, [x, weights(d, shape[1:2], dtype), weights(d, shape[1:2], dtype)], num_groups=d.choose.choice(divisors(shape[1])))
    else:
        d.add(op, [x, weights(d, shape[1:2], dtype), weights(d, shape[1:2], dtype)])


def product(d):
    x = d.pick(F, len)
    if x is None:
        return
    shape, dtype = d.shape(x), d.type(x)
    columns = one_of(d, 1, 3, 4, 6, 8)
    if len(shape) == 2 and d.choose.random() < 0.4:
        attributes = {"transA": d.choose.randint(0, 1), "transB": d.choose.randint(0, 1)}
        if d.choose.random() < 0.3:
            attributes |= {"alpha": 0.5, "beta": 2.0}
        rows, terms = shape[::-1] if attributes["transA"] else shape
        bias = [d.constant(d.numbers.standard_normal(one_of(d, (columns,), (1, columns), (rows, 1), (rows, columns), ())), dtype)] if d.choose.random() < 0.7 else []
        return d.add("Gemm", [x, weights(d, (columns, terms) if attributes["transB"] else (terms, columns), dtype), *bias], **attributes)
    if len(shape) >= 2 and d.choose.random() < 0.4:
        other = d.pick((dtype,), lambda other: len(other) >= 2 and other[-2] == shape[-1] and fits_beside(shape[:-2])(other[:-2]))
        if other is not None:
            return d.add("MatMul", [x, other])
    of = one_of(d, (shape[-1], columns), (shape[-1],), (2, shape[-1], columns), (*([1] * max(0, len(shape) - 2)), shape[-1], columns))
    return d.add("MatMul", [x, weights(d, of, dtype)])


def square(d):
    """A tensor's product with its own transpose, as in attention."""
    x = d.pick(F, lambda shape: len(shape) >= 2)
    if x is None:
        return
    rank = len(d.shape(x))
    other = d.add("Transpose", [x], perm=[*range(rank - 2), rank - 1, rank - 2])
    scores = other and d.add("MatMul", [x, other])
    if scores and d.choose.random() < 0.6:
        scale = d.add("Mul", [scores, d.constant(0.35, d.type(scores))])
        mask = d.constant(d.numbers.random(d.shape(scores)[-2:]) < 0.7, "bool")
        masked = scale and d.add("Where", [mask, scale, d.constant(-1e4 if d.type(x) == "f16" else one_of(d, -1e9, -3.4028234663852886e38, -math.inf) if d.type(x) == "f32" else -1e4, d.type(x))], odd=True)
        soft = masked and d.add("Softmax", [masked], axis=-1, odd=True)
        if soft and d.choose.random() < 0.5:
            nan = d.add("IsNaN", [soft])
            soft = nan and d.add("Where", [nan, d.constant(0, d.type(soft)), soft])
        soft and d.add("MatMul", [soft, x])


def sum_of_products(d):
    x = d.pick(("f32", "f64", "i64"), len)
    fitting = [equation for equation in EQUATIONS if len(equation.split("->")[0].split(",")[0].replace("...", "")) == len(d.shape(x)) or "..." in equation] if x is not None else []
    if not fitting:
        return
    equation = d.choose.choice(fitting)
    terms = equation.split("->")[0].split(",")
    extents = dict(zip(terms[0], d.shape(x))) if "..." not in equation else {"i": d.shape(x)[-1]}
    inputs = [x]
    for term in terms[1:]:
        shape = tuple(extents.setdefault(letter, d.choose.randint(1, 5)) for letter in term)
        inputs.append(weights(d, shape, d.type(x)) if d.type(x) != "i64" else d.constant(d.numbers.integers(-3, 4, shape)))
    d.add("Einsum", inputs, equation=equation)


def windows(d, rank):
    """Attributes of a window over `rank` axes, with its kernel."""
    kernel = [d.choose.randint(1, 3) for _ in range(rank)]
    attributes = {"strides": [one_of(d, 1, 1, 2, 3) for _ in range(rank)], "dilations": [one_of(d, 1, 1, 1, 2) for _ in range(rank)]}
    if d.choose.random() < 0.25:
        attributes["auto_pad"] = one_of(d, "SAME_UPPER", "SAME_LOWER", "VALID")
    elif d.choose.random() < 0.8:
        attributes["pads"] = [d.choose.randint(0, extent - 1) for extent in kernel * 2]
    return kernel, {name: value for name, value in attributes.items() if d.choose.random() < 0.8}


def convolution(d):
    x = d.pick(F, lambda shape: len(shape) in (3, 4, 5))
    if x is None:
        return
    shape, dtype = d.shape(x), d.type(x)
    kernel, attributes = windows(d, len(shape) - 2)
    groups = d.choose.choice((1, 1, *divisors(shape[1])))
    outputs = groups * d.choose.randint(1, 3)
    if d.choose.random() < 0.75:
        inputs = [x, weights(d, (outputs, shape[1] // groups, *kernel), dtype)]
        op = "Conv"
    else:
        inputs = [x, weights(d, (shape[1], outputs // groups, *kernel), dtype)]
        op = "ConvTranspose"
        attributes.pop("auto_pad", None)  # with strides above the kernel's extent, onnxruntime returns fewer elements than ONNX specifies
    if d.choose.random() < 0.5:
        inputs.append(weights(d, (outputs,), dtype))
    d.add(op, inputs, group=groups, **attributes)


def pooling(d):
    x = d.pick(("f32", "f32", "f64"), lambda shape: len(shape) in (3, 4, 5))
    if x is None:
        return
    op = one_of(d, "MaxPool", "MaxPool", "AveragePool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
    if op.startswith("Global"):
        return d.add(op, [x])
    kernel, attributes = windows(d, len(d.shape(x)) - 2)
    if op == "AveragePool":
        if d.opset < 19:
            attributes.pop("dilations", None)
        attributes["count_include_pad"] = d.choose.randint(0, 1)
    if "auto_pad" in attributes:
        attributes.pop("dilations", None)  # onnxruntime pads for a kernel without them
        if attributes["auto_pad"] == "VALID" and any(extent > there for extent, there in zip(kernel, d.shape(x)[2:])):
            return  # refused, as below
    else:
        attributes["ceil_mode"] = d.choose.randint(0, 1)
        pads = attributes.get("pads", [0] * (2 * len(kernel)))
        reaches = [(extent - 1) * dilation + 1 for extent, dilation in zip(kernel, attributes.get("dilations", [1] * len(kernel)))]
        if any(reach > extent + begin + end for reach, extent, begin, end in zip(reaches, d.shape(x)[2:], pads, pads[len(kernel):])) and not attributes["ceil_mode"]:
            return  # refused; onnxruntime rounds a negative quotient towards zero and returns one window
    return d.add(op, [x], kernel_shape=kernel, **attributes)


def quantized(d):
    """Quantizes and dequantizes, with one scale or one for each index of an axis; an operator may stand between."""
    x = d.pick(("f32",), len)
    if x is None:
        return
    to = one_of(d, "u8", "i8")
    axis = axis_of(d, d.shape(x))
    shape = (d.shape(x)[axis],) if d.choose.random() < 0.4 else ()
    scale = d.constant(d.numbers.uniform(0.01, 0.1, shape), "f32")
    zero = [d.constant(d.numbers.integers(0, 100, shape) if to == "u8" else d.numbers.integers(-50, 50, shape), to)]
    made = d.add("QuantizeLinear", [x, scale, *zero], axis=axis)
    if made and d.choose.random() < 0.8:
        d.add("DequantizeLinear", [made, scale, *zero], axis=axis)


def of_bytes(d):
    x = d.pick(("u8", "i8"), len)
    if x is None:
        return
    if len(d.shape(x)) == 2 and d.choose.random() < 0.5:
        b = d.constant(d.numbers.integers(-100, 100, (d.shape(x)[1], 4)), "i8")
        zeros = one_of(d, [], [d.constant(3, d.type(x))], [d.constant(3, d.type(x)), d.constant(-2, "i8")])
        d.add("MatMulInteger", [x, b, *zeros])
    else:
        d.add("DequantizeLinear", [x, d.constant(0.05, "f32"), d.constant(2, d.type(x))])


def gate(d):
    x = d.pick(F)
    made = x and d.add(one_of(d, "Sigmoid", "HardSigmoid", "Tanh"), [x])
    made and d.add("Mul", [x, made])


def excitation(d):
    """Squeeze and excitation: scales channels by two products of their means."""
    x = d.pick(("f32",), lambda shape: len(shape) == 4)
    if x is None:
        return
    channels = d.shape(x)[1]
    mean = d.add("GlobalAveragePool", [x])
    small = mean and d.add("Conv", [mean, weights(d, (2, channels, 1, 1))])
    small = small and d.add("Relu", [small])
    large = small and d.add("Conv", [small, weights(d, (channels, 2, 1, 1))])
    scale = large and d.add("Sigmoid", [large])
    scale and d.add("Mul", [x, scale])


def norm_by_parts(d):
    x = d.pick(F, lambda shape: len(shape) >= 2)
    if x is None:
        return
    def mean(of):
        return d.add("ReduceMean", [of, d.constant([-1])]) if d.opset >= 18 else d.add("ReduceMean", [of], axes=[-1])
    middle = mean(x)
    less = middle and d.add("Sub", [x, middle])
    squares = less and d.add("Mul", [less, less])
    spread = squares and mean(squares)
    spread = spread and d.add("Add", [spread, d.constant(1e-2, d.type(x))])
    root = spread and d.add("Sqrt", [spread])
    root and d.add("Div", [less, root])


def residual(d):
    x = d.pick(F, lambda shape: len(shape) >= 2)
    if x is not None:
        made = d.add("MatMul", [x, weights(d, (d.shape(x)[-1], d.shape(x)[-1]), d.type(x))])
        made = made and d.add(one_of(d, "Relu", "Tanh", "Sigmoid"), [made])
        made and d.add("Add", [made, x])


def loss(d):
    x = d.pick(("f32",), lambda shape: 2 <= len(shape) <= 4 and shape[1] >= 2)
    if x is None:
        return
    shape = d.shape(x)
    labels = d.input(d.numbers.integers(0, shape[1], (shape[0], *shape[2:])))
    own = [d.constant(d.numbers.uniform(0.5, 1.5, shape[1]), "f32")] if d.choose.random() < 0.3 else []
    d.add(one_of(d, "SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"), [x, labels, *own], reduction=one_of(d, "mean", "sum", "none"))


OPERATORS = (unary, unary, unary, positive_unary, activation, activation, integer_unary, binary, binary, binary, binary, integers, power, comparison, comparison, conditions, clip, guard,
             reduction, reduction, reduction, position, position, largest, largest, along, along, normalization, normalization, product, product, product, square, sum_of_products,
             convolution, convolution, pooling, pooling, quantized, of_bytes, gate, excitation, norm_by_parts, residual, loss)


def first_inputs(d):
    shapes = ((1, 4, 6, 6), (2, 3, 4), (4, 6), (1, 8, 4), (6, 8), (5,), (1, 3, 5, 7), (2, 2, 3, 4, 3), (1, 1), (3, 1, 5), (2, 6, 9, 5), (16, 17), (1, 32))
    for _ in range(d.choose.randint(1, 3)):
        dtype = one_of(d, *["f32"] * 14, "f64", "f16", "bf16", "i64", "i32", "u8", "i8", "bool")
        shape = d.choose.choice(shapes) if d.choose.random() < 0.9 else ()
        if dtype in FLOATS:
            values = d.numbers.standard_normal(shape)
        elif dtype == "bool":
            values = d.numbers.random(shape) < 0.5
        else:
            values = d.numbers.integers(0 if dtype[0] == "u" else -9, 10, shape)
        d.input(numpy.asarray(values).astype(TYPES[dtype][1]))
