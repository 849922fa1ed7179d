"""Finds groups of operators of a torch graph that one program can compute, and their workloads."""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as functional
from torch.fx import GraphModule, Node

from ._tunesmith import Kernel, Workload
TYPES = {torch.float32: "f32", torch.float64: "f64"}

_LINEAR = """name: {name}
params: {{n: {n}, m: {m}, k: {k}}}
inputs:
  X: {{shape: [n, k], dtype: {dtype}}}
  W: {{shape: [m, k], dtype: {dtype}, constant: {constant}}}
{bias}compute: |
  Y[i<n, j<m] = sum(r<k) X[i, r] * W[j, r]
{epilogue}outputs: [{output}]
"""
_SOFTMAX = """name: softmax
params: {{n: {n}, m: {m}}}
inputs:
  X: {{shape: [n, m], dtype: {dtype}}}
compute: |
  L[i<n] = max(j<m) X[i, j]
  E[i, j] = exp(X[i, j] - L[i])
  S[i] = sum(j) E[i, j]
  O[i, j] = E[i, j] / S[i]
outputs: [O]
"""
_PRODUCT = """name: product
params: {{b: {b}, n: {n}, m: {m}, k: {k}}}
inputs:
  A: {{shape: [b, n, k], dtype: {dtype}}}
  B: {{shape: [b, k, m], dtype: {dtype}}}
compute: |
  C[z<b, i<n, j<m] = sum(r<k) A[z, i, r] * B[z, r, j]
outputs: [C]
"""
_ATTENTION = """name: attention
params: {{b: {b}, heads: {heads}, n: {n}, l: {l}, d: {d}, e: {e}}}
inputs:
  Q: {{shape: [{shapes[0]}], dtype: {dtype}}}
  K: {{shape: [{shapes[1]}], dtype: {dtype}}}
  V: {{shape: [{shapes[2]}], dtype: {dtype}}}
compute: |
  S[z<b, h<heads, i<n, j<l] = (sum(r<d) Q[{reads[0]}] * K[{reads[1]}]) * {scale!r}
  Max[z<b, h<heads, i<n] = max(j<l) S[z, h, i, j]
  E[z<b, h<heads, i<n, j<l] = exp(S[z, h, i, j] - Max[z, h, i])
  Sum[z<b, h<heads, i<n] = sum(j<l) E[z, h, i, j]
  P[z<b, h<heads, i<n, j<l] = E[z, h, i, j] / Sum[z, h, i]
  O[{result}] = sum(j<l) P[z, h, i, j] * V[{reads[2]}]
outputs: [O]
"""
_LAYER_NORM = """name: layer_norm
params: {{n: {n}, m: {m}}}
inputs:
  X: {{shape: [n, m], dtype: {dtype}}}
{residual}  Scale: {{shape: [m], dtype: {dtype}, constant: {constant}}}
  Offset: {{shape: [m], dtype: {dtype}, constant: {constant}}}
compute: |
{sum}  Sum[i<n] = sum(j<m) {value}
  Mean[i<n] = Sum[i] / m
  Squares[i<n] = sum(j<m) ({value} - Mean[i]) * ({value} - Mean[i])
  R[i<n] = rsqrt(Squares[i] / m + {eps!r})
  O[i<n, j<m] = ({value} - Mean[i]) * R[i] * Scale[j] + Offset[j]
outputs: [O]
"""
# Operators after a product that its program computes, too.
_EPILOGUES = {
    "relu": "max({x}, 0)",
    "gelu": "{x} * 0.5 * (1 + erf({x} * 0.7071067811865476))",
}


class Step:
    """Operators of a graph that one program computes: `nodes`, in the graph's order, with the workload, the sources of its inputs,
    and the view from its result to the last node's."""

    def __init__(self, name: str, nodes: list[Node], sources: list[Any], text: str, view: Callable[[Any], Any] | None = None) -> None:
        self.name, self.nodes, self.sources, self.workload, self._view = name, nodes, sources, Workload(text), view

    @property
    def last(self) -> Node:
        return self.nodes[-1]

    def call(self, kernel: Kernel) -> Callable[..., Any]:
        shapes = [buffer.shape for buffer in kernel.inputs]
        shape = tuple(value_of(self.last).shape)
        view = self._view or (lambda result: result.reshape(shape))

        def run(*arrays: torch.Tensor) -> Any:
            return view(kernel(*(array.detach().reshape(wanted).contiguous() for array, wanted in zip(arrays, shapes))))

        run.__name__ = f"tunesmith_{self.name}"
        return run


def value_of(node: Any) -> Any:
    value = node.meta.get("example_value", node.meta.get("val")) if isinstance(node, Node) else None
    return value if isinstance(value, torch.Tensor) else None


