"""What pickles call, so that they hold no more than texts."""
from . import _tunesmith


def workload(definition, params):
    return _tunesmith.Workload(definition, **params)


def trace(text, workload):
    return _tunesmith.Trace.parse(text, workload)


def record(line, workload, database):
    return _tunesmith.Record.parse(line, workload, database)
