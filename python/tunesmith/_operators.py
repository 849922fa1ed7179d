"""Built-in workloads as operators of torch, onnxruntime and numpy's BLAS, for `against`.

Each is a function from the parameters and the inputs (by name, numpy arrays in the workload's order) to a :class:`Case`. Work that a
library does once (moving, packing or folding weights) happens before the timed call.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy

Arrays = dict[str, Any]
Params = dict[str, Any]


@dataclasses.dataclass
class Graph:
    """An ONNX graph: `nodes` are (operator, inputs, attributes) and optionally the result's name; the input "_" is the previous
    node's result; the last node's is the graph's."""

    inputs: Arrays
    constants: Arrays
    nodes: list[Any]
    result: Callable[[Any], Any] = lambda out: out  # to the order of the workload's output


@dataclasses.dataclass
class Case:
    torch: Callable[..., Callable[[], Any]]  # from the module torch and the inputs as tensors to a function without arguments
    onnx: Graph
    blas: Callable[[Any], Callable[[], object]] | None = None  # from an array for the result to a function without arguments


def gmm(p: Params, a: Arrays) -> Case:
    constants = {"B"} if p.get("constant_b") else set()
    return Case(
        lambda torch, t: lambda: torch.matmul(t["A"], t["B"]),
        Graph({name: x for name, x in a.items() if name not in constants}, {name: a[name] for name in constants}, [("MatMul", ["A", "B"], {})]),
        lambda out: lambda: numpy.matmul(a["A"], a["B"], out=out),
    )


def gram(p: Params, a: Arrays) -> Case:
    X = a["X"]
    return Case(
        lambda torch, t: lambda: torch.matmul(t["X"], t["X"].transpose(-1, -2)),
        Graph(a, {}, [("Transpose", ["X"], {"perm": [0, 2, 1]}), ("MatMul", ["X", "_"], {})]),
        lambda out: lambda: numpy.matmul(X, X.swapaxes(-1, -2), out=out),
    )


def attention_scores(p: Params, a: Arrays) -> Case:
    return Case(
        lambda torch, t: lambda: t["Q"].permute(0, 2, 1, 3) @ t["K"].permute(0, 2, 3, 1),
        Graph(a, {}, [("Transpose", ["Q"], {"perm": [0, 2, 1, 3]}, "q"), ("Transpose", ["K"], {"perm": [0, 2, 3, 1]}), ("MatMul", ["q", "_"], {})]),
    )


def dense_bias(p: Params, a: Arrays, gelu: bool = False) -> Case:
    def with_torch(torch: Any, t: Arrays) -> Callable[[], Any]:
        w = t["W"].t().contiguous()
        linear = torch.nn.functional.linear
        if gelu:
            return lambda: torch.nn.functional.gelu(linear(t["X"], w, t["Bias"]))
        return lambda: linear(t["X"], w, t["Bias"])

    one = {name: numpy.array(value, a["X"].dtype) for name, value in (("r", 0.5**0.5), ("one", 1.0), ("half", 0.5))}
    nodes: list[Any] = [("Gemm", ["X", "W", "Bias"], {}, "T")]
    if gelu:
        nodes += [("Mul", ["T", "r"], {}), ("Erf", ["_"], {}), ("Add", ["_", "one"], {}), ("Mul", ["T", "_"], {}), ("Mul", ["_", "half"], {})]
    return Case(with_torch, Graph({"X": a["X"]}, {"W": a["W"], "Bias": a["Bias"], **(one if gelu else {})}, nodes))


def _first(x: Any) -> Any:
    """A view of the numpy or torch array [n, spatial..., c] as [n, c, spatial...]."""
    return numpy.moveaxis(x, -1, 1) if isinstance(x, numpy.ndarray) else x.movedim(-1, 1)


def _last(x: Any) -> Any:
    return numpy.moveaxis(x, 1, -1) if isinstance(x, numpy.ndarray) else x.movedim(1, -1)


def _convolution(a: Arrays, weights: Any, geometry: tuple[int, int, int, int], bias: Any = None, relu: bool = False) -> Case:
    """`weights`: [co, ci, spatial...]."""
    rank = weights.ndim - 2
    stride, padding, dilation, groups = geometry

    def with_torch(torch: Any, t: Arrays) -> Callable[[], Any]:
        functional = torch.nn.functional
        formats = {1: torch.contiguous_format, 2: torch.channels_last, 3: torch.channels_last_3d}
        w = torch.from_numpy(numpy.ascontiguousarray(weights)).contiguous(memory_format=formats[rank])
        b = None if bias is None else torch.from_numpy(bias)
        x = _first(t["X"]) if rank > 1 else _first(t["X"]).contiguous()
        conv = getattr(functional, f"conv{rank}d")
        if relu:
            return lambda: _last(functional.relu(conv(x, w, b, stride, padding, dilation, groups)))
        return lambda: _last(conv(x, w, b, stride, padding, dilation, groups))

    how = {"strides": [stride] * rank, "pads": [padding] * 2 * rank, "dilations": [dilation] * rank, "group": groups}
    nodes: list[Any] = [("Conv", ["X", "W"] if bias is None else ["X", "W", "B"], how)] + ([("Relu", ["_"], {})] if relu else [])
    constants = {"W": weights} | ({} if bias is None else {"B": bias})
    return Case(with_torch, Graph({"X": _first(a["X"])}, constants, nodes, _last))