def fits(*nodes: Any) -> str | None:
    """The common type of the nodes' tensors if programs support it, they are on the CPU and their shapes are static; else None."""
    values = [value_of(node) for node in nodes]
    if any(value is None or value.device.type != "cpu" or value.dtype != values[0].dtype for value in values):
        return None
    if any(not isinstance(extent, int) or extent < 1 for value in values for extent in value.shape):
        return None
    return TYPES.get(values[0].dtype)


def _argument(node: Node, position: int, name: str, default: Any = None) -> Any:
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)


def _changes(node: Node) -> bool:
    """May the node modify its arguments?"""
    if node.op == "call_method":
        method = str(node.target)
        return method.endswith("_") and not method.endswith("__")
    name = getattr(node.target, "__name__", "")
    in_place = isinstance(node.target, type(operator.iadd)) and name in ("iadd", "isub", "imul", "itruediv", "setitem", "copy_")
    return node.op == "call_function" and (in_place or bool(node.kwargs.get("inplace")) or "out" in node.kwargs or name.endswith("_"))


def _together(first: Node, last: Node) -> bool:
    """May `first` be computed at the place of `last`? No node in between modifies a tensor."""
    between = first.next
    while between is not last:
        if _changes(between):
            return False
        between = between.next
    return True


def _activation(node: Node) -> tuple[str | None, Node]:
    """The activation that is the only reader of the node's result, and its node; else (None, node)."""
    if len(node.users) != 1:
        return None, node
    user = next(iter(node.users))
    if user.op != "call_function" or user.args[:1] != (node,) or not _together(node, user):
        return None, node
    if user.target in (functional.relu, torch.relu):
        return "relu", user
    if user.target is functional.gelu and _argument(user, 1, "approximate", "none") == "none":
        return "gelu", user
    return None, node


_ADDITIONS = (operator.add, torch.add)


def _added(node: Node) -> tuple[Any, Node]:
    """The other operand of an addition that is the only reader of the node's result, and its node; else (None, node)."""
    if len(node.users) != 1:
        return None, node
    user = next(iter(node.users))
    if user.op != "call_function" or user.target not in _ADDITIONS or len(user.args) != 2 or user.kwargs:
        return None, node
    other = user.args[1] if user.args[0] is node else user.args[0]
    if other is node or not _together(node, user) or fits(node, other) is None or value_of(other).shape != value_of(node).shape:
        return None, node
    return other, user


def _linear(node: Node, freeze: bool, taken: set[Node]) -> Step | None:
    X, W, B = (_argument(node, position, name) for position, name in enumerate(("input", "weight", "bias")))
    dtype = fits(X, W, *([] if B is None else [B]))
    if dtype is None or value_of(W).dim() != 2:
        return None
    m, k = value_of(W).shape
    name, last = _activation(node)
    residual = None
    if name is None:
        residual, last = _added(node)
    lines, output = [], "Y"
    value = "Y[i, j]"
    if B is not None:
        value, output = "Y[i, j] + B[j]", "Z"
        lines.append(f"  Z[i, j] = {value}")
    if name is not None:
        lines.append(f"  O[i, j] = {_EPILOGUES[name].format(x=output + '[i, j]')}")
        output = "O"
    if residual is not None:
        lines.append(f"  O[i, j] = {output}[i, j] + R[i, j]")
        output, name = "O", "residual"
    called = "linear" if name is None else f"linear_{name}"
    rest = ("" if B is None else f"  B: {{shape: [m], dtype: {dtype}}}\n") + ("" if residual is None else f"  R: {{shape: [n, m], dtype: {dtype}}}\n")
    text = _LINEAR.format(
        name=called, n=value_of(X).numel() // k, m=m, k=k, dtype=dtype, constant=str(freeze).lower(), output=output,
        bias=rest, epilogue="".join(line + "\n" for line in lines),
    )
    return Step(called, [node] if last is node else [node, last], [one for one in (X, W, B, residual) if one is not None], text)


