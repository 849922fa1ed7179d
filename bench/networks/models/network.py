"""A network: a module, the shapes of its inputs, and how it is exported."""
import dataclasses
from collections.abc import Callable

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Network:
    make: Callable[[], nn.Module]
    inputs: dict[str, tuple[int, ...]]
    vocabulary: int = 0  # if not 0, inputs are tokens below it
    older_exporter: bool = False  # exports by tracing instead of by capturing the graph

    def example(self):
        """Random inputs for a run."""
        if self.vocabulary:
            return tuple(torch.randint(0, self.vocabulary, shape) for shape in self.inputs.values())
        return tuple(torch.randn(shape) for shape in self.inputs.values())
