"""Times a program in turn with a library that has the operation: torch, onnxruntime, or numpy's BLAS.

    print(result.best.against("torch"))
    ts.tune("softmax", against="best").comparison      # with all installed ones, the fastest first

The command `tunesmith tune --against` calls `python -m tunesmith.against`.
"""
from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gc
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _tunesmith
from ._tunesmith import Records, Space, Workload
from .errors import Error, UserError

if TYPE_CHECKING:
    from ._operators import Case
    from ._tunesmith import Record
    from ._types import SpaceLike, WorkloadLike

LIBRARIES: tuple[str, ...] = ("torch", "onnxruntime", "blas")
_NEEDS = {"torch": ("torch",), "onnxruntime": ("onnxruntime", "onnx"), "blas": ("threadpoolctl",)}
_SAMPLE_SECONDS = 500e-6  # minimum duration of a sample, which may be several calls
_WARM_UP_SECONDS = 0.01   # duration of calls before a sample, so that caches and clock are as in a loop
_PAUSE = 0.04             # until then, idle threads of the other library sleep
_LEAST_ROUNDS = 6         # the minimum for which the extremes contain the median with 95 % confidence
_QUANTILE = 0.1           # represents a time, as in records


@dataclasses.dataclass
class LibraryTime:
    """The times of one library. `ratio`: the median over rounds of the program's time divided by the library's; `low` and `high`: its
    95 % confidence interval. `error`: the largest difference of the results, divided by the tolerance."""

    name: str
    version: str
    seconds: float
    ratio: float
    low: float
    high: float
    error: float


@dataclasses.dataclass
class Comparison:
    """Compares the program of a record with libraries, on the same inputs and number of threads. Times are 10th percentiles."""

    workload: str
    threads: int
    seconds: float
    rounds: int
    libraries: list[LibraryTime]  # the fastest first
    left_out: dict[str, str]  # libraries of "best" that cannot be timed, with the reasons

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.workload}: {_time(self.seconds)} on {self.threads} {'thread' if self.threads == 1 else 'threads'}, in {self.rounds} rounds beside"]
        for one in self.libraries:
            lines.append(f"  {one.name + ' ' + one.version:<24} {_time(one.seconds)}: the program takes {one.ratio:.2f} of it ({one.low:.2f} to {one.high:.2f})")
        return "\n".join(lines + [f"  {name:<24} left out: {why}" for name, why in self.left_out.items()])


