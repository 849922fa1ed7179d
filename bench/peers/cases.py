"""A row in PyTorch: a module with constant weights, its inputs, and the conversion of its result to the workload's order."""
import dataclasses
import typing

import torch
import torch.nn.functional as F

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
         "i8": torch.int8, "u8": torch.uint8}


class Function(torch.nn.Module):
    """A function with constants: call(self, *inputs)."""

    def __init__(self, call, **constants):
        super().__init__()
        self.call = call
        for name, tensor in constants.items():
            self.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=False))

    def forward(self, *inputs):
        return self.call(self, *inputs)


@dataclasses.dataclass
class Case:
    module: torch.nn.Module
    inputs: list
    result: typing.Callable = lambda out: out  # converts to the order of the workload's output
    # Further functions of the libraries, with packed weights: for a peer's name, a function that makes a call without arguments.
    library: dict = dataclasses.field(default_factory=dict)

    @property
    def integer(self):
        return not self.inputs[0].is_floating_point()


def channels_first(x):
    """[n, spatial..., c] to [n, c, spatial...] without copying: PyTorch's channels_last."""
    return x.movedim(-1, 1)


def channels_last(x):
    return x.movedim(1, -1)


def conv_weight(w):
    """[spatial..., ci, co] to [co, ci, spatial...] in the channels_last layout."""
    rank = w.dim() - 2
    moved = w.permute(rank + 1, rank, *range(rank))
    formats = {1: torch.contiguous_format, 2: torch.channels_last, 3: torch.channels_last_3d}
    return moved.contiguous(memory_format=formats[rank])


def pointwise_weight(w):
    """[ci, co] to [co, ci, 1, 1]."""
    return conv_weight(w[None, None])


def depthwise_weight(w):
    """[k, k, c] to [c, 1, k, k]."""
    return conv_weight(w[:, :, None, :])


def batch_norm(name, scale, offset, eps=1e-5):
    """Constants of a trained batch norm that is equivalent to scale and offset."""
    mean = torch.rand(scale.shape) - 0.5
    variance = 0.5 + torch.rand(scale.shape)
    parts = {"mean": mean, "variance": variance, "gamma": scale * torch.sqrt(variance + eps), "beta": offset + mean * scale}
    return {f"{name}_{part}": tensor for part, tensor in parts.items()}


def normalized(s, x, name):
    """The batch norm `name` of a module."""
    mean, variance, gamma, beta = (getattr(s, f"{name}_{part}") for part in ("mean", "variance", "gamma", "beta"))
    return F.batch_norm(x, mean, variance, gamma, beta, False, 0.0, 1e-5)


def onednn_conv(x, w, bias=None, after="none", stride=1, padding=0, dilation=1, groups=1):
    """oneDNN's convolution with packed weights, as PyTorch's compiler calls it."""
    rank = x.dim() - 2
    geometry = [[padding] * rank, [stride] * rank, [dilation] * rank, groups]

    def make():
        packed = torch.ops.mkldnn._reorder_convolution_weight(w, *geometry, list(x.shape))
        function = torch.ops.mkldnn._convolution_pointwise
        return lambda: function(x, packed, bias, *geometry, after, [], "")
    return make


def onednn_quantized_conv(x, w, stride=1, padding=0, dilation=1, groups=1):
    """Multiplies u8 by i8 into f32, which holds sums up to 2^24 exactly."""
    rank = x.dim() - 2
    geometry = [[stride] * rank, [padding] * rank, [dilation] * rank, groups]
    ones, zeros = torch.ones(w.shape[0]), torch.zeros(w.shape[0], dtype=torch.int32)

    def make():
        packed = torch.ops.onednn.qconv_prepack(w, ones, 1.0, 0, *geometry, list(x.shape))
        function = torch.ops.onednn.qconv_pointwise
        return lambda: function(x, 1.0, 0, packed, ones, zeros, None, *geometry, 1.0, 0, torch.float32, "none", [], "")
    return make


def onednn_transposed_conv(x, w, stride, padding):
    geometry = [[padding] * 2, [0, 0], [stride] * 2, [1, 1], 1]

    def make():
        packed = torch.ops.mkldnn._reorder_convolution_transpose_weight(w, *geometry, list(x.shape))
        function = torch.ops.mkldnn._convolution_transpose_pointwise
        return lambda: function(x, packed, None, *geometry, "none", [], "")
    return make


def onednn_linear(x, w, bias=None, after="none", algorithm=""):
    def make():
        packed = torch.ops.mkldnn._reorder_linear_weight(w, x.shape[0])
        function = torch.ops.mkldnn._linear_pointwise
        return lambda: function(x, packed, bias, after, [], algorithm)
    return make


def onednn_quantized_linear(x, w):
    ones, zeros = torch.ones(w.shape[0]), torch.zeros(w.shape[0], dtype=torch.int32)

    def make():
        packed = torch.ops.onednn.qlinear_prepack(w, list(x.shape))
        function = torch.ops.onednn.qlinear_pointwise
        return lambda: function(x, 1.0, 0, packed, ones, zeros, None, 1.0, 0, torch.float32, "none", [], "")
    return make


def mkl_linear(x, w, bias=None):
    def make():
        packed = torch.ops.mkl._mkl_reorder_linear_weight(w, x.shape[0])
        function = torch.ops.mkl._mkl_linear
        return lambda: function(x, packed, w, bias, x.shape[0])
    return make
