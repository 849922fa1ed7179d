"""A graph to which operators are added one after the other, each with what it computes on the graph's inputs.

Beside the values that ONNX Runtime gives, a second, slightly disturbed run is kept: an operator whose results depend on the last bits of what it reads (a
rounding, a comparison, a difference of equal numbers) is not added, because two right programs may differ there.
"""
import math
import random

import ml_dtypes
import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

TYPES = {name: (getattr(onnx.TensorProto, number), numpy.dtype(dtype)) for name, number, dtype in (
    ("f32", "FLOAT", numpy.float32), ("f64", "DOUBLE", numpy.float64), ("f16", "FLOAT16", numpy.float16), ("bf16", "BFLOAT16", ml_dtypes.bfloat16),
    ("i64", "INT64", numpy.int64), ("i32", "INT32", numpy.int32), ("i16", "INT16", numpy.int16), ("i8", "INT8", numpy.int8),
    ("u32", "UINT32", numpy.uint32), ("u16", "UINT16", numpy.uint16), ("u8", "UINT8", numpy.uint8), ("bool", "BOOL", numpy.bool_))}
NAMES = {dtype: name for name, (_, dtype) in TYPES.items()}
FLOATS, INTEGERS = ("f32", "f64", "f16", "bf16"), ("i64", "i32", "i16", "i8", "u32", "u16", "u8")
NARROW = ("f16", "bf16")
# How far two correct programs may differ after one operator. `network test` tolerates a thousandth, or four units of a narrow type.
NOISE = {"f32": 2e-6, "f64": 2e-6, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}
TOLERANCE = {"f32": 2.5e-4, "f64": 2.5e-4, "f16": 2.0 ** -9, "bf16": 2.0 ** -6}
ABSOLUTE = 4e-6
LARGEST = {"f32": 1e5, "f64": 1e5, "f16": 1e3, "bf16": 1e4}
LARGEST_INTEGER = 1 << 40
MOST_ELEMENTS = 4000
# Operators that only move elements, or are exact.
EXACT = frozenset("Identity Reshape Flatten Squeeze Unsqueeze Transpose Expand Tile DepthToSpace SpaceToDepth Slice Pad Concat Split Gather GatherElements GatherND ReverseSequence Trilu CenterCropPad Max Min "
                  "ReduceMax ReduceMin MaxPool GlobalMaxPool Relu Neg Abs Where TopK Clip Sign Ceil Floor Round OneHot NonZero Compress Unique Shape Range".split())

# Sums of many terms that may cancel: their error is relative to the terms, not to the result.
TRANSFORMS = frozenset(("DFT", "STFT"))


class Refused(Exception):
    """ONNX Runtime does not compute an operator on these types."""


def type_of(array):
    return NAMES[array.dtype]


def is_float(array):
    return type_of(array) in FLOATS


def as_computed(array):
    """Narrow floats are computed in f32 and rounded once."""
    return array.astype(numpy.float32) if type_of(array) in NARROW else array


def opsets(version):
    return [helper.make_opsetid("", version), helper.make_opsetid("com.microsoft", 1)]


