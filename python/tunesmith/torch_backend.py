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
# What may follow a product and is done in its program.
_EPILOGUES = {
    "relu": "max({x}, 0)",
    "gelu": "{x} * 0.5 * (1 + erf({x} * 0.7071067811865476))",
}


class _Step:
    """Operators of a graph that one program computes: `nodes`, in the graph's order; `workload`, the nodes that give its inputs,
    and how its result becomes the last node's."""

    def __init__(self, name, nodes, sources, text, view=None):
        self.name, self.nodes, self.sources, self.workload, self._view = name, nodes, sources, Workload(text), view

    @property
    def last(self):
        return self.nodes[-1]

    def call(self, kernel):
        shapes = [buffer.shape for buffer in kernel.inputs]
        shape = tuple(_value(self.last).shape)
        view = self._view or (lambda result: result.reshape(shape))

        def run(*arrays):
            return view(kernel(*(array.detach().reshape(wanted).contiguous() for array, wanted in zip(arrays, shapes))))

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


def _changes(node):
    """May the node change what it is given?"""
    if node.op == "call_method":
        return node.target.endswith("_") and not node.target.endswith("__")
    name = getattr(node.target, "__name__", "")
    in_place = isinstance(node.target, type(operator.iadd)) and name in ("iadd", "isub", "imul", "itruediv", "setitem", "copy_")
    return node.op == "call_function" and (in_place or bool(node.kwargs.get("inplace")) or "out" in node.kwargs or name.endswith("_"))


def _together(first, last):
    """May what `first` computes be computed where `last` stands? Nothing in between changes what it reads."""
    between = first.next
    while between is not last:
        if _changes(between):
            return False
        between = between.next
    return True


def _activation(node):
    """The activation that alone reads the node's result."""
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


def _added(node):
    """What is added to the node's result by what alone reads it, and that; (None, node) where there is no such."""
    if len(node.users) != 1:
        return None, node
    user = next(iter(node.users))
    if user.op != "call_function" or user.target not in _ADDITIONS or len(user.args) != 2 or user.kwargs:
        return None, node
    other = user.args[1] if user.args[0] is node else user.args[0]
    if other is node or not _together(node, user) or _fits(node, other) is None or _value(other).shape != _value(node).shape:
        return None, node
    return other, user


def _linear(node, freeze, taken):
    X, W, B = (_argument(node, position, name) for position, name in enumerate(("input", "weight", "bias")))
    dtype = _fits(X, W, *([] if B is None else [B]))
    if dtype is None or _value(W).dim() != 2:
        return None
    m, k = _value(W).shape
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
        name=called, n=_value(X).numel() // k, m=m, k=k, dtype=dtype, constant=str(freeze).lower(), output=output,
        bias=rest, epilogue="".join(line + "\n" for line in lines),
    )
    return _Step(called, [node] if last is node else [node, last], [one for one in (X, W, B, residual) if one is not None], text)