def _time(seconds: float) -> str:
    scale, unit = next(((scale, unit) for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")) if seconds >= scale), (1e-9, "ns"))
    return f"{seconds / scale:.3g} {unit}"


class Declined(UserError):
    """A library does not have the operation, or is not installed."""


def _wanted(library: str) -> list[str]:
    if library == "best":
        return list(LIBRARIES)
    if library not in LIBRARIES:
        raise UserError(f"against: expected {', '.join(map(repr, LIBRARIES))} or 'best', not {library!r}")
    return [library]


def _require(workload: Workload, library: str) -> None:
    """Raises Declined if `library` does not support `workload`, as far as can be checked without calling it."""
    from ._operators import OF_BLAS

    missing = [name for name in _NEEDS[library] if importlib.util.find_spec(name) is None]
    if missing:
        raise Declined(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed: pip install {' '.join(missing)}")
    types = {buffer.dtype for buffer in [*workload.inputs, *workload.outputs]}
    if types not in ({"f32"}, {"f64"}):
        raise Declined(f"libraries are called with f32 or f64 alone, not with {', '.join(sorted(types))}")
    if library == "blas" and workload.name not in OF_BLAS:
        raise Declined("BLAS has products of matrices alone")


def check(workload: WorkloadLike, library: str) -> None:
    """Raises :class:`UserError` if `library` ("torch", "onnxruntime", "blas", or "best": any that is installed) cannot be timed with
    programs of the workload."""
    if importlib.util.find_spec("numpy") is None:
        raise Declined("numpy is not installed: pip install numpy")
    from ._operators import OPERATORS

    if not isinstance(workload, Workload):
        named: Any = workload
        workload = Workload(getattr(named, "text", named))
    if workload.name not in OPERATORS or Workload(workload.name, **workload.params) != workload:
        raise Declined(f"{workload.name} is no built-in workload that libraries are called for; those are {', '.join(sorted(OPERATORS))}")
    reasons = {}
    for name in _wanted(library):
        try:
            _require(workload, name)
            return
        except Declined as error:
            reasons[name] = str(error)
    raise Declined("; ".join(f"{name}: {why}" for name, why in reasons.items()))


#: A library's version, a function to time, and a function that returns the result.
_Contestant = tuple[str, Callable[[], object], Callable[[], Any]]


def _with_torch(case: Case, arrays: dict[str, Any], threads: int, stack: _Stack) -> _Contestant:
    import torch

    before = torch.get_num_threads()
    stack.callback(torch.set_num_threads, before)
    torch.set_num_threads(threads)
    stack.enter_context(torch.inference_mode())
    call = case.torch(torch, {name: torch.from_numpy(array) for name, array in arrays.items()})
    return torch.__version__.partition("+")[0], call, lambda: call().numpy()


def _with_onnxruntime(case: Case, arrays: dict[str, Any], threads: int, stack: _Stack) -> _Contestant:
    import numpy
    import onnx
    import onnxruntime

    graph = case.onnx
    inputs = {name: numpy.ascontiguousarray(array) for name, array in graph.inputs.items()}
    nodes: list[Any] = []
    last = ""
    for i, (operator, names, how, *named) in enumerate(graph.nodes):
        value = "out" if i + 1 == len(graph.nodes) else named[0] if named else f"v{i}"
        nodes.append(onnx.helper.make_node(operator, [last if name == "_" else name for name in names], [value], **how))
        last = value
    kind = onnx.helper.np_dtype_to_tensor_dtype(next(iter(inputs.values())).dtype)
    made = onnx.helper.make_graph(
        nodes, "against", [onnx.helper.make_tensor_value_info(name, kind, array.shape) for name, array in inputs.items()],
        [onnx.helper.make_tensor_value_info("out", kind, None)],
        [onnx.numpy_helper.from_array(numpy.ascontiguousarray(array), name) for name, array in graph.constants.items()])
    model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_output("out", "cpu")
    session.run_with_iobinding(binding)
    shared = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.empty_like(binding.get_outputs()[0].numpy()))
    binding.bind_ortvalue_output("out", shared)
    call: Callable[[], object] = lambda: session.run_with_iobinding(binding)  # noqa: E731

    def result() -> Any:
        call()
        return graph.result(shared.numpy())

    return onnxruntime.__version__, call, result


def _with_blas(case: Case, arrays: dict[str, Any], threads: int, stack: _Stack) -> _Contestant:
    import numpy
    import threadpoolctl

    stack.enter_context(threadpoolctl.threadpool_limits(threads, "blas"))
    using = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas" and "numpy" in one["filepath"]]
    name = f"{using[0]['internal_api']} {using[0]['version']}" if using else f"of numpy {numpy.__version__}"
    out = numpy.empty(stack.shape, next(iter(arrays.values())).dtype)
    assert case.blas is not None  # _require() has checked it
    call = case.blas(out)

    def result() -> Any:
        call()
        return out

    return name, call, result


_MAKERS = {"torch": _with_torch, "onnxruntime": _with_onnxruntime, "blas": _with_blas}


class _Stack(contextlib.ExitStack):
    """Restores settings at its end, and has the shape of the result."""

    shape: tuple[int, ...] = ()


def _seconds_of(call: Callable[[], object], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def _in_turn(contestants: dict[str, Callable[[], object]], seconds: float) -> dict[str, list[float]]:
    """Times {name: call}, one sample of each per round, in rotating order; returns {name: samples}."""
    plan = {}
    for name, call in contestants.items():
        once = max(1e-7, min(_seconds_of(call, 1) for _ in range(3)))
        plan[name] = max(1, int(_WARM_UP_SECONDS / once)), max(1, int(_SAMPLE_SECONDS / once))
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    names, number, end = list(contestants), 0, time.monotonic() + seconds
    turn = _tunesmith.MachineTurn()
    gc.collect()
    gc.disable()
    try:
        while number < _LEAST_ROUNDS or time.monotonic() < end:
            with turn:
                for name in names[number % len(names):] + names[:number % len(names)]:
                    time.sleep(_PAUSE)
                    warm_up, calls = plan[name]
                    _seconds_of(contestants[name], warm_up)
                    samples[name].append(_seconds_of(contestants[name], calls))
            number += 1
    finally:
        gc.enable()
    return samples


def _median_interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and order statistics that form its 95 % confidence interval."""
    ordered, n = sorted(values), len(values)
    k, below = 0, 0.5**n
    while below + math.comb(n, k + 1) * 0.5**n <= 0.025:
        k += 1
        below += math.comb(n, k) * 0.5**n
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return middle, ordered[k], ordered[n - 1 - k]


def _low(samples: list[float]) -> float:
    return sorted(samples)[int(_QUANTILE * (len(samples) - 1))]


def compare(record: Record, library: str = "best", *, space: SpaceLike | None = None, seconds: float = 3.0) -> Comparison:
    """Times the program of a record in turn with a library, both called from Python, with the same random inputs and the record's
    number of threads, and compares their results: a :class:`Comparison`.

    Constant inputs are constant for the library, too: work that it does once on them is not timed.

    :param library: "torch" (eager), "onnxruntime", "blas" (numpy's), or "best": all that are installed and have the operation.
    :param space: the record's space, if it is not built in.
    :param seconds: duration of the rounds.
    :raises UserError: the library is not installed or does not have the operation, or the results differ.
    """
    workload = record.workload
    check(workload, library)
    import numpy

    from ._operators import OPERATORS

    random = numpy.random.default_rng(0)
    kind = "float64" if workload.inputs[0].dtype == "f64" else "float32"
    arrays = {buffer.name: random.uniform(-1, 1, buffer.shape).astype(kind) for buffer in workload.inputs}
    kernel = record.build(space)
    out = numpy.empty(workload.outputs[0].shape, kind)
    given = list(arrays.values())
    own: Callable[[], object] = lambda: kernel(*given, out=out)  # noqa: E731
    own()
    expected = out.copy()
    # One rounding per operation of an element, each relative to the largest result.
    tolerance = float(numpy.finfo(kind).eps) * (8 + workload.flops / expected.size) * max(float(numpy.abs(expected).max()), 1e-30)
    case = OPERATORS[workload.name](dict(workload.params), arrays)
    calls: dict[str, Callable[[], object]] = {"": own}
    versions: dict[str, str] = {}
    errors: dict[str, float] = {}
    left_out: dict[str, str] = {}
    with _Stack() as stack:
        stack.shape = expected.shape
        for name in _wanted(library):
            try:
                _require(workload, name)
                versions[name], calls[name], result = _MAKERS[name](case, arrays, kernel.threads, stack)
            except Declined as error:
                if library != "best":
                    raise
                left_out[name] = str(error)
                continue
            got = numpy.asarray(result())
            errors[name] = float(numpy.abs(got.reshape(expected.shape) - expected).max()) / tolerance
            if not errors[name] <= 1.0:
                raise UserError(f"{name} computes something else: its result differs by {errors[name]:.3g} times what is tolerated")
        samples = _in_turn(calls, seconds)
    times = []
    for name in versions:
        ratio = _median_interval([mine / theirs for mine, theirs in zip(samples[""], samples[name])])
        times.append(LibraryTime(name, versions[name], _low(samples[name]), *ratio, errors[name]))
    return Comparison(str(workload), kernel.threads, _low(samples[""]), len(samples[""]), sorted(times, key=lambda one: one.seconds), left_out)


def main() -> None:
    """Prints one JSON object: a comparison, {"ok": true} for --check, or {"error": message}."""
    parser = argparse.ArgumentParser(prog="python -m tunesmith.against")
    parser.add_argument("library")
    parser.add_argument("--check", metavar="WORKLOAD", help="only say whether the library can be timed")
    parser.add_argument("--record")
    parser.add_argument("--database")
    parser.add_argument("--spaces")
    parser.add_argument("--space")
    parser.add_argument("--plugin-path", action="append", default=[])
    given = parser.parse_args()
    try:
        if given.check:
            check(Workload(given.check), given.library)
            answer: dict[str, Any] = {"ok": True}
        else:
            space = Space.load(given.spaces, given.plugin_path)[given.space] if given.space else None
            done = compare(Records(given.database).find(given.record), given.library, space=space)
            answer = done.as_dict() | {"text": str(done)}
    except Error as error:
        answer = {"error": str(error)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
