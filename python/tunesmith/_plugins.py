"""Plugins written in Python: the classes to derive from, and how a file becomes one."""
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

    One object serves a whole run, and keeps nothing between calls. Keyword-only arguments of ``__init__``, each with a default
    of bool, int, float, str, or a list of int or str that is not empty, are its options. A ValueError that ``__init__`` raises is
    shown at the module's place in the spaces file.

    Attributes of the class or of the object: ``stage``: ``"block"`` (each block in turn, from the last to the first), ``"root"``
    (once for each sketch, afterwards) or ``"finishing"`` (once for each candidate); ``makes`` and ``consumes``: keys of the
    annotations that it leaves for others, and that it carries out; ``partners``: ids of modules that a space has, too, when it has
    this one; ``before``: ids of those before which it stands when it is itself brought so.
    """

    stage: str = "block"
    makes: Sequence[str] = ()
    consumes: Sequence[str] = ()
    partners: Sequence[str] = ()
    before: Sequence[str] = ()

    def apply(self, schedule: Schedule, block: str, context: ModuleContext) -> Schedule | list[Schedule] | str:
        """Does its work, at one block.

        :param schedule: the :class:`Schedule`, the module's own to change or to copy.
        :param block: the block's name; ``""`` for the stages ``"root"`` and ``"finishing"``.
        :param context: a :class:`ModuleContext`.
        :returns: the schedule; or a list of schedules, which forks the space; or a str, a constant sentence that says why the
            module declines.
        :raises ScheduleError: what a primitive refuses counts as declined, too, of a finishing module as a candidate that failed.
            Any other exception ends the run with the module's name.
        """
        raise NotImplementedError


class Searcher:
    """A search strategy. Derive from it, and name the class in a spaces file, as ``search: {python: mine.py:Mine}``.

    One object serves one task. An interrupted run resumes with a new object, whose observe() gets what was measured: all
    chance comes from ``context.next_stream()``, never from ``random``, and what the object keeps follows from what it was told.
    Options are keyword-only arguments of ``__init__``, as a :class:`Module`'s. ``repeatable``: False where propose() may answer
    something else when it is asked again with the same history.
    """

    repeatable: bool = True

    def propose(self, context: SearchContext, n: int) -> list[Candidate]:
        """What to measure next.

        :param context: a :class:`SearchContext`, valid during the call.
        :param n: at most so many.
        :returns: a list of :class:`Candidate` that ``context.materialise()`` made, none measured before and no program twice; an
            empty one ends the search.
        """
        raise NotImplementedError

    def observe(self, context: SearchContext, results: list[Measured]) -> None:
        """What became of them: a list of :class:`Measured`, in the order proposed. Called also with the history, before the
        first propose(), when there is any. Does nothing unless overridden: ``context.history`` has it all."""

    def expected(self) -> Sequence[float]:
        """What a model of its own expects of the programs that propose() answered last: a list of one float for each, higher is
        better; empty where it has none."""
        return []


class CostModel:
    """A cost model: it orders candidates, so that the better ones are measured. Derive from it, and name the class in a spaces
    file, as ``cost_model: {python: mine.py:Mine}``.

    One object serves a whole run. What update() leaves behind must follow from what it was told, in that order, and not from how
    often it was called. Options are keyword-only arguments of ``__init__``, as a :class:`Module`'s. A model that answers what is
    no number, or orders three batches worse than chance, is named and not asked again; the run continues without it.
    """

    def use_columns(self, added: list[str]) -> None:
        """Once, before anything else: a list of names of the columns that the space's extensions add to Candidate.features(),
        behind those of feature_columns(). Does nothing unless overridden."""

    def begin(self, workload: Workload, device: Device) -> None:
        """Once for each workload that is tuned, before anything else of it but load(): a :class:`Workload` and a
        :class:`Device`, which Candidate.features() wants. Does nothing unless overridden."""

    def update(self, results: list[Measured]) -> None:
        """Learns from a list of :class:`Measured`, what was measured since the last call. Keep numbers, not the candidates: each
        holds its whole program. Does nothing unless overridden."""

    def predict(self, candidates: list[Candidate]) -> Iterable[float]:
        """One finite float for each :class:`Candidate` of a list, higher is better; only the order counts. Must not change what
        later calls answer."""
        raise NotImplementedError

    def save(self) -> bytes:
        """What has been learned, as bytes for load(); ``b""``, as unless overridden, when there is nothing to keep."""
        return b""

    def load(self, saved: bytes) -> None:
        """Takes what save() of another object with the same options answered, and predicts the same from then on."""
        raise UserError("this cost model keeps nothing: it has no load()")

    def importance(self) -> dict[str, float]:
        """What it goes by, the most important first: a dict of name to share, which add up to 1; empty, as unless overridden,
        where it cannot say."""
        return {}


class TaskScheduler:
    """A task scheduler: it decides which of many tasks under one budget gets the next round. Derive from it, and name the class
    in a spaces file, as ``task_scheduler: {python: mine.py:Mine}``.

    It keeps nothing between two questions and draws no random numbers, so that a run can be continued. Options are keyword-only
    arguments of ``__init__``, as a :class:`Module`'s.
    """

    def next(self, tasks: TaskSet) -> int:
        """Which task gets the next round: the index of one of ``tasks``, a :class:`TaskSet`, that is not done."""
        raise NotImplementedError


#: By the kernel's names of the kinds: the class to derive from, and what a derived one must define.
KINDS: dict[str, tuple[type, str]] = {
    "module": (Module, "apply"),
    "searcher": (Searcher, "propose"),
    "cost_model": (CostModel, "predict"),
    "task_scheduler": (TaskScheduler, "next"),
}

_modules: dict[tuple[str, str], types.ModuleType] = {}  # of files that were run, by path and text
_said: set[tuple[str, str]] = set()  # classes of which it was said that they are slower


def raised_at(error: BaseException) -> tuple[str, int]:
    """The file and the line that raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def described(error: BaseException) -> str:
    """One line: where an exception was raised, and what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name}: " if frames else ""
    return place + "".join(traceback.format_exception_only(error)).strip()


def _refuse(file: str, line: int, column: int, message: str) -> NoReturn:
    excerpt = linecache.getline(file, line).rstrip()
    caret = f"  {excerpt}\n  {' ' * (column - 1)}^" if excerpt and column else ""
    place = f"{file}:{line}" + (f":{column}" if column else "")
    raise UserError(f"{place}: {message}", file, line, column, "", caret) from None


def _run(file: str, text: str) -> types.ModuleType:
    """The module that the file's text makes, run once in this process."""
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
    """Name, default and a line of help of each."""
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
    """The class, a line of help, and its options; what the kernel's reader of such plugins calls."""
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
