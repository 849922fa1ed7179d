"""Functions that pickles call, so that pickles contain only texts and numbers."""
from __future__ import annotations

from typing import Any

from . import _tunesmith
from ._tunesmith import Record, Result, Space, Trace, Workload


def workload(definition: str, params: dict[str, str]) -> Workload:
    return _tunesmith.Workload(definition, **params)


def trace(text: str, workload: Workload | None) -> Trace:
    return _tunesmith.Trace.parse(text, workload)


def space(file: str, name: str, plugin_paths: list[str]) -> Space:
    return _tunesmith.Space.load(file or None, plugin_paths)[name]


def result(state: dict[str, Any], workload: Workload, database: str) -> Result:
    return _tunesmith.Result.restored(state, workload, database)


def record(line: str, workload: Workload, database: str) -> Record:
    return _tunesmith.Record.parse(line, workload, database)
