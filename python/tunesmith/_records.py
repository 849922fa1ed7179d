"""Records as a table, for Records.frame()."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._tunesmith import Records
    from ._types import WorkloadLike


def frame(records: Records, task: WorkloadLike | None, ok: bool | None) -> Any:
    import pandas

    table = pandas.DataFrame([record.as_dict() for record in records.list(task, ok)])
    if table.empty:
        return table
    table["time"] = pandas.to_datetime(table.pop("time_ms"), unit="ms", utc=True)
    return table.set_index("id")
