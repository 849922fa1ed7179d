"""Plugins in Python: their base classes, and loading of files."""
from __future__ import annotations

import inspect
import linecache
import logging
import sys
import traceback
import types
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import UserError

if TYPE_CHECKING:
    from ._tunesmith import Candidate, Device, Measured, ModuleContext, Schedule, SearchContext, TaskSet, Workload


class Module:
    """A transformation module: analysis, sampling and transformation of one block. Derive from it, and name the class in a
    spaces file, as ``modules: [{python: mine.py:Mine, options: {factor: 8}}]``.

    One object serves a whole run and must not keep state between calls. Keyword-only arguments of ``__init__`` are its options; each
    needs a default of bool, int, float, str, or a nonempty list of int or str. A ValueError of ``__init__`` is reported at the
    module's location in the spaces file.

    Attributes of the class or the object: ``stage``: ``"block"`` (for each block, from the last to the first), ``"root"`` (once for
    each sketch, afterwards) or ``"finishing"`` (once for each candidate); ``makes`` and ``consumes``: keys of the annotations that it
    leaves for others, and that it consumes; ``partners``: ids of modules that a space with this one also gets; ``before``: if another
    module brings this one, ids of the modules before which it is placed.
    """

    stage: str = "block"
    makes: Sequence[str] = ()
    consumes: Sequence[str] = ()
    partners: Sequence[str] = ()
    before: Sequence[str] = ()

    def apply(self, schedule: Schedule, block: str, context: ModuleContext) -> Schedule | list[Schedule] | str:
        """Transforms one block.

        :param schedule: the :class:`Schedule`, which the module owns and may change or copy.
        :param block: the block's name; ``""`` for the stages ``"root"`` and ``"finishing"``.
        :param context: a :class:`ModuleContext`.
        :returns: the schedule; or a list of schedules, which forks the space; or a str, the reason for declining, as a constant
            sentence.
        :raises ScheduleError: counts as declining; from a finishing module, the candidate fails. Any other exception ends the run
            with the module's name.
        """
        raise NotImplementedError


class Searcher:
    """A search strategy. Derive from it, and name the class in a spaces file, as ``search: {python: mine.py:Mine}``.

    One object serves one task. An interrupted run resumes with a new object, whose observe() gets all results: so draw random numbers
    only from ``context.next_stream()``, never from ``random``, and keep only state that follows from the results. Options are
    keyword-only arguments of ``__init__``, as for :class:`Module`. ``repeatable``: False if propose() may return other candidates for
    the same history.
    """

    repeatable: bool = True

    def propose(self, context: SearchContext, n: int) -> list[Candidate]:
        """Proposes candidates to measure next.

        :param context: a :class:`SearchContext`, valid during the call.
        :param n: the maximum number of candidates.
        :returns: a list of :class:`Candidate` from ``context.materialise()``, none measured before and no program twice; an empty
            list ends the search.
        """
        raise NotImplementedError

    def observe(self, context: SearchContext, results: list[Measured]) -> None:
        """Receives the results: a list of :class:`Measured`, in the order proposed. Also called with the history, if any, before the
        first propose(). Does nothing by default: ``context.history`` has all results."""

    def expected(self) -> Sequence[float]:
        """The searcher's own predictions for the candidates that propose() returned last, one float each, higher is better; empty, as
        by default, if it has no model."""
        return []


class CostModel:
    """A cost model: it orders candidates, so that the better ones are measured. Derive from it, and name the class in a spaces
    file, as ``cost_model: {python: mine.py:Mine}``.

    One object serves a whole run. The state after update() must depend only on the results and their order, not on the number of
    calls. Options are keyword-only arguments of ``__init__``, as for :class:`Module`. A model that returns a score that is not finite,
    or orders three batches worse than chance, is reported and not used any more; the run continues without it.
    """

    def use_columns(self, added: list[str]) -> None:
        """Called once, first: the names of the columns that the space's extensions add to Candidate.features(), after those of
        feature_columns(). Does nothing by default."""

    def begin(self, workload: Workload, device: Device) -> None:
        """Called once for each tuned workload, after load() and before all other calls for it: a :class:`Workload`, and the
        :class:`Device` for Candidate.features(). Does nothing by default."""

    def update(self, results: list[Measured]) -> None:
        """Learns from the results since the last call, a list of :class:`Measured`. Keep numbers and not the candidates: each
        contains its whole program. Does nothing by default."""

    def predict(self, candidates: list[Candidate]) -> Iterable[float]:
        """Returns one finite score for each :class:`Candidate`, higher is better; only the order counts. Must not change the results
        of later calls."""
        raise NotImplementedError

    def save(self) -> bytes:
        """The learned state as bytes for load(); ``b""``, as by default, if there is nothing to save."""
        return b""

    def load(self, saved: bytes) -> None:
        """Loads the bytes that save() of another object with the same options returned; this object then predicts the same."""
        raise UserError("this cost model keeps nothing: it has no load()")

    def importance(self) -> dict[str, float]:
        """The importance of the features, the most important first: a dict from names to shares, which add up to 1; empty, as by
        default, if unknown."""
        return {}


