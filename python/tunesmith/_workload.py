"""Workloads written as Python functions: translates a function's syntax tree to the workload language."""
from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ._tunesmith import Workload
from .errors import UserError

if TYPE_CHECKING:
    from ._types import Param


class DataType:
    """An element type: ``ts.f32["n", "d"]`` is an input of this type and shape, ``str(ts.f32)`` the type's name."""

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __getitem__(self, shape: int | str | tuple[int | str, ...]) -> Input:
        return Input(self.name, shape if isinstance(shape, tuple) else (shape,))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"tunesmith.{self.name}"


class Input:
    """The annotation of an input array. Extents are numbers, or expressions of parameters: ``"n"``, ``"2*n"``."""

    def __init__(self, dtype: str, shape: tuple[int | str, ...], constant: bool = False) -> None:
        self._dtype, self._shape, self._constant = dtype, shape, constant

    @property
    def constant(self) -> Input:
        """This input as a constant, such as weights, which does not change between calls: its layout may be prepared ahead of time."""
        return Input(self._dtype, self._shape, True)

    def text(self) -> str:
        shape = ", ".join(map(str, self._shape))
        return f"{{shape: [{shape}], dtype: {self._dtype}{', constant: true' if self._constant else ''}}}"


f64: DataType = DataType("f64")
f32: DataType = DataType("f32")
f16: DataType = DataType("f16")
bf16: DataType = DataType("bf16")
i64: DataType = DataType("i64")
i32: DataType = DataType("i32")
i16: DataType = DataType("i16")
i8: DataType = DataType("i8")
u64: DataType = DataType("u64")
u32: DataType = DataType("u32")
u16: DataType = DataType("u16")
u8: DataType = DataType("u8")
bool_: DataType = DataType("bool")


def dtype(name: str) -> DataType:
    """The element type of this name, or the type of the parameter with this name: ``ts.dtype("dtype")["n"]``."""
    return DataType(name)


class WorkloadFunction:
    """A function with the decorator ``workload``.

    ``f.text`` is the text of a workload file, ``f(n=64)`` a :class:`Workload`; as an argument for a workload, ``f`` itself is the
    workload with the parameters' defaults.
    """

    def __init__(self, function: Callable[..., Any], text: str) -> None:
        self.__name__: str = function.__name__
        self.__doc__: str | None = function.__doc__
        self.__wrapped__: Callable[..., Any] = function
        self.text: str = text

    def __call__(self, **params: Param) -> Workload:
        return Workload(self.text, **params)

    @property
    def workload(self) -> Workload:
        return self()

    def __repr__(self) -> str:
        return f"<workload {self.__name__}>"


