"""Runs the package's command `tunesmith`, with the package's own kernel and plugins."""
from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = os.path.join(os.path.dirname(__file__), "bin", "tunesmith")
    # The Python that the command calls (tune --against).
    os.environ.setdefault("TUNESMITH_PYTHON", sys.executable)
    os.execv(program, ["tunesmith", *sys.argv[1:]])


if __name__ == "__main__":
    main()