def run_alone(op, arrays, outputs, opset, attributes):
    """The results of a node with these inputs; None for an input that is left out."""
    given = [None if array is None else as_computed(array) for array in arrays]
    names = [f"i{i}" if array is not None else "" for i, array in enumerate(given)]
    node = helper.make_node(op, names, outputs, **attributes)
    inputs = [helper.make_tensor_value_info(name, TYPES[type_of(array)][0], array.shape) for name, array in zip(names, given) if name]
    wanted = [helper.make_empty_tensor_value_info(name) for name in outputs if name]
    model = helper.make_model(helper.make_graph([node], "alone", inputs, wanted), opset_imports=opsets(opset), ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = iter(session.run(None, {name: array for name, array in zip(names, given) if name}))
    except Exception as error:  # onnxruntime has a class of its own for each of its codes, without a common one
        raise Refused(f"{op}: {error}") from error
    narrow = {type_of(array) for array in arrays if array is not None} & set(NARROW)
    dtype = TYPES[narrow.pop()][1] if narrow else None
    made = [next(results) if name else None for name in outputs]
    return [array.astype(dtype) if dtype and array is not None and array.dtype == numpy.float32 else array for array in made]


class Drawing:
    def __init__(self, seed):
        self.choose, self.numbers = random.Random(seed), numpy.random.default_rng(seed)
        self.opset = self.choose.choice((13, 17, 18, 21, 23))
        self.nodes, self.constants, self.inputs = [], {}, {}
        self.values, self.disturbed = {}, {}
        self.apart = set()  # values of which data decide an extent: few operators take them
        self.refused = 0

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.values[name] = self.disturbed[name] = array
        return name

    def constant(self, values, dtype="i64"):
        name = f"c{len(self.constants)}"
        array = numpy.asarray(values).astype(TYPES[dtype][1])
        self.constants[name] = array
        return name

    def array(self, name):
        return self.constants[name] if name in self.constants else self.values[name]

    def shape(self, name):
        return self.array(name).shape

    def type(self, name):
        return type_of(self.array(name))

    def pick(self, types=FLOATS, fits=lambda shape: True, odd=False):
        """Mostly one of the last tensors; None if none fits. `odd`: numbers need not be finite."""
        there = [name for name, array in self.values.items() if name not in self.apart and type_of(array) in types and fits(array.shape) and (odd or is_tame(array))]
        return self.choose.choice(there[-5:] if self.choose.random() < 0.7 else there) if there else None

    def add(self, op, inputs, outputs=1, /, odd=False, unread=(), **attributes):
        """Adds a node and returns the names of its results; None if the node is unsuitable. `unread`: outputs that are left out."""
        names = ["" if i in unread else f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        results = []
        try:
            for tensors in (self.values, self.disturbed):
                given = [None if name == "" else self.constants[name] if name in self.constants else tensors[name] for name in inputs]
                results.append(run_alone(op, given, names, self.opset, attributes))
        except Refused:
            self.refused += 1
            return None
        disturbed = [array if array is None or op in EXACT or not is_float(array) else self.disturb(array, op in TRANSFORMS) for array in results[1]]
        if not all(self.will_do(value, near, odd) for value, near in zip(results[0], disturbed) if value is not None):
            return None
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        for name, value, near in zip(names, results[0], disturbed):
            if name:
                self.values[name], self.disturbed[name] = value, near
        return names if outputs > 1 else names[0]

    def add_known(self, op, inputs, known, near, /, **attributes):
        """A node whose one result is known without ONNX Runtime."""
        if not self.will_do(known, near, False):
            return None
        name = f"t{len(self.nodes)}_0"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.values[name], self.disturbed[name] = known, near
        return name

    def disturb(self, array, alike=False):
        """Adds noise in proportion to each element or, with `alike`, to the largest one."""
        noise = NOISE[type_of(array)] * self.numbers.choice((-1.0, 1.0), array.shape)
        wide = array.astype(numpy.float64)
        return (wide + noise * (numpy.abs(wide).max() if alike and array.size else wide)).astype(array.dtype)

    def will_do(self, value, near, odd):
        if value.size == 0 or value.size > MOST_ELEMENTS or value.shape != near.shape:
            return False
        if not is_float(value):
            # For larger integers, onnxruntime's reductions do not wrap around, or do so in another type.
            return numpy.array_equal(value, near) and (value.dtype == bool or int(numpy.abs(value.astype(numpy.float64)).max()) < LARGEST_INTEGER)
        if not odd and not is_tame(value):
            return False
        wide, wide_near = value.astype(numpy.float64), near.astype(numpy.float64)
        finite = numpy.isfinite(wide)
        if not numpy.array_equal(wide[~finite], wide_near[~finite], equal_nan=True) or not numpy.isfinite(wide_near[finite]).all():
            return False
        apart = numpy.abs(wide[finite] - wide_near[finite])
        return bool((apart <= ABSOLUTE + TOLERANCE[type_of(value)] * numpy.abs(wide[finite])).all())

    def model(self):
        """The network; None without a result."""
        read = {name for node in self.nodes for name in node.input}
        computed = [name for name in self.values if name not in self.inputs]
        results = [name for name in computed if name not in read or self.choose.random() < 0.1]
        # Some unread results are not outputs either; at least one is.
        results = [name for name in results if self.choose.random() < 0.9] or results[:1]
        if not results:
            return None, []

        def described(name, array, shape):
            return helper.make_tensor_value_info(name, TYPES[type_of(array)][0], shape)

        inputs = [described(name, array, array.shape) for name, array in self.inputs.items()]
        outputs = [described(name, self.values[name], None) for name in results]
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items() if name in read]
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, constants)
        return helper.make_model(graph, opset_imports=opsets(self.opset), ir_version=10), results


def is_tame(array):
    if not is_float(array):
        return True
    wide = array.astype(numpy.float64)
    return bool(numpy.isfinite(wide).all()) and bool((numpy.abs(wide) <= LARGEST[type_of(array)]).all())


def divisors(count):
    return [n for n in range(1, count + 1) if count % n == 0]


def elements(shape):
    return math.prod(shape)
