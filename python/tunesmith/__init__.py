"""Tunesmith: finds fast programs for tensor computations by measuring them on your machine.

    import tunesmith as ts

    r = ts.tune("gmm:n=512,m=512,k=512", trials=128)
    k = r.best.build()
    C = k(A, B)

docs/python.md has the rest.
"""
from . import errors, network
from ._command import command
from ._plugins import CostModel, Module, Searcher, TaskScheduler
from ._report import report
from ._tune import tune
from ._tunesmith import (
    Block,
    BlockInfo,
    Buffer,
    Candidate,
    Device,
    History,
    Int,
    Kernel,
    Loop,
    ManyProgress,
    Measured,
    ModuleContext,
    OtherSearcher,
    Program,
    Progress,
    RandomStream,
    Record,
    Records,
    Result,
    Schedule,
    Search,
    SearchContext,
    Space,
    Spaces,
    Task,
    TaskHistory,
    TaskSet,
    Trace,
    Workload,
    __version__,
    feature_columns,
    primitives,
    workloads,
)
from ._workload import bf16, bool_, dtype, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, workload
from .errors import (
    EnvironmentFault,
    Error,
    InternalError,
    InterpreterError,
    NoRecord,
    PluginError,
    ScheduleError,
    ScheduleMisuse,
    UserError,
)

__all__ = [
    "Block", "BlockInfo", "Buffer", "Candidate", "CostModel", "Device", "EnvironmentFault", "Error", "History", "Int", "InternalError",
    "InterpreterError", "Kernel", "Loop", "ManyProgress", "Measured", "Module", "ModuleContext", "NoRecord", "OtherSearcher", "PluginError",
    "Program", "Progress", "RandomStream", "Record", "Records", "Result", "Schedule", "ScheduleError", "ScheduleMisuse", "Search", "SearchContext",
    "Searcher", "Space", "Spaces", "Task", "TaskHistory", "TaskScheduler", "TaskSet", "Trace", "UserError", "Workload", "bf16", "bool_", "command",
    "dtype", "errors", "f16", "f32", "f64", "feature_columns", "i16", "i32", "i64", "i8", "network", "primitives", "report", "tune", "u16", "u32",
    "u64", "u8", "workload", "workloads",
]


def _html(self: object) -> str:
    from html import escape

    return f"<pre>{escape(str(self))}</pre>"


for _shown in (Program, Progress, Record, Result, Trace, Workload):
    setattr(_shown, "_repr_html_", _html)
# The default until tune() sets it.
setattr(Result, "comparison", None)
