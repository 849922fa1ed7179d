"""Tuning a workload."""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from . import _tunesmith
from ._progress import shown
from .errors import Error, UserError

if TYPE_CHECKING:
    from ._tunesmith import ManyProgress, Progress, Records, Result
    from ._types import ManyKeywords, OneWorkload, SpaceLike, TuneKeywords, WorkloadLike
    from .against import Comparison


@overload
def tune(
    workload: WorkloadLike, space: SpaceLike | None = None, *, against: str | None = None,
    progress: Callable[[Progress], object] | str | bool | None = "auto", **keywords: Unpack[TuneKeywords],
) -> Result: ...
@overload
def tune(
    workload: list[OneWorkload] | tuple[OneWorkload, ...], space: SpaceLike | None = None, *,
    progress: Callable[[ManyProgress], object] | str | bool | None = "auto", **keywords: Unpack[ManyKeywords],
) -> list[Result]: ...
def tune(
    workload: Any,
    space: SpaceLike | None = None,
    *,
    trials: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    batch: int | None = None,
    draws: int | None = None,
    min_gain: float | None = None,
    search: str | None = None,
    model: str | None = None,
    model_file: str | None = None,
    runner: str | None = None,
    records: Records | str | os.PathLike[str] | None = None,
    fresh: bool = False,
    candidate_time_out: float = 10.0,
    allow_memory: bool = False,
    weights: Sequence[float] | None = None,
    scheduler: str | None = None,
    goal: Literal["total", "geomean"] | None = None,
    against: str | None = None,
    progress: Callable[[Any], object] | str | bool | None = "auto",
) -> Any:
    """Searches for a fast program by measuring, as the command `tunesmith tune` does: a :class:`Result`. For a list of workloads,
    which share the budget, a list of Results in the same order.

    Every program is verified before it is timed, in a separate process, and recorded. A repeated run continues from the records.
    Ctrl-C ends it soon with the best so far (``result.interrupted``). The interpreter's lock is released meanwhile, so several
    threads may tune concurrently; they take turns at measuring.

    :param workload: a :class:`Workload`, or a text that names one; or a list of them.
    :param space: a :class:`Space` or the name of a built-in one; None: the default, ``cpu``.
    :param trials: programs to measure, including those resumed from records; None: no limit with ``minutes``, else 256, or 64 for
        each of a list.
    :param minutes: the limit of wall-clock time.
    :param seed: the same seed finds the same programs.
    :param threads: of the measured programs; None or 0: all processors of this process.
    :param batch: programs per round.
    :param draws: begin with the best four of this many draws by the cost model (docs/proposals.md); None or 0: with the search.
    :param min_gain: in percent: a task ends when its next round is expected to gain less; None: 0, or with ``minutes`` only, 0.05
        divided by the number of workloads.
    :param search: replaces the space's searchers: ``"evolutionary"``, or a chain ``"random:32,evolutionary"``; a class in Python by
        its file, as ``"mine.py:Mine"``.
    :param model: replaces the space's cost model; also a class in Python by its file.
    :param model_file: the cost model is loaded from this file if it exists, and saved to it.
    :param runner: the plugin that measures programs, replacing the space's; None: the space's, or this machine.
    :param records: the store's file, or :class:`Records`; None: the command's.
    :param fresh: ignore earlier records.
    :param candidate_time_out: seconds for one program.
    :param allow_memory: continue even if measuring needs more memory than is available.
    :param weights: for a list: the weight of each workload, such as its calls per run of a network.
    :param scheduler: for a list: replaces the space's task scheduler; also a class in Python by its file.
    :param goal: for a list: ``"total"``, the sum of weight times time (the default with weights), or ``"geomean"``, the geometric mean.
    :param against: a library to time in turn with the best program, from Python with the same inputs: "torch", "onnxruntime",
        "blas", or "best", all that are installed, the fastest first. ``result.comparison`` has the result (:mod:`tunesmith.against`).
        Unsupported workloads are refused before anything is measured. If the library fails afterwards, a warning has the reason, and
        ``comparison`` is None.
    :param progress: ``"auto"`` (a line in a terminal, a bar in a notebook), None, or a callable, which gets a :class:`Progress` (for a
        list a :class:`ManyProgress`) about ten times a second and stops the run by returning False.
    :raises UserError: an argument cannot be accepted.
    :raises EnvironmentFault: the machine lacks something, or this process was forked.
    """
    many = isinstance(workload, (list, tuple))
    for argument, value in (("search", search), ("model", model), ("scheduler", scheduler)):
        if isinstance(value, type):
            raise UserError(f'{argument}: expected a text, not a class; name it by its file: {argument}="mine.py:{value.__name__}"')
    if not many and any(value is not None for value in (weights, scheduler, goal)):
        raise UserError("weights, scheduler and goal are for a list of workloads")
    if against is not None:
        if many:
            raise UserError("against is for one workload")
        from .against import check

        check(workload, against)
    show = shown(progress)
    try:
        of_many: dict[str, Any] = {"weights": weights, "scheduler": scheduler, "goal": goal} if many else {}
        run: Callable[..., Any] = _tunesmith.tune_all if many else _tunesmith.tune_one
        result = run(
            workload,
            space,
            show,
            **of_many,
            trials=trials,
            minutes=minutes,
            seed=seed,
            threads=threads,
            batch=batch,
            draws=draws,
            min_gain=min_gain,
            search=search,
            model=model,
            model_file=model_file,
            runner=runner,
            records=records,
            fresh=fresh,
            candidate_time_out=candidate_time_out,
            allow_memory=allow_memory,
        )
    finally:
        if show is not None and hasattr(show, "close"):
            show.close()
    if against is not None:
        result.comparison = _compared(result, against)
    return result


def _compared(result: Result, library: str) -> Comparison | None:
    """Compares the best program with a library; None if there is no program or the library fails."""
    if not result.found:
        return None
    best = result.best
    try:
        comparison: Comparison = best.against(library, space=result.space if best.space == result.space.name else None)
        return comparison
    except Error as error:
        warnings.warn(f"the program was not compared with {library}: {error}", stacklevel=3)
        return None
