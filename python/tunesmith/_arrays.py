"""Creates arrays for results."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .errors import UserError

_FLOATS = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "bool": "bool"}
_INTEGERS = {f"{short}{bits}": f"{long}{bits}" for short, long in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}
#: torch's names of element types. numpy has no bf16: it is represented by its bits, as uint16.
NAMES = _FLOATS | _INTEGERS


def maker(dtype: str, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """A function that makes an uninitialised array of this type and shape: of torch if its argument `like` is a tensor, else of
    numpy."""
    numpy: Any = None
    try:
        import numpy
    except ImportError:
        pass  # reported when an array is requested
    if numpy is not None:
        kind = numpy.dtype("uint16" if dtype == "bf16" else NAMES[dtype])

    def make(like: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(like, torch.Tensor):
            return torch.empty(shape, dtype=getattr(torch, NAMES[dtype]))
        if numpy is None:
            raise UserError("numpy is not installed, and a result needs memory; give out=, or pip install numpy")
        return numpy.empty(shape, kind)

    return make
