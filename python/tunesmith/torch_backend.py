"""A backend of torch.compile for inference on the CPU: operators with a program on record run that program; all others run in torch,
and are logged.

    fast = torch.compile(model, backend="tunesmith", options={"records": "records.db"})
    with torch.no_grad():
        fast(x)

It does not tune; only ``"draws": 128`` finds and records a first program (docs/proposals.md) for each operator without a record.
:func:`tasks` lists the workloads to tune.
"""
from __future__ import annotations

import copy
import logging
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from ._torch_steps import TYPES, Step, by_token, steps_of, value_of
from ._tune import tune
from ._tunesmith import Record, Records, Space, Workload
from .errors import NoRecord, UserError

_log = logging.getLogger("tunesmith")
# Inductor's presets, which torch.compile passes to any backend.
_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
#: Trials for a first program: the best four draws, and the two unscheduled programs.
_TRIALS = 6
#: After this many shapes without records, new shapes are not looked up any more: a sequence may get longer with each call.
_MOST_UNTUNED = 64


class _Programs:
    """The programs on record that ``options`` name."""

    def __init__(self, options: dict[str, Any] | None) -> None:
        known = {"records", "space", "threads", "freeze", "draws"}
        options = dict(options or {})
        if not set(options) <= known:
            raise UserError(f"options: there are {', '.join(sorted(known))}, not {', '.join(sorted(set(options) - known))}")
        space = options.get("space")
        self._space = space if isinstance(space, Space) else Space(space or "cpu")
        self._records = Records(options.get("records"))
        self._threads: int = options.get("threads", 0)
        self._freeze: bool = options.get("freeze", False)
        self._draws: int = options.get("draws", 0)

    def _best(self, step: Step) -> Record | None:
        try:
            return self._records.best(step.workload, space=self._space, threads=self._threads)[0]
        except UserError as error:
            # A missing store counts as no record.
            _log.debug("torch.compile: %s", error) if isinstance(error, NoRecord) else _log.warning("torch.compile: %s", error)
            return None

    def time_first(self, graph: GraphModule) -> None:
        """Finds and records a first program for each operator without a record."""
        if self._draws == 0:
            return
        any_on_record = os.path.exists(self._records.path)
        lacking = list(dict.fromkeys(step.workload for step in steps_of(graph, self._freeze) if not any_on_record or self._best(step) is None))
        if not lacking:
            return
        _log.warning("torch.compile: %d operators without a record get their first program, untuned", len(lacking))
        tune(lacking, self._space, trials=_TRIALS * len(lacking), batch=_TRIALS, draws=self._draws, threads=self._threads, records=self._records, progress=None)

    def take(self, graph: GraphModule, of_what: str = "") -> int:
        """Replaces operators of `graph` by programs on record, logs them, and returns their number."""
        replaced: dict[Node, Node] = {}
        lacking: list[Workload] = []
        for step in steps_of(graph, self._freeze):
            record = self._best(step)
            if record is None:
                lacking.append(step.workload)
                continue
            with graph.graph.inserting_before(step.last):
                made = graph.graph.call_function(step.call(record.build()), tuple(replaced.get(source, source) for source in step.sources))
            step.last.replace_all_uses_with(made)
            replaced[step.last] = made
            views = {source for source in step.last.all_input_nodes if by_token(source) is not None}
            for one in reversed(step.nodes):
                graph.graph.erase_node(one)
            for one in views:
                if not one.users:
                    graph.graph.erase_node(one)
        graph.graph.lint()
        graph.recompile()
        _say(graph, len(replaced), lacking, of_what)
        return len(replaced)


class _Shapes(Interpreter):
    """Annotates each node of a graph with its (fake) value for these inputs."""

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        node.meta["example_value"] = value
        return value


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(not isinstance(extent, int) for extent in value.shape)
    return isinstance(value, torch.SymInt)


