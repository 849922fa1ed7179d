"""Whole networks, such as ONNX files (docs/networks.md).

    net = ts.network.read("model.onnx", batch=1)
    built = net.tune("built", minutes=10)        # tunes all its kernels, and builds its library
    logits = built(images)                       # arrays of numpy, torch or others that numpy accepts without a copy
    built.verify()

Only calls of a built library, and tuning with plugins in Python, run in this process; everything else runs the command in a separate
process, with the command's records.
"""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._command import command
from ._tune import tune
from ._tunesmith import Space, Workload
from .errors import EnvironmentFault, UserError

if TYPE_CHECKING:
    from ._tunesmith import Records, Result
    from ._types import Array, PathLike

_CODES = {"bool": 6, "bf16": 4} | {f"f{bits}": 2 for bits in (16, 32, 64)} | {f"i{bits}": 0 for bits in (8, 16, 32, 64)} | {f"u{bits}": 1 for bits in (8, 16, 32, 64)}
_NUMPY = {"f": "float", "i": "int", "u": "uint"}
_FAULTS = {
    7: "its memory is not aligned to its elements", 8: "there is no memory for it", 9: "it was built for a processor with more instructions",
    10: "its weights cannot be read", 11: "its weights are not those that were written with it", 12: "a thread cannot be made ready for it",
}


def read(file: PathLike, operators: Sequence[PathLike] = (), **dims: int) -> Network:
    """The network in a file. ``dims``: values of its open extents, as ``batch=1``; ``operators``: workload files, or folders of them,
    that define further operators. Reads nothing yet."""
    return Network(file, dims, operators)


def open(folder: PathLike) -> Library:  # noqa: A001 - of this module
    """The library in a folder that ``Network.build`` or the command wrote."""
    return Library(folder)


def test(*folders: PathLike, interpret: bool = False, build: bool = False, processes: int | None = None) -> dict[str, Any]:
    """Runs folders in ONNX's test format; returns the dict that ``tunesmith network test --json`` prints."""
    answer: dict[str, Any] = command("network", "test", *folders, interpret=interpret, build=build, processes=processes)
    return answer


class Network:
    """A network's file, with values of its open extents."""

    def __init__(self, file: PathLike, dims: dict[str, int], operators: Sequence[PathLike] = ()) -> None:
        self.file: str = str(file)
        self.dims: dict[str, int] = dict(dims)
        self.operators: list[str] = [str(path) for path in operators]

    def _command(self, subcommand: str, **options: Any) -> Any:
        dims = [f"{dim}={value}" for dim, value in self.dims.items()]
        values: dict[str, Any] = {"dim": dims} if subcommand != "import" else {}
        return command("network", subcommand, self.file, operators=self.operators, **values, **options)

    def summary(self) -> dict[str, Any]:
        """The file's contents and its unknown operators: the dict that ``tunesmith network import --json`` prints."""
        answer: dict[str, Any] = self._command("import")
        return answer

    def show(self, passes: bool = False) -> dict[str, Any]:
        """Its tensors and nodes: the dict that ``tunesmith network show --json`` prints; ``passes``: also after each pass."""
        answer: dict[str, Any] = self._command("show", passes=passes)
        return answer

    def __str__(self) -> str:
        return str(self._command("show", text=True))

    def __repr__(self) -> str:
        return f"Network('{self.file}'{''.join(f', {dim}={value}' for dim, value in self.dims.items())})"

    def dot(self) -> str:
        """Its kernels, with their nodes and the tensors between them, as text for Graphviz."""
        return str(self._command("show", dot=True, text=True))

    def tasks(self, folder: PathLike) -> dict[str, Any]:
        """Writes each distinct kernel of a call into ``folder`` as a workload file for :func:`tunesmith.tune`; returns the dict that
        ``tunesmith network tasks --json`` prints."""
        answer: dict[str, Any] = self._command("tasks", output=folder)
        return answer

    def tune(
        self,
        folder: PathLike,
        *,
        trials: int | None = None,
        minutes: float | None = None,
        records: Records | PathLike | None = None,
        threads: int | None = None,
        show: bool = True,
        **options: Any,
    ) -> Library:
        """Tunes all tasks under one budget, chooses among their best programs by times inside the library, and writes the library: a
        :class:`Library`, whose ``tuning`` is the output of ``tunesmith network tune --json``.

        Continues from the records, also after Ctrl-C. ``options`` are those of the command: ``name``, ``space``, ``spaces``, ``seed``,
        ``search``, ``scheduler``, ``min_gain``, ``fresh``, ... ``show``: prints its progress.

        If ``search``, ``model`` or ``scheduler`` is a class in Python, as ``"mine.py:Mine"``, or ``space`` a :class:`Space`, this
        process tunes the tasks, with the options of :func:`tunesmith.tune`, and ``tuning`` is the list of results.

        :raises UserError: the network or an option is refused, or a task has no program yet.
        """
        if isinstance(options.get("space"), Space) or any(".py:" in (options.get(kind) or "") for kind in ("search", "model", "scheduler")):
            return self._tune_here(folder, records, threads, show, trials=trials, minutes=minutes, **options)
        said = self._command("tune", output=folder, trials=trials, minutes=minutes, database=records, threads=threads, show=show, **options)
        if not said.get("built"):
            raise UserError("a task has no program yet, and so nothing was built; tune again to continue")
        return Library(folder, said)

    def _tune_here(
        self, folder: PathLike, records: Records | PathLike | None, threads: int | None, show: bool, name: str | None = None, **options: Any
    ) -> Library:
        with tempfile.TemporaryDirectory() as files:
            tasks = self.tasks(files)["tasks"]
            workloads = [Workload(task["file"]) for task in tasks]
        weights = [task["count"] for task in tasks]
        results = tune(workloads, weights=weights, records=records, threads=threads, progress="auto" if show else None, **options)
        if not all(result.found for result in results):
            raise UserError("a task has no program yet, and so nothing was built; tune again to continue")
        self.build(folder, records=records, threads=threads, in_place=True, name=name)
        return Library(folder, results)

    def build(
        self,
        folder: PathLike,
        *,
        records: Records | PathLike | None = None,
        threads: int | None = None,
        unscheduled: bool = False,
        in_place: bool = False,
        **options: Any,
    ) -> Library:
        """Writes its library from the best programs on record: a :class:`Library`. ``unscheduled``: tasks without a record get
        unscheduled programs, which are slow. ``in_place``: chooses programs by times inside the library."""
        self._command("build", output=folder, database=records, threads=threads, unscheduled=unscheduled, in_place=in_place, **options)
        return Library(folder)


