#!/usr/bin/env python3
"""Random networks beside ONNX Runtime: operators with drawn attributes, and graphs of views, joins and products.

Usage: drawn.py --tunesmith PATH [--first SEED] [--count N] [--keep FOLDER]

Needs onnx, onnxruntime and numpy, as bench/peers/requirements.txt has them; exits with 77 without. A network depends on its seed alone. Those that are wrong
are named with their seeds; --keep leaves their folders, for `tunesmith network test`.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from onnx import helper, numpy_helper

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
RESIZE_POSITIONS = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
UNARY = ("Relu", "Tanh", "Sigmoid", "Sinh", "Cosh", "Softplus", "Erf", "Neg", "Abs")
SHAPES = ((1, 4, 6, 6), (2, 3, 4), (4, 6), (1, 8, 4), (6, 8))
MOST_ELEMENTS = 4000


class Drawing:
    """A graph to which operators are added that fit what is there."""

    def __init__(self, seed):
        self.choose, self.numbers = random.Random(seed), numpy.random.default_rng(seed)
        self.nodes, self.constants, self.shapes, self.inputs, self.integers = [], [], {}, {}, []
        for i in range(self.choose.randint(1, 2)):
            shape = self.choose.choice(SHAPES)
            self.shapes[f"x{i}"] = shape
            self.inputs[f"x{i}"] = self.numbers.standard_normal(shape).astype(numpy.float32)

    def constant(self, values, dtype=numpy.int64):
        self.constants.append(numpy_helper.from_array(numpy.asarray(values, dtype), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def weights(self, *shape):
        return self.constant(self.numbers.standard_normal(shape) / math.sqrt(math.prod(shape[1:])), numpy.float32)

    def add(self, op, inputs, *shapes, **attributes):
        if any(math.prod(shape) > MOST_ELEMENTS for shape in shapes):
            return
        results = [f"t{len(self.shapes) + i}" for i in range(len(shapes))]
        self.shapes.update(zip(results, map(tuple, shapes)))
        names = results
        if op == "TopK":
            self.integers.append(f"i{results[0]}")
            names = [*results, self.integers[-1]]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))

    def pick(self, fits=lambda shape: True):
        """One of the last tensors, mostly; None where none fits."""
        there = [name for name, shape in self.shapes.items() if fits(shape)]
        return self.choose.choice(there[-5:] if self.choose.random() < 0.7 else there) if there else None

    def axis(self, shape):
        return self.choose.randrange(len(shape))

    def unary(self, x, shape):
        self.add(self.choose.choice(UNARY), [x], shape)

    def softmax(self, x, shape):
        self.add("Softmax", [x], shape, axis=self.axis(shape))

    def largest(self, x, shape):
        axis = self.axis(shape)
        self.add("ReduceMax", [x], shape[:axis] + (1,) + shape[axis + 1:], axes=[axis])

    def product(self, x, shape):
        columns = self.choose.choice((4, 6, 8))
        self.add("MatMul", [x, self.weights(shape[-1], columns)], shape[:-1] + (columns,))

    def convolution(self, x, shape):
        if len(shape) == 4:
            channels = self.choose.choice((2, 4))
            self.add("Conv", [x, self.weights(channels, shape[1], 3, 3)], (shape[0], channels, *shape[2:]), pads=[1] * 4)

    def sum(self, x, shape):
        self.add("Add", [x, self.pick(lambda other: other == shape)], shape)

    def reshape(self, x, shape):
        elements = math.prod(shape)
        first = self.choose.choice([n for n in range(1, elements + 1) if elements % n == 0])
        to = self.choose.choice(((first, elements // first), (1, first, elements // first)))
        self.add("Reshape", [x, self.constant(to)], to)

    def transpose(self, x, shape):
        order = self.choose.sample(range(len(shape)), len(shape))
        self.add("Transpose", [x], [shape[axis] for axis in order], perm=order)

    def slice(self, x, shape):
        axis = self.axis(shape)
        begin = self.choose.randrange(shape[axis])
        end = self.choose.randrange(begin, shape[axis]) + 1
        self.add("Slice", [x, *(self.constant([value]) for value in (begin, end, axis))], shape[:axis] + (end - begin,) + shape[axis + 1:])

    def pad(self, x, shape):
        pads = [self.choose.randint(0, 1) for _ in range(2 * len(shape))]
        self.add("Pad", [x, self.constant(pads)], [shape[i] + pads[i] + pads[i + len(shape)] for i in range(len(shape))])

    def join(self, x, shape):
        axis, parts = self.axis(shape), [x]
        for _ in range(self.choose.randint(1, 3)):
            parts.append(self.pick(lambda other: len(other) == len(shape) and all(i == axis or other[i] == shape[i] for i in range(len(shape)))))
        self.choose.shuffle(parts)
        self.add("Concat", parts, shape[:axis] + (sum(self.shapes[part][axis] for part in parts),) + shape[axis + 1:], axis=axis)

    def choice(self, x, shape):
        if shape[-1] >= 3:
            self.add("TopK", [x, self.constant([3])], shape[:-1] + (3,), axis=-1)

    def resize(self, x, shape):
        if len(shape) != 4:
            return
        mode = self.choose.choice(("nearest", "linear", "cubic"))
        attributes = {"mode": mode, "coordinate_transformation_mode": self.choose.choice(RESIZE_POSITIONS)}
        if mode == "nearest":
            attributes["nearest_mode"] = self.choose.choice(("round_prefer_floor", "round_prefer_ceil"))
        to = (*shape[:2], self.choose.randint(2, 13), self.choose.randint(2, 13))
        self.add("Resize", [x, "", "", self.constant(to)], to, **attributes)

    def model(self):
        operators = (self.unary, self.softmax, self.largest, self.product, self.convolution, self.sum, self.reshape, self.transpose, self.slice, self.pad, self.join,
                     self.join, self.choice, self.resize)
        for _ in range(self.choose.randint(3, 11)):
            x = self.pick()
            self.choose.choice(operators)(x, self.shapes[x])
        read = {name for node in self.nodes for name in node.input}
        computed = [name for name in self.shapes if name not in self.inputs]
        results = [name for name in computed if name not in read or self.choose.random() < 0.1]
        indices = [name for name in self.integers if self.choose.random() < 0.5]
        outputs = [helper.make_tensor_value_info(name, FLOAT, None) for name in results] + [helper.make_tensor_value_info(name, INT64, None) for name in indices]
        inputs = [helper.make_tensor_value_info(name, FLOAT, values.shape) for name, values in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8) if results else None


def write_network(seed, folder):
    """The network of this seed with what ONNX Runtime computes; False where it computes nothing."""
    drawing = Drawing(seed)
    model = drawing.model()
    if model is None:
        return False
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    expected = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, drawing.inputs)
    folder.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, tensors in (("input", drawing.inputs.values()), ("expected", expected)):
        for i, values in enumerate(tensors):
            numpy.save(folder / f"{kind}_{i}.npy", numpy.ascontiguousarray(values))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary) / "drawn"
        written = sum(write_network(seed, folder / str(seed)) for seed in range(arguments.first, arguments.first + arguments.count))
        print(f"seeds {arguments.first} to {arguments.first + arguments.count - 1}: {written} networks", flush=True)
        done = subprocess.run([arguments.tunesmith, "network", "test", folder, "--json"], capture_output=True, text=True)
        tests = json.loads(done.stdout)["tests"]
    bad = [test for test in tests if test["result"] != "passed"]
    for test in bad:
        print(f"seed {pathlib.Path(test['folder']).name}: {test['result']}: {test['message']}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