class _ByShape:
    """A graph with symbolic extents, as after calls with several shapes: each call runs the programs for its shapes, or torch's
    operators, with a log message, if none are on record."""

    def __init__(self, graph: GraphModule, programs: _Programs) -> None:
        self._graph, self._programs = graph, programs
        self._plain: Callable[..., Any] = graph.forward
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self._open = [i for i, node in enumerate(inputs) if _is_symbolic(node.meta.get("example_value"))]
        self._runs: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._untuned = 0

    def __call__(self, *inputs: Any) -> Any:
        shapes = tuple(inputs[i].shape if isinstance(inputs[i], torch.Tensor) else inputs[i] for i in self._open)
        run = self._runs.get(shapes)
        if run is None:
            run = self._of(shapes, inputs)
        return run(*inputs)

    def _of(self, shapes: tuple[Any, ...], inputs: Sequence[Any]) -> Callable[..., Any]:
        if self._untuned >= _MOST_UNTUNED:
            return self._plain
        graph = GraphModule(self._graph, copy.deepcopy(self._graph.graph))
        mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True)
        with mode:
            _Shapes(graph).run(*(mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for one in inputs))
        sizes = [f"{list(one)}" for one in shapes if isinstance(one, torch.Size)]
        found = self._programs.take(graph, f", inputs {', '.join(sizes)}")
        run: Callable[..., Any] = graph.forward if found else self._plain
        self._runs[shapes] = run
        if not found:
            self._untuned += 1
            if self._untuned == _MOST_UNTUNED:
                _log.warning("torch.compile: nothing was on record of %d shapes: new ones are not looked up any more, and run as torch runs them", _MOST_UNTUNED)
        return run


def backend(graph: GraphModule, example_inputs: Sequence[Any], options: dict[str, Any] | None = None, mode: str | None = None) -> Callable[..., Any]:
    """The backend that ``torch.compile(model, backend="tunesmith")`` calls once for each graph. If a graph has symbolic extents, each
    shape has its own programs.

    ``options``: ``records``, the store (None: the command's); ``space`` and ``threads``, as for :func:`tunesmith.tune`; ``freeze``:
    weights never change, so their layout may be prepared ahead of time; ``draws``: an operator without a record gets the best of
    this many draws, which may be slower than torch's (0: it runs in torch, as do all with symbolic extents). ``mode`` is for
    backends that tune while they compile; this one uses the programs on record. The logger ``tunesmith`` lists the operators that
    run in torch, and the workloads whose records would replace some.
    """
    if mode is not None and mode not in _MODES:
        raise UserError(f"mode: there are {', '.join(_MODES)}, not {mode}")
    if mode is not None and mode.startswith("max-autotune"):
        _log.warning("torch.compile: mode='%s' tunes nothing here: tunesmith.tune() does, and its records are taken", mode)
    programs = _Programs(options)
    run: Callable[..., Any] = graph.forward
    if torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs):
        _log.warning("torch.compile: gradients are wanted, and programs compute none: all runs as torch runs it; call it in torch.no_grad()")
        return run
    if any(_is_symbolic(node.meta.get("example_value")) for node in graph.graph.nodes if node.op == "placeholder"):
        return _ByShape(graph, programs)
    programs.time_first(graph)
    programs.take(graph)
    run = graph.forward
    return run


def _name_of(node: Node) -> str:
    name: str = getattr(node.target, "__name__", str(node.target))
    value = value_of(node)
    if value is None or not value.dtype.is_floating_point or value.dtype in TYPES:
        return name
    return f"{name} in {str(value.dtype).removeprefix('torch.')}"


def _say(graph: GraphModule, found: int, lacking: list[Workload], of_what: str) -> None:
    eager = Counter(
        _name_of(node)
        for node in graph.graph.nodes
        if node.op in ("call_function", "call_method", "call_module") and not getattr(node.target, "__name__", "").startswith("tunesmith_")
    )
    text = ", ".join(f"{name}{f' ({count} times)' if count > 1 else ''}" for name, count in sorted(eager.items()))
    _log.warning("torch.compile%s: %d operators from records%s", of_what, found, f"; as torch runs them: {text}" if text else "")
    for workload in dict.fromkeys(lacking):
        _log.warning("torch.compile: no record of %s; tunesmith.torch_backend.tasks(model, ...) gives what to tune", workload.key)


def tasks(model: Callable[..., Any], *inputs: Any, freeze: bool = False) -> list[Workload]:
    """The distinct workloads of a model's operators that the backend can replace, for :func:`tunesmith.tune`. ``inputs``: the
    arguments of a call of the model."""
    found: dict[Workload, None] = {}

    def collect(graph: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        found.update((step.workload, None) for step in steps_of(graph, freeze))
        run: Callable[..., Any] = graph.forward
        return run

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=collect)(*inputs)
    torch._dynamo.reset()
    return list(found)
