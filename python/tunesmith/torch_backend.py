"""A backend of torch.compile, for inference on the processor: operators whose tasks are on record run Tunesmith's programs, all
others run as torch runs them, which is said.

    fast = torch.compile(model, backend="tunesmith", options={"records": "records.db"})
    with torch.no_grad():
        fast(x)

It tunes nothing. :func:`tasks` lists what there is to tune.
"""
import logging
import operator
from collections import Counter

import torch
import torch.nn.functional as functional

from ._tunesmith import Records, Space, Workload
from .errors import NoRecord, UserError

_log = logging.getLogger("tunesmith")
_TYPES = {torch.float32: "f32", torch.float64: "f64"}

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
# What may follow a product and is done in its program.
_EPILOGUES = {
    "relu": "max({x}, 0)",
    "gelu": "{x} * 0.5 * (1 + erf({x} * 0.7071067811865476))",
}


class _Step:
    """Operators of a graph that one program computes: `workload`, the nodes that give its inputs, and the shape of its result."""

    def __init__(self, name, last, sources, text):
        self.name, self.last, self.sources, self.workload = name, last, sources, Workload(text)

    def call(self, kernel):
        shapes = [buffer.shape for buffer in kernel.inputs]
        shape = tuple(_value(self.last).shape)

        def run(*arrays):
            return kernel(*(array.detach().reshape(wanted).contiguous() for array, wanted in zip(arrays, shapes))).reshape(shape)

        run.__name__ = f"tunesmith_{self.name}"
        return run


def _value(node):
    value = node.meta.get("example_value", node.meta.get("val")) if isinstance(node, torch.fx.Node) else None
    return value if isinstance(value, torch.Tensor) else None


def _fits(*nodes):
    """Tensors of one type that programs have, in the processor's memory, of shapes that are numbers."""
    values = [_value(node) for node in nodes]
    if any(value is None or value.device.type != "cpu" or value.dtype != values[0].dtype for value in values):
        return None
    if any(not isinstance(extent, int) or extent < 1 for value in values for extent in value.shape):
        return None
    return _TYPES.get(values[0].dtype)


def _argument(node, position, name, default=None):
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)


def _activation(node):
    """The activation that alone reads the node's result."""
    if len(node.users) != 1:
        return None, node
    user = next(iter(node.users))
    if user.op != "call_function" or user.args[:1] != (node,):
        return None, node
    if user.target in (functional.relu, torch.relu):
        return "relu", user
    if user.target is functional.gelu and _argument(user, 1, "approximate", "none") == "none":
        return "gelu", user
    return None, node


def _linear(node, freeze):
    X, W, B = (_argument(node, position, name) for position, name in enumerate(("input", "weight", "bias")))
    dtype = _fits(X, W, *([] if B is None else [B]))
    if dtype is None or _value(W).dim() != 2:
        return None
    m, k = _value(W).shape
    name, last = _activation(node)
    lines, output = [], "Y"
    value = "Y[i, j]"
    if B is not None:
        value, output = "Y[i, j] + B[j]", "Z"
        lines.append(f"  Z[i, j] = {value}")
    if name is not None:
        lines.append(f"  O[i, j] = {_EPILOGUES[name].format(x=output + '[i, j]')}")
        output = "O"
    called = "linear" if name is None else f"linear_{name}"
    text = _LINEAR.format(
        name=called, n=_value(X).numel() // k, m=m, k=k, dtype=dtype, constant=str(freeze).lower(), output=output,
        bias="" if B is None else f"  B: {{shape: [m], dtype: {dtype}}}\n", epilogue="".join(line + "\n" for line in lines),
    )
    return _Step(called, last, [X, W] if B is None else [X, W, B], text)


