"""Runs the package's command `tunesmith` in a separate process."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import IO, Any

from .errors import EnvironmentFault, NoRecord, UserError

PROGRAM = os.path.join(os.path.dirname(__file__), "bin", "tunesmith")
# Exit codes of the command (tools/tunesmith/common/exit_codes.h).
_WRONG, _NOTHING_FOUND, _ENVIRONMENT_FAULT, _INTERRUPTED = 1, 3, 4, 130


def words_of(options: dict[str, Any]) -> list[str]:
    """Converts keywords to options: ``min_gain=0`` becomes ``--min-gain 0``, True a flag, a list repeated options; None and False are
    omitted."""
    words: list[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [option, str(getattr(one, "path", one))]
    return words


class _Remarks(threading.Thread):
    """Reads the command's remarks on standard error, and prints them as they arrive."""

    def __init__(self, stream: IO[str], shown: bool) -> None:
        super().__init__(daemon=True)
        self._stream, self._shown = stream, shown
        self.lines: list[str] = []

    def run(self) -> None:
        for line in self._stream:
            self.lines.append(line.rstrip("\n"))
            if self._shown and sys.stderr is not None:
                print(line, end="", file=sys.stderr, flush=True)

    def text(self) -> str:
        """The last message, which is the error if there is one."""
        starts = [i for i, line in enumerate(self.lines) if line.startswith("tunesmith: ")]
        return "\n".join(self.lines[starts[-1]:]).removeprefix("tunesmith: ") if starts else "\n".join(self.lines)


def command(*words: object, text: bool = False, show: bool = False, **options: Any) -> Any:
    """Runs the command ``tunesmith`` of this package in a separate process, and returns its output with ``--json`` as Python objects;
    with ``text``, its plain output.

        ts.command("doctor")["peak_gflops"]
        ts.command("records", "best", workload="gmm", count=3)
        ts.command("completion", "bash", text=True)

    ``options`` are the command's: ``min_gain=0`` becomes ``--min-gain 0``, True a flag, a list repeated options. ``show``: prints its
    progress and remarks on standard error. Ctrl-C ends it with the results so far.

    :raises UserError: the command refuses its arguments.
    :raises NoRecord: there is no result.
    :raises EnvironmentFault: the machine lacks something.
    """
    call = [PROGRAM, *map(str, words), *words_of(options), *([] if text else ["--json"])]
    # The Python that the command calls (tune --against).
    environment = {"TUNESMITH_PYTHON": sys.executable, **os.environ}
    # Only this process gets the terminal's signals; it forwards SIGINT once.
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment) as process:
        assert process.stdout is not None and process.stderr is not None
        remarks = _Remarks(process.stderr, show)
        remarks.start()
        try:
            said = process.stdout.read()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            said = process.stdout.read()
        code = process.wait()
        remarks.join()
    if said and code in (0, _WRONG, _NOTHING_FOUND, _INTERRUPTED):
        return said if text else json.loads(said)
    if code == 0:
        return said if text else None
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    kind = {_NOTHING_FOUND: NoRecord, _ENVIRONMENT_FAULT: EnvironmentFault}.get(code, UserError)
    raise kind(remarks.text() or f"tunesmith {' '.join(call[1:])}: exit code {code}")