class _Reader:
    """Translates one function's syntax tree."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._file = inspect.getsourcefile(function) or "<unknown>"
        try:
            lines, first = inspect.getsourcelines(function)
        except OSError as error:
            raise UserError(f"the source of {function.__name__}() cannot be read: {error}; write it in a file, or as text") from None
        source = textwrap.dedent("".join(lines))
        self._tree: Any = ast.parse(source).body[0]
        self._lines, self._first = source.splitlines(), first

    def refuse(self, node: Any, message: str, remedy: str = "") -> NoReturn:
        line, column = node.lineno + self._first - 1, node.col_offset + 1
        where = f"{self._file}:{line}:{column}"
        excerpt = f"  {self._lines[node.lineno - 1]}\n  {' ' * node.col_offset}^"
        raise UserError(f"{where}: {message}" + (f"; {remedy}" if remedy else ""), self._file, line, column, remedy, excerpt)

    def inputs(self) -> list[str]:
        arguments = self._tree.args
        if arguments.vararg or arguments.kwarg or arguments.defaults:
            self.refuse(self._tree, "arguments are inputs, one by one, without defaults", "parameters stand behind a *: f(A: ts.f32['n'], *, n=64)")
        # Annotations may be texts (from __future__ import annotations): evaluates them in the function's scope.
        values = inspect.get_annotations(self._function, eval_str=True)
        lines = []
        for argument in [*arguments.posonlyargs, *arguments.args]:
            annotation = values.get(argument.arg)
            if not isinstance(annotation, Input):
                self.refuse(argument, f"'{argument.arg}' needs its type and shape", f"as {argument.arg}: ts.f32['n', 'k']")
            lines.append(f"  {argument.arg}: {annotation.text()}")
        return lines

    def params(self) -> list[str]:
        arguments = self._tree.args
        values: dict[str, object] = getattr(self._function, "__kwdefaults__") or {}
        for argument in arguments.kwonlyargs:
            if argument.arg not in values:
                self.refuse(argument, f"the parameter '{argument.arg}' needs a default", f"as {argument.arg}=64")
        return [f"{name}: {value}" for name, value in values.items()]

    def body(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """The lines of let, require and compute, and the returned names."""
        let: list[str] = []
        require: list[str] = []
        compute: list[str] = []
        outputs: list[str] | None = None
        for statement in self._tree.body:
            if outputs is not None:
                self.refuse(statement, "nothing may stand behind the return")
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                continue  # the docstring
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name):
                    let.append(f"  {target.id}: {self.text(statement.value)}")
                    continue
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    compute.append(f"  {self.text(target)} = {self.text(statement.value)}")
                    continue
            if isinstance(statement, ast.Assert):
                require.append(self.text(statement.test))
                continue
            if isinstance(statement, ast.Return) and statement.value is not None:
                names = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
                outputs = [name.id for name in names if isinstance(name, ast.Name)]
                if len(outputs) < len(names):
                    self.refuse(statement, "expected the names of arrays that were computed", "as return C")
                continue
            self.refuse(statement, "expected C[i < n, j < m] = ..., name = ..., assert ..., or return C")
        if outputs is None:
            self.refuse(self._tree, "it returns nothing", "end with return, and the names of the arrays that are its results")
        return let, require, compute, outputs

    def text(self, node: ast.AST) -> str:
        for inner in ast.walk(node):
            if isinstance(inner, ast.IfExp):
                self.refuse(inner, "a choice is written as a function", "select(condition, a, b)")
            if isinstance(inner, ast.Pow):
                self.refuse(node, "a power is written as a function", "pow(a, b)")
            if isinstance(inner, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.Attribute, ast.Starred, ast.Slice)):
                self.refuse(inner, "this is no part of the workload language", "docs/workload-language.md says what is")
        text = ast.unparse(node)
        # Only the Boolean constants are written differently in Python.
        return text.replace("True", "true").replace("False", "false")

    def description(self) -> str:
        return (inspect.getdoc(self._function) or "").split("\n")[0].replace('"', "'")


def _text_of(function: Callable[..., Any]) -> str:
    reader = _Reader(function)
    let, require, compute, outputs = reader.body()
    lines = [f"name: {function.__name__}"]
    if reader.description():
        lines.append(f'description: "{reader.description()}"')
    params = reader.params()
    if params:
        lines.append(f"params: {{{', '.join(params)}}}")
    if let:
        lines += ["let:", *let]
    if require:
        lines.append("require: [" + ", ".join(f'"{condition}"' for condition in require) + "]")
    return "\n".join([*lines, "inputs:", *reader.inputs(), "compute: |", *compute, f"outputs: [{', '.join(outputs)}]"]) + "\n"


def workload(function: Callable[..., Any]) -> WorkloadFunction:
    """Makes a workload of a function, whose body is parsed and never run.

        @ts.workload
        def product(A: ts.f32["n", "k"], B: ts.f32["k", "m"], *, n=64, m=64, k=64):
            '''A matrix product.'''
            C[i < n, j < m] = sum(r < k)(A[i, r] * B[r, j])
            return C

        product(n=128)            # a Workload; ts.tune(product) uses the defaults

    Statements are those of the workload language (docs/workload-language.md), with the reduced term in parentheses; ``name = ...`` is
    ``let``, ``assert`` is ``require``, keyword-only arguments are the parameters. The workload and its text are the same task, with
    the same records. Raises UserError at the place in the function.

    Type checkers do not understand the body. ``@typing.no_type_check`` below the decorator makes pyright skip it; mypy also needs
    ``# mypy: no-check-untyped-defs`` on a line of the file.
    """
    made = WorkloadFunction(function, _text_of(function))
    made()  # reports errors at the definition
    return made