def _softmax(node, freeze):
    X = _argument(node, 0, "input")
    dtype = _fits(X)
    axis = _argument(node, 1, "dim")
    if dtype is None or axis is None or axis % _value(X).dim() != _value(X).dim() - 1 or node.kwargs.get("dtype") is not None:
        return None
    m = _value(X).shape[-1]
    return _Step("softmax", node, [X], _SOFTMAX.format(n=_value(X).numel() // m, m=m, dtype=dtype))


def _product(node, freeze):
    A, B = _argument(node, 0, "input"), _argument(node, 1, "other")
    dtype = _fits(A, B)
    if dtype is None or _value(A).dim() < 2 or _value(A).shape[:-2] != _value(B).shape[:-2]:
        return None
    n, k = _value(A).shape[-2:]
    m = _value(B).shape[-1]
    return _Step("matmul", node, [A, B], _PRODUCT.format(b=_value(A).numel() // (n * k), n=n, m=m, k=k, dtype=dtype))


_OPERATORS = {
    functional.linear: _linear,
    torch._C._nn.linear: _linear,
    functional.softmax: _softmax,
    torch.softmax: _softmax,
    torch.matmul: _product,
    torch.bmm: _product,
    operator.matmul: _product,
}


def _steps(graph, freeze):
    taken, steps = set(), []
    for node in graph.graph.nodes:
        make = _OPERATORS.get(node.target) if node.op == "call_function" and node not in taken else None
        step = make(node, freeze) if make else None
        if step is not None:
            steps.append((node, step))
            taken.update((node, step.last))
    return steps


def backend(graph, example_inputs, options=None):
    """What ``torch.compile(model, backend="tunesmith")`` calls, once for each graph of constant shapes.

    ``options``: ``records``, the store (None: the command's); ``space`` and ``threads``, as of :func:`tunesmith.tune`;
    ``freeze``: weights never change, so their layout may be chosen ahead of time. Says on the logger ``tunesmith`` which operators
    run as torch runs them, and which of those a record would help.
    """
    known = {"records", "space", "threads", "freeze"}
    options = dict(options or {})
    if not set(options) <= known:
        raise UserError(f"options: there are {', '.join(sorted(known))}, not {', '.join(sorted(set(options) - known))}")
    if torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs):
        _log.warning("torch.compile: gradients are wanted, and programs compute none: all runs as torch runs it; call it in torch.no_grad()")
        return graph.forward
    space = options.get("space")
    space = space if isinstance(space, Space) else Space(space or "cpu")
    records = Records(options.get("records"))
    replaced, lacking = {}, []
    for node, step in _steps(graph, options.get("freeze", False)):
        try:
            record = records.best(step.workload, space=space, threads=options.get("threads", 0))[0]
        except UserError as error:
            # No store at all is no record, too.
            lacking.append(step.workload)
            _log.debug("torch.compile: %s", error) if isinstance(error, NoRecord) else _log.warning("torch.compile: %s", error)
            continue
        with graph.graph.inserting_before(step.last):
            made = graph.graph.call_function(step.call(record.build()), tuple(replaced.get(source, source) for source in step.sources))
        step.last.replace_all_uses_with(made)
        replaced[step.last] = made
        graph.graph.erase_node(step.last)
        if node is not step.last:
            graph.graph.erase_node(node)
    graph.graph.lint()
    graph.recompile()
    _say(graph, len(replaced), lacking)
    return graph.forward


def _say(graph, found, lacking):
    eager = Counter(
        getattr(node.target, "__name__", str(node.target))
        for node in graph.graph.nodes
        if node.op in ("call_function", "call_method", "call_module") and not getattr(node.target, "__name__", "").startswith("tunesmith_")
    )
    text = ", ".join(f"{name}{f' ({count} times)' if count > 1 else ''}" for name, count in sorted(eager.items()))
    _log.warning("torch.compile: %d operators from records%s", found, f"; as torch runs them: {text}" if text else "")
    for workload in dict.fromkeys(lacking):
        _log.warning("torch.compile: no record of %s; tunesmith.torch_backend.tasks(model, ...) gives what to tune", workload.key)


def tasks(model, *inputs, freeze=False):
    """The workloads of a model's operators that the backend would take from records, each once: what to give to
    :func:`tunesmith.tune`. ``inputs``: as the model is called."""
    found = {}

    def collect(graph, example_inputs):
        found.update((step.workload, None) for _, step in _steps(graph, freeze))
        return graph.forward

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=collect)(*inputs)
    torch._dynamo.reset()
    return list(found)