class TaskScheduler:
    """A task scheduler: it decides which of many tasks under one budget gets the next round. Derive from it, and name the class
    in a spaces file, as ``task_scheduler: {python: mine.py:Mine}``.

    It keeps no state between calls and draws no random numbers, so that a run can be resumed. Options are keyword-only arguments of
    ``__init__``, as for :class:`Module`.
    """

    def next(self, tasks: TaskSet) -> int:
        """Chooses the task of the next round: returns the index of an unfinished one of ``tasks``, a :class:`TaskSet`."""
        raise NotImplementedError


#: By the kernel's names of the kinds: the base class, and the method that a derived class must define.
KINDS: dict[str, tuple[type, str]] = {
    "module": (Module, "apply"),
    "searcher": (Searcher, "propose"),
    "cost_model": (CostModel, "predict"),
    "task_scheduler": (TaskScheduler, "next"),
}

_modules: dict[tuple[str, str], types.ModuleType] = {}  # of executed files, by path and text
_said: set[tuple[str, str]] = set()  # classes with a warning about their speed


def raised_at(error: BaseException) -> tuple[str, int]:
    """The file and the line that raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def described(error: BaseException) -> str:
    """One line with the place and message of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name}: " if frames else ""
    return place + "".join(traceback.format_exception_only(error)).strip()


def _refuse(file: str, line: int, column: int, message: str) -> NoReturn:
    excerpt = linecache.getline(file, line).rstrip()
    caret = f"  {excerpt}\n  {' ' * (column - 1)}^" if excerpt and column else ""
    place = f"{file}:{line}" + (f":{column}" if column else "")
    raise UserError(f"{place}: {message}", file, line, column, "", caret) from None


def _run(file: str, text: str) -> types.ModuleType:
    """Executes the file's text, once in this process, and returns its module."""
    if (file, text) in _modules:
        return _modules[file, text]
    linecache.checkcache(file)
    name = f"tunesmith.plugin_{len(_modules)}"
    module = types.ModuleType(name)
    module.__file__ = file
    try:
        code = compile(text, file, "exec")
    except (SyntaxError, ValueError) as error:
        _refuse(file, getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 0, f"{type(error).__name__}: {getattr(error, 'msg', error)}")
    sys.modules[name] = module  # where pickle and dataclasses look for it
    try:
        exec(code, module.__dict__)
    except Exception as error:
        del sys.modules[name]
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file and frame.lineno]
        _refuse(file, lines[-1] if lines else 1, 0, f"it cannot be run: {type(error).__name__}: {error}")
    _modules[file, text] = module
    return module


def _options(cls: type) -> list[tuple[str, Any, str]]:
    """The name, default and help line of each option."""
    initialiser: Any = getattr(cls, "__init__")
    if initialiser is object.__init__:
        return []
    options: list[tuple[str, Any, str]] = []
    for parameter in list(inspect.signature(initialiser).parameters.values())[1:]:
        where = f"{cls.__name__}.__init__: '{parameter.name}'"
        if parameter.kind is not parameter.KEYWORD_ONLY:
            raise UserError(f"{where}: options are keyword-only: def __init__(self, *, {parameter.name}=...)")
        default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        of_list = isinstance(default, list) and default and (all(type(item) is int for item in default) or all(type(item) is str for item in default))
        if type(default) not in (bool, int, float, str) and not of_list:
            raise UserError(f"{where} needs a default of bool, int, float, str, or a list of int or str that is not empty")
        options.append((parameter.name, default, f"argument of {cls.__name__}"))
    return options


def load(kind: str, file: str, text: str, class_name: str) -> tuple[type, str, list[tuple[str, Any, str]]]:
    """The class, its help line and its options, for the kernel's reader of script plugins."""
    if kind not in KINDS:
        raise UserError(f"a plugin of the kind '{kind}' cannot be written in Python", remedy="a module, a searcher, a cost model or a task scheduler can")
    base, method = KINDS[kind]
    module = _run(file, text)
    cls = getattr(module, class_name, None)
    if not isinstance(cls, type):
        from ._tunesmith import suggest

        known = [name for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__]
        raise UserError(f"{file} has no class '{class_name}'", remedy=suggest(class_name, known) if known else "it has no class at all")
    if not issubclass(cls, base):
        raise UserError(f"{class_name} of {file} is no {kind}: it does not derive from tunesmith.{base.__name__}")
    if getattr(cls, method) is getattr(base, method):
        raise UserError(f"{class_name} of {file} has no method '{method}', which a {kind} needs")
    options = _options(cls)
    if (file, class_name) not in _said:
        _said.add((file, class_name))
        logging.getLogger("tunesmith").warning("%s '%s' is a class in Python, which one thread at a time runs: slower than one in C++", kind, class_name)
    return cls, inspect.cleandoc(cls.__doc__ or class_name).splitlines()[0], options