class Argument:
    """An input or output of a library: ``name``, ``dtype`` as "f32", ``shape``, with the highest extents where data decide."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.name: str = described["name"]
        self.dtype: str = described["type"]
        self.shape: tuple[int, ...] = tuple(described["shape"])

    def __repr__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"

    @property
    def numpy_type(self) -> str:
        """The name of numpy's type; uint16, with the bits, for bf16."""
        if self.dtype in ("bool", "bf16"):
            return {"bool": "bool", "bf16": "uint16"}[self.dtype]
        return _NUMPY[self.dtype[0]] + self.dtype[1:]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]


def _array(given: Any, argument: Argument, position: int) -> Any:
    """`given` as a numpy array without copy or conversion. Raises UserError if it does not match the argument."""
    import numpy

    if type(given).__module__.partition(".")[0] == "torch":
        given = given.detach()
        # numpy would allocate memory for a tensor without storage.
        if given.is_contiguous() and (given.storage_offset() + given.numel()) * given.element_size() > given.untyped_storage().nbytes():
            raise UserError(f"argument {position + 1}, '{argument.name}': its storage was freed or is too short")
        given = (given.view(dtype=__import__("torch").uint16) if argument.dtype == "bf16" else given).numpy()
    array = numpy.asarray(given)
    if array.dtype != argument.numpy_type or array.shape != argument.shape:
        what = f"{array.dtype}{list(array.shape)}"
        raise UserError(f"argument {position + 1}, '{argument.name}': expected {argument.dtype}{list(argument.shape)}, not {what}; arguments are not converted")
    if not array.flags.c_contiguous:
        raise UserError(f"argument {position + 1}, '{argument.name}': its elements are not contiguous in row-major order; copy it once: numpy.ascontiguousarray(x)")
    return array


