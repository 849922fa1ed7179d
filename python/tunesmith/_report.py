"""Reports of measurements (docs/report.md)."""
from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._command import command

if TYPE_CHECKING:
    from ._tunesmith import Records, Workload


class Report:
    """A report. ``file``: the path of the page; ``data``: its contents. A notebook shows the page."""

    def __init__(self, file: str, data: dict[str, Any]) -> None:
        self.file: str = file
        self.data: dict[str, Any] = data

    def __repr__(self) -> str:
        return f"Report of {len(self.data['tasks'])} tasks in {self.file}"

    def _repr_html_(self) -> str:
        page = html.escape(pathlib.Path(self.file).read_text(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


def report(
    records: Records | str | os.PathLike[str] | None = None,
    file: str | os.PathLike[str] = "report.html",
    *,
    workloads: Iterable[Workload | str] = (),
    tasks: Iterable[str] = (),
    runs: Iterable[str] = (),
    comparisons: Iterable[dict[str, Any] | str | os.PathLike[str]] = (),
    networks: Iterable[dict[str, Any] | str | os.PathLike[str]] = (),
    measure_roofs: bool = False,
    **options: Any,
) -> Report:
    """Writes a page about records (docs/report.md), as the command ``tunesmith report`` does: a :class:`Report`.

    :param records: the store's file, or :class:`Records`; None: the command's.
    :param file: the page to write.
    :param workloads: only these: their texts, or their names and some of their parameters.
    :param tasks: only these, by the ids that a report shows.
    :param runs: only measurements of these runs, by their ids.
    :param comparisons: results of ``ts.command("compare", ...)``, or files with them.
    :param networks: results of ``Library.bench()``, or files with them.
    :param measure_roofs: first measure the machine's peak and memory bandwidth.
    :raises UserError: a name is not on record, or there is nothing to report.
    """
    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {name: [_file(one, folder, f"{name}{i}") for i, one in enumerate(values)] for name, values in (("comparison", comparisons), ("network", networks))}
        data = command("report", database=records, output=file, workload=[str(one) for one in workloads], task=list(tasks), run=list(runs), measure_roofs=measure_roofs, **given, **options)
    return Report(str(file), data)


def _file(given: dict[str, Any] | str | os.PathLike[str], folder: str, name: str) -> str | os.PathLike[str]:
    if not isinstance(given, dict):
        return given
    file = pathlib.Path(folder) / f"{name}.json"
    file.write_text(json.dumps(given))
    return file
