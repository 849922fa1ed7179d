"""Records as a table: what Records.frame() calls."""


def frame(records, task, ok):
    import pandas

    table = pandas.DataFrame([record.as_dict() for record in records.list(task, ok)])
    if table.empty:
        return table
    table["time"] = pandas.to_datetime(table.pop("time_ms"), unit="ms", utc=True)
    return table.set_index("id")