def _softmax(node, freeze, taken):
    X = _argument(node, 0, "input")
    dtype = _fits(X)
    axis = _argument(node, 1, "dim")
    if dtype is None or axis is None or axis % _value(X).dim() != _value(X).dim() - 1 or node.kwargs.get("dtype") is not None:
        return None
    m = _value(X).shape[-1]
    return _Step("softmax", [node], [X], _SOFTMAX.format(n=_value(X).numel() // m, m=m, dtype=dtype))


def _product(node, freeze, taken):
    A, B = _argument(node, 0, "input"), _argument(node, 1, "other")
    dtype = _fits(A, B)
    if dtype is None or _value(A).dim() < 2 or _value(A).shape[:-2] != _value(B).shape[:-2]:
        return None
    n, k = _value(A).shape[-2:]
    m = _value(B).shape[-1]
    return _Step("matmul", [node], [A, B], _PRODUCT.format(b=_value(A).numel() // (n * k), n=n, m=m, k=k, dtype=dtype))


def _by_token(node):
    """[b, n, h, d], where the node is its view as [b, h, n, d]: nothing is moved then."""
    if node.op == "call_method" and node.target == "transpose" and sorted(node.args[1:]) == [1, 2] and _value(node.args[0]) is not None:
        return node.args[0]
    return None


def _attention(node, freeze, taken):
    Q, K, V = (_argument(node, position, name) for position, name in enumerate(("query", "key", "value")))
    dtype = _fits(Q, K, V)
    more = [_argument(node, position, name) for position, name in ((3, "attn_mask"), (4, "dropout_p"), (5, "is_causal"))]
    if dtype is None or any(more) or node.kwargs.get("enable_gqa") or any(_value(one).dim() != 4 for one in (Q, K, V)):
        return None
    b, heads, n, d = _value(Q).shape
    l, e = _value(V).shape[-2:]
    if tuple(_value(K).shape) != (b, heads, l, d) or tuple(_value(V).shape[:2]) != (b, heads):
        return None
    sources, shapes, reads = [], [], []
    for one, rows, row, columns, column in ((Q, "n", "i", "d", "r"), (K, "l", "j", "d", "r"), (V, "l", "j", "e", "c")):
        token = _by_token(one)
        sources.append(one if token is None else token)
        shapes.append(f"b, heads, {rows}, {columns}" if token is None else f"b, {rows}, heads, {columns}")
        reads.append(f"z, h, {row}, {column}" if token is None else f"z, {row}, h, {column}")
    by_token = _by_token(Q) is not None
    scale = node.kwargs.get("scale")
    text = _ATTENTION.format(
        b=b, heads=heads, n=n, l=l, d=d, e=e, dtype=dtype, shapes=shapes, reads=reads, scale=float(d**-0.5 if scale is None else scale),
        result="z<b, i<n, h<heads, c<e" if by_token else "z<b, h<heads, i<n, c<e")
    return _Step("attention", [node], sources, text, (lambda result: result.transpose(1, 2)) if by_token else None)


def _layer_norm(node, freeze, taken):
    X, shape, W, B = (_argument(node, position, name) for position, name in enumerate(("input", "normalized_shape", "weight", "bias")))
    eps = _argument(node, 4, "eps", 1e-5)
    dtype = _fits(X, W, B)
    if dtype is None or tuple(shape) != tuple(_value(X).shape[-1:]):
        return None
    m = _value(X).shape[-1]
    nodes, sources, residual = [node], [X], False
    if X not in taken and X.op == "call_function" and _added_to(X, node):
        nodes, sources, residual = [X, node], list(X.args), True
    text = _LAYER_NORM.format(
        n=_value(X).numel() // m, m=m, dtype=dtype, constant=str(freeze).lower(), eps=float(eps), value="A[i, j]" if residual else "X[i, j]",
        residual=f"  Y: {{shape: [n, m], dtype: {dtype}}}\n" if residual else "", sum="  A[i<n, j<m] = X[i, j] + Y[i, j]\n" if residual else "")
    return _Step("layer_norm", nodes, [*sources, W, B], text)


def _added_to(node, reader):
    """Is the node a sum of two tensors of one shape that `reader` alone reads?"""
    fits = node.target in _ADDITIONS and len(node.args) == 2 and not node.kwargs and set(node.users) == {reader}
    return fits and _together(node, reader) and _fits(node, *node.args) is not None and all(_value(one).shape == _value(node).shape for one in node.args)


_OPERATORS = {
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


def _steps(graph, freeze):
    taken, steps = set(), []
    for node in graph.graph.nodes:
        make = _OPERATORS.get(node.target) if node.op == "call_function" and node not in taken else None
        step = make(node, freeze, taken) if make else None
        if step is not None:
            steps.append(step)
            taken.update(step.nodes)
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
    for step in _steps(graph, options.get("freeze", False)):
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
        views = {source for source in step.last.all_input_nodes if _by_token(source) is not None}
        for one in reversed(step.nodes):
            graph.graph.erase_node(one)
        for one in views:
            if not one.users:
                graph.graph.erase_node(one)
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
        found.update((step.workload, None) for step in _steps(graph, freeze))
        return graph.forward

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=collect)(*inputs)
    torch._dynamo.reset()
    return list(found)