def conv(p: Params, a: Arrays) -> Case:
    """A convolution of one to three dimensions."""
    w = numpy.moveaxis(a["W"], (-1, -2), (0, 1))
    return _convolution(a, w, (p["stride"], p["padding"], p["dilation"], p["groups"]))


def depthwise_conv2d(p: Params, a: Arrays) -> Case:
    return _convolution(a, numpy.moveaxis(a["W"], -1, 0)[:, None], (p["stride"], p["padding"], p["dilation"], p["c"]))


def conv_bias_bn_relu(p: Params, a: Arrays) -> Case:
    """Folds batch normalisation into weights and bias, as libraries do for inference."""
    w = numpy.moveaxis(a["W"] * a["Scale"], (-1, -2), (0, 1))
    return _convolution(a, w, (p["stride"], p["padding"], p["dilation"], p["groups"]), a["Bias"] * a["Scale"] + a["Offset"], True)


def transposed_conv2d(p: Params, a: Arrays) -> Case:
    w = numpy.ascontiguousarray(a["W"].transpose(2, 3, 0, 1))

    def with_torch(torch: Any, t: Arrays) -> Callable[[], Any]:
        x, weights = _first(t["X"]), torch.from_numpy(w)
        return lambda: _last(torch.nn.functional.conv_transpose2d(x, weights, None, p["stride"], p["padding"]))

    how = {"strides": [p["stride"]] * 2, "pads": [p["padding"]] * 4}
    return Case(with_torch, Graph({"X": _first(a["X"])}, {"W": w}, [("ConvTranspose", ["X", "W"], how)], _last))


def pool(name: str, operator: str, **more: Any) -> Callable[[Params, Arrays], Case]:
    def case(p: Params, a: Arrays) -> Case:
        sizes = (p["kernel"], p["stride"], p["padding"])
        how = {"kernel_shape": [sizes[0]] * 2, "strides": [sizes[1]] * 2, "pads": [sizes[2]] * 4, **more}

        def with_torch(torch: Any, t: Arrays) -> Callable[[], Any]:
            x, function = _first(t["X"]), getattr(torch.nn.functional, name)
            return lambda: _last(function(x, *sizes))

        return Case(with_torch, Graph({"X": _first(a["X"])}, {}, [(operator, ["X"], how)], _last))

    return case


def layer_norm(p: Params, a: Arrays) -> Case:
    return Case(
        lambda torch, t: lambda: torch.nn.functional.layer_norm(t["X"], (p["n"],), t["Scale"], t["Offset"], 1e-5),
        Graph({"X": a["X"]}, {"S": a["Scale"], "O": a["Offset"]}, [("LayerNormalization", ["X", "S", "O"], {"epsilon": 1e-5})]),
    )


def elementwise_chain(p: Params, a: Arrays) -> Case:
    def with_torch(torch: Any, t: Arrays) -> Callable[[], Any]:
        def call() -> Any:
            v = torch.tanh(t["X"] + t["Y"]) * t["Z"] - t["X"]
            return torch.sqrt(torch.abs(torch.nn.functional.leaky_relu(v, 0.1)) + 1)

        return call

    nodes: list[Any] = [("Add", ["X", "Y"], {}), ("Tanh", ["_"], {}), ("Mul", ["_", "Z"], {}), ("Sub", ["_", "X"], {}), ("LeakyRelu", ["_"], {"alpha": 0.1}),
             ("Abs", ["_"], {}), ("Add", ["_", "one"], {}), ("Sqrt", ["_"], {})]
    return Case(with_torch, Graph(a, {"one": numpy.array(1.0, a["X"].dtype)}, nodes))


def of_one(with_torch: Callable[..., Any], *node: Any, constants: Arrays | None = None) -> Callable[[Params, Arrays], Case]:
    """An operator with one input."""
    return lambda p, a: Case(lambda torch, t: lambda: with_torch(torch, *t.values()), Graph(a, constants or {}, [(node[0], [*a, *(constants or {})], node[1])]))


#: Workloads that BLAS supports: products of matrices only.
OF_BLAS: tuple[str, ...] = ("gmm", "gram")
OPERATORS: dict[str, Callable[[Params, Arrays], Case]] = {
    "attention_scores": attention_scores, "avg_pool2d": pool("avg_pool2d", "AveragePool", count_include_pad=1), "conv1d": conv, "conv2d": conv, "conv3d": conv,
    "conv_bias_bn_relu": conv_bias_bn_relu, "dense_bias": dense_bias, "dense_bias_gelu": lambda p, a: dense_bias(p, a, True),
    "depthwise_conv2d": depthwise_conv2d, "elementwise_chain": elementwise_chain, "gmm": gmm, "gram": gram, "layer_norm": layer_norm,
    "max_pool2d": pool("max_pool2d", "MaxPool"), "norm": of_one(lambda torch, x: torch.linalg.vector_norm(x, dim=(1, 2)), "ReduceL2", {"axes": [1, 2], "keepdims": 0}),
    "reduce_sum_1d": of_one(lambda torch, x: x.sum(0, keepdim=True), "ReduceSum", {"keepdims": 1}, constants={"axes": numpy.array([0])}),
    "reduce_sum_2d": of_one(lambda torch, x: x.sum(1), "ReduceSum", {"keepdims": 0}, constants={"axes": numpy.array([1])}),
    "relu": of_one(lambda torch, x: torch.relu(x), "Relu", {}), "softmax": of_one(lambda torch, x: torch.softmax(x, -1), "Softmax", {"axis": -1}),
    "transposed_conv2d": transposed_conv2d,
}
