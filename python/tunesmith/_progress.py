"""Shows the progress of a run: a line in a terminal, a bar in a notebook, elsewhere a line for each tenth."""
from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from ._tunesmith import ManyProgress, Progress


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and instance.__class__.__name__ == "ZMQInteractiveShell"


class Terminal:
    """One line, redrawn in place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, progress: Progress | ManyProgress) -> None:
        self._stream.write("\r\x1b[K" + progress.text(shutil.get_terminal_size().columns - 1))
        self._stream.flush()

    def close(self) -> None:
        self._stream.write("\r\x1b[K")
        self._stream.flush()


class Log:
    """A new line for each tenth of the trials, for streams where a line cannot be redrawn."""

    EVERY = 64  # trials per line if there is no total

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = 0

    def __call__(self, progress: Progress | ManyProgress) -> None:
        tenth = 10 * progress.done // progress.total if progress.total else progress.done // self.EVERY
        if tenth > self._last:
            self._last = tenth
            print(progress, file=self._stream, flush=True)

    def close(self) -> None:
        pass


class Notebook:
    """A bar as HTML, redrawn in its cell."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(bar(None)), display_id=True)

    def __call__(self, progress: Progress | ManyProgress) -> None:
        self._handle.update(self._html(bar(progress)))

    def close(self) -> None:
        pass


def bar(progress: Progress | ManyProgress | None) -> str:
    """The bar as HTML; `progress` is None before the first measurement."""
    if progress is None:
        return "<progress></progress> measuring the machine's peak"
    value = f" max='{progress.total}' value='{progress.done}'" if progress.total else ""
    text = str(progress).replace("&", "&amp;").replace("<", "&lt;")
    return f"<progress{value}></progress> <code>{text}</code>"


def shown(progress: Callable[[Any], object] | str | bool | None) -> Callable[[Any], object] | None:
    """The callback for tune(): None shows nothing, "auto" chooses by the environment, a callable is used itself."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    if progress not in ("auto", True):
        raise TypeError(f"progress: expected 'auto', None or a callable, not {progress!r}")
    if _in_notebook():
        return Notebook()
    if sys.stderr is None:
        return None
    return Terminal(sys.stderr) if sys.stderr.isatty() else Log(sys.stderr)

