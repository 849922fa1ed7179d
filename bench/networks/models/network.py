"""What a network is made of: a module, the shapes of its inputs, and how it is exported."""
import dataclasses
from collections.abc import Callable

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Network:
    make: Callable[[], nn.Module]
    inputs: dict[str, tuple[int, ...]]
    vocabulary: int = 0  # inputs are token numbers below it, where it is not 0
    older_exporter: bool = False  # the one that traces, not the one that captures

    def example(self):
        """Inputs for a run, by torch's generator."""
        if self.vocabulary:
            return tuple(torch.randint(0, self.vocabulary, shape) for shape in self.inputs.values())
        return tuple(torch.randn(shape) for shape in self.inputs.values())