def _softmax(node: Node, freeze: bool, taken: set[Node]) -> Step | None:
    X = _argument(node, 0, "input")
    dtype = fits(X)
    axis = _argument(node, 1, "dim")
    if dtype is None or axis is None or axis % value_of(X).dim() != value_of(X).dim() - 1 or node.kwargs.get("dtype") is not None:
        return None
    m = value_of(X).shape[-1]
    return Step("softmax", [node], [X], _SOFTMAX.format(n=value_of(X).numel() // m, m=m, dtype=dtype))


def _product(node: Node, freeze: bool, taken: set[Node]) -> Step | None:
    A, B = _argument(node, 0, "input"), _argument(node, 1, "other")
    dtype = fits(A, B)
    if dtype is None or value_of(A).dim() < 2 or value_of(A).shape[:-2] != value_of(B).shape[:-2]:
        return None
    n, k = value_of(A).shape[-2:]
    m = value_of(B).shape[-1]
    return Step("matmul", [node], [A, B], _PRODUCT.format(b=value_of(A).numel() // (n * k), n=n, m=m, k=k, dtype=dtype))


def by_token(node: Any) -> Any:
    """The tensor [b, n, h, d] if the node is its view as [b, h, n, d], so that no data moves; else None."""
    if node.op == "call_method" and node.target == "transpose" and sorted(node.args[1:]) == [1, 2] and value_of(node.args[0]) is not None:
        return node.args[0]
    return None


def _attention(node: Node, freeze: bool, taken: set[Node]) -> Step | None:
    Q, K, V = (_argument(node, position, name) for position, name in enumerate(("query", "key", "value")))
    dtype = fits(Q, K, V)
    more = [_argument(node, position, name) for position, name in ((3, "attn_mask"), (4, "dropout_p"), (5, "is_causal"))]
    if dtype is None or any(more) or node.kwargs.get("enable_gqa") or any(value_of(one).dim() != 4 for one in (Q, K, V)):
        return None
    b, heads, n, d = value_of(Q).shape
    l, e = value_of(V).shape[-2:]
    if tuple(value_of(K).shape) != (b, heads, l, d) or tuple(value_of(V).shape[:2]) != (b, heads):
        return None
    sources, shapes, reads = [], [], []
    for one, rows, row, columns, column in ((Q, "n", "i", "d", "r"), (K, "l", "j", "d", "r"), (V, "l", "j", "e", "c")):
        token = by_token(one)
        sources.append(one if token is None else token)
        shapes.append(f"b, heads, {rows}, {columns}" if token is None else f"b, {rows}, heads, {columns}")
        reads.append(f"z, h, {row}, {column}" if token is None else f"z, {row}, h, {column}")
    moved = by_token(Q) is not None
    scale: Any = node.kwargs.get("scale")
    text = _ATTENTION.format(
        b=b, heads=heads, n=n, l=l, d=d, e=e, dtype=dtype, shapes=shapes, reads=reads, scale=float(d**-0.5 if scale is None else scale),
        result="z<b, i<n, h<heads, c<e" if moved else "z<b, h<heads, i<n, c<e")
    return Step("attention", [node], sources, text, (lambda result: result.transpose(1, 2)) if moved else None)


def _layer_norm(node: Node, freeze: bool, taken: set[Node]) -> Step | None:
    X, shape, W, B = (_argument(node, position, name) for position, name in enumerate(("input", "normalized_shape", "weight", "bias")))
    eps = _argument(node, 4, "eps", 1e-5)
    dtype = fits(X, W, B)
    if dtype is None or tuple(shape) != tuple(value_of(X).shape[-1:]):
        return None
    m = value_of(X).shape[-1]
    nodes, sources, residual = [node], [X], False
    if X not in taken and X.op == "call_function" and _added_to(X, node):
        nodes, sources, residual = [X, node], list(X.args), True
    text = _LAYER_NORM.format(
        n=value_of(X).numel() // m, m=m, dtype=dtype, constant=str(freeze).lower(), eps=float(eps), value="A[i, j]" if residual else "X[i, j]",
        residual=f"  Y: {{shape: [n, m], dtype: {dtype}}}\n" if residual else "", sum="  A[i<n, j<m] = X[i, j] + Y[i, j]\n" if residual else "")
    return Step("layer_norm", nodes, [*sources, W, B], text)


def _added_to(node: Node, reader: Node) -> bool:
    """Is the node a sum of two tensors of one shape, read only by `reader`?"""
    is_sum = node.target in _ADDITIONS and len(node.args) == 2 and not node.kwargs and set(node.users) == {reader}
    return is_sum and _together(node, reader) and fits(node, *node.args) is not None and all(value_of(one).shape == value_of(node).shape for one in node.args)


_OPERATORS: dict[Any, Callable[[Node, bool, set[Node]], Step | None]] = {
    functional.layer_norm: _layer_norm,
    functional.scaled_dot_product_attention: _attention,
    functional.linear: _linear,
    torch._C._nn.linear: _linear,
    functional.softmax: _softmax,
    torch.softmax: _softmax,
    torch.matmul: _product,
    torch.bmm: _product,
    operator.matmul: _product,
}


def steps_of(graph: GraphModule, freeze: bool) -> list[Step]:
    """The parts of the graph that programs can compute, in its order."""
    taken: set[Node] = set()
    steps = []
    for node in graph.graph.nodes:
        make = _OPERATORS.get(node.target) if node.op == "call_function" and node not in taken else None
        step = make(node, freeze, taken) if make else None
        # Autocast computes in a type other than the operands'; programs do not.
        if step is not None and fits(*step.sources, *step.nodes) is not None:
            steps.append(step)
            taken.update(step.nodes)
    return steps