class Library:
    """A built network. Call it with arrays of exactly the shapes and types of ``inputs``. Returns the output, or a tuple of several, as
    numpy arrays; ``out=`` passes memory for them. Where data decide an extent, the shapes of ``outputs`` have the highest, and a call
    returns the part that there is. Any number of threads may call it; the interpreter's lock is released meanwhile.

    Raises UserError if an argument does not fit, EnvironmentFault if the library cannot be loaded.
    """

    def __init__(self, folder: PathLike, tuning: dict[str, Any] | list[Result] | None = None) -> None:
        self.folder: str = str(folder)
        self.tuning: dict[str, Any] | list[Result] | None = tuning
        described = [json.loads(file.read_text()) for file in sorted(pathlib.Path(folder).glob("*.json"))]
        described = [one for one in described if isinstance(one, dict) and "steps" in one and "inputs" in one]
        if len(described) != 1:
            raise UserError(f"{folder}: {'no network' if not described else 'more than one network'} was built here; ts.network.read(file).build(folder) does")
        self.name: str = described[0]["name"]
        self.inputs: list[Argument] = [Argument(one) for one in described[0]["inputs"]]
        outputs = [Argument(one) for one in described[0]["outputs"]]
        # Where data decide an output's extent, a further output, behind the others, is its count.
        self._counted: list[dict[str, int]] = described[0].get("counted", [])
        first = min((one["by"] for one in self._counted), default=len(outputs))
        self.outputs: list[Argument] = outputs[:first]
        self._counts: list[Argument] = outputs[first:]
        self._load()

    def _load(self) -> None:
        path = pathlib.Path(self.folder).absolute()
        try:
            self._library = ctypes.CDLL(str(path / f"lib{self.name}.so"))
        except OSError as error:
            raise EnvironmentFault(str(error)) from None
        opening = self._function("open", ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
        self._model = ctypes.c_void_p()
        self._require(opening(str(path / f"{self.name}.weights").encode(), ctypes.byref(self._model)))
        weakref.finalize(self, self._function("close", ctypes.c_void_p, result=None), self._model)
        self._run = self._function("run", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        self._bytes: int = self._function("workspace_bytes", result=ctypes.c_size_t)()

    def _function(self, name: str, *arguments: Any, result: Any = ctypes.c_int) -> Callable[..., Any]:
        function: Any = getattr(self._library, f"{self.name}_{name}")
        function.argtypes, function.restype = arguments, result
        called: Callable[..., Any] = function
        return called

    def _require(self, answer: int) -> None:
        if answer != 0:
            raise EnvironmentFault(f"{self.folder}: {_FAULTS.get(answer % 256, f'the library answers {answer}')}")

    def __call__(self, *inputs: Array, out: Array | Sequence[Array] | None = None) -> Any:
        import numpy

        if len(inputs) != len(self.inputs):
            raise UserError(f"the network takes {len(self.inputs)} inputs, here are {len(inputs)}: {self.inputs}")
        given = [_array(array, argument, i) for i, (array, argument) in enumerate(zip(inputs, self.inputs))]
        if out is None:
            results = [numpy.empty(argument.shape, argument.numpy_type) for argument in self.outputs]
        else:
            outs = out if isinstance(out, (list, tuple)) else [out]
            if len(outs) != len(self.outputs):
                raise UserError(f"out: the network has {len(self.outputs)} outputs, here are {len(outs)}")
            results = [_array(array, argument, len(given) + i) for i, (array, argument) in enumerate(zip(outs, self.outputs))]
            if not all(array.flags.writeable for array in results):
                raise UserError("out: its memory is read-only, but it is an output")
        counts = [numpy.empty(argument.shape, argument.numpy_type) for argument in self._counts]
        tensors = [self._tensor(array, argument) for array, argument in zip(given + results + counts, self.inputs + self.outputs + self._counts)]
        pointers = [ctypes.addressof(tensor) for tensor in tensors]
        count = len(given)
        of_inputs, of_outputs = (ctypes.c_void_p * max(count, 1))(*pointers[:count]), (ctypes.c_void_p * len(pointers[count:]))(*pointers[count:])
        # One workspace per call, since threads may call concurrently.
        memory = numpy.empty(self._bytes + 64, "uint8")
        self._require(self._run(self._model, of_inputs, of_outputs, (memory.ctypes.data + 63) // 64 * 64))
        if out is not None and not counts:
            return out
        for one in self._counted:
            part = [slice(None)] * one["axis"] + [slice(int(counts[one["by"] - len(results)].item()))]
            results[one["output"]] = results[one["output"]][tuple(part)]
        return results[0] if len(results) == 1 else tuple(results)

    @staticmethod
    def _tensor(array: Any, argument: Argument) -> _DLTensor:
        shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        return _DLTensor(array.ctypes.data, 1, 0, array.ndim, _CODES[argument.dtype], 8 * array.itemsize, 1, shape, None, 0)

    def verify(self, *, model: PathLike | None = None, calls: int = 1, seed: int = 1, integers: int = 2) -> dict[str, Any]:
        """Runs it and verifies each step on the inputs that the library itself gave the step; returns the dict that
        ``tunesmith network verify --json`` prints, with the verdict ``["right"]``."""
        answer: dict[str, Any] = command("network", "verify", self.folder, model=model, calls=calls, seed=seed, integers=integers)
        return answer

    def bench(self, *, calls: int = 50, threads: int | None = None) -> dict[str, Any]:
        """Times a call and each step while no other run measures; returns the dict that ``tunesmith network bench --json`` prints."""
        answer: dict[str, Any] = command("network", "bench", self.folder, calls=calls, threads=threads)
        return answer

    def __repr__(self) -> str:
        return f"Library {self.name}({', '.join(map(repr, self.inputs))}) -> {', '.join(map(repr, self.outputs))}"
