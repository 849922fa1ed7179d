"""Types of arguments that accept several forms, and of returned dicts. For annotations only; unused at run time."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from ._tunesmith import Block, Records, Space, Workload
    from ._workload import DataType


class HasWorkload(Protocol):
    """An object with a workload: a Result, a Record, a Task, a function with the decorator ``workload``."""

    @property
    def workload(self) -> Workload: ...


#: A file's name, or a text.
PathLike = Union[str, "os.PathLike[str]"]
#: A workload, a text that names one, its file, or an object that has one.
WorkloadLike = Union["Workload", HasWorkload, str, "os.PathLike[str]"]
#: A space, or the name of a built-in one.
SpaceLike = Union["Space", str]
BlockLike = Union["Block", str]
#: A workload's parameter.
Param = Union[int, str, "DataType"]
#: An array of numpy, torch, or another library with the buffer protocol or DLPack.
Array = Any
Item = TypeVar("Item")
OneWorkload = TypeVar("OneWorkload", bound=WorkloadLike)


class Dropped(TypedDict):
    """A program on record that a ranking could not time again."""

    record: str
    seconds: float
    why: str


class TuneKeywords(TypedDict, total=False):
    """The keywords of tune() for one or more workloads."""

    trials: int | None
    minutes: float | None
    seed: int
    threads: int | None
    batch: int | None
    draws: int | None
    min_gain: float | None
    search: str | None
    model: str | None
    model_file: str | None
    runner: str | None
    records: Records | str | os.PathLike[str] | None
    fresh: bool
    candidate_time_out: float
    allow_memory: bool


class ManyKeywords(TuneKeywords, total=False):
    """The keywords of tune() for several workloads."""

    weights: Sequence[float] | None
    scheduler: str | None
    goal: Literal["total", "geomean"] | None
