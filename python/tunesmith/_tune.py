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
    """Searches for a fast program by measuring, as the command `tunesmith tune` does: a :class:`Result`. Of a list of workloads,
    which share the budget, a list of Results in their order.

    Every program is verified before it is timed, in a process of its own, and recorded. A run that is started again continues
    from the records. Ctrl-C ends it soon with the best so far (``result.interrupted``). The interpreter's lock is released
    meanwhile, so several runs may continue in threads at once; they take turns at measuring.

    :param workload: a :class:`Workload`, or a text that names one; or a list of them.
    :param space: a :class:`Space` or the name of a built-in one; None: the default, ``cpu``.
    :param trials: programs to measure, those resumed from the records included; None: 256, of a list 64 for each, unless
        ``minutes`` says how long.
    :param minutes: of wall-clock at most.
    :param seed: the same seed finds the same programs.
    :param threads: of the measured programs; None or 0: all processors of this process.
    :param batch: programs in a round.
    :param draws: begin with the best four of so many draws by the cost model (docs/proposals.md); None or 0: with the search.
    :param min_gain: percent: what is expected to gain less of a further round is not searched any more; None: 0, or where
        ``minutes`` alone say how long, 0.05 divided by the number of workloads.
    :param search: searchers in place of the space's: ``"evolutionary"``, or a chain ``"random:32,evolutionary"``; a class in
        Python by its file, as ``"mine.py:Mine"``.
    :param model: a cost model in place of the space's, or a class in Python by its file.
    :param model_file: the cost model is loaded from there where it exists, and saved there.
    :param runner: the plugin that says where programs are measured, in place of the space's; None: this machine.
    :param records: the store's file, or :class:`Records`; None: the command's.
    :param fresh: do not begin with what is on record.
    :param candidate_time_out: seconds for one program.
    :param allow_memory: continue where measuring takes more memory than there is.
    :param weights: of a list: how much each counts, as how often a network calls it.
    :param scheduler: of a list: a task scheduler in place of the space's, or a class in Python by its file.
    :param goal: of a list: ``"total"``, the sum of weight times time (the default with weights), or ``"geomean"``, the geometric mean.
    :param against: a library that is timed in turn with the best program, called from Python with the same inputs: "torch",
        "onnxruntime", "blas", or "best", the fastest of those that are installed. What came of it is ``result.comparison``
        (:mod:`tunesmith.against`); what cannot be compared is refused before anything is measured. Where the library fails
        afterwards, a warning says why, and ``comparison`` is None.
    :param progress: ``"auto"`` (a line in a terminal, a bar in a notebook), None, or a callable that is given a
        :class:`Progress` (of a list a :class:`ManyProgress`) about ten times a second, and stops the run by answering False.
    :raises UserError: what is given cannot be accepted.
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
    """The best program beside a library: a Comparison, or None where there is none."""
    if not result.found:
        return None
    best = result.best
    try:
        comparison: Comparison = best.against(library, space=result.space if best.space == result.space.name else None)
        return comparison
    except Error as error:
        warnings.warn(f"the program was not compared with {library}: {error}", stacklevel=3)
        return None
