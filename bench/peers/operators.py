"""The operators of the suite in PyTorch: OPERATORS[name](parameters, arrays) is a Case. Arrays are tensors in the workload's layout."""
import numpy
import torch
import torch.nn.functional as F

from cases import (Case, Function, channels_first, channels_last, conv_weight, depthwise_weight, mkl_linear, onednn_conv, onednn_linear,
                   onednn_quantized_conv, onednn_quantized_linear, onednn_transposed_conv)

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


def libraries_of_product(x, w, bias=None, **after):
    """The product of x [n, k] and w [m, k] by oneDNN and MKL."""
    if x.dtype == torch.uint8:
        return {"onednn": onednn_quantized_linear(x, w)}
    found = {"onednn": onednn_linear(x, w, bias, **after)}
    if x.dtype == torch.float32 and not after:
        found["mkl"] = mkl_linear(x, w, bias)
    return found


def openblas_product(x, b):
    def make():
        left, right = x.numpy(), b.numpy()
        out = numpy.empty((left.shape[0], right.shape[1]), left.dtype)

        def call():
            numpy.matmul(left, right, out=out)
            return torch.from_numpy(out)
        return call
    return make


def gmm(p, a):
    if p["b"] != 1:
        return Case(Function(lambda s, x: x @ s.b, b=a["B"]), [a["A"]])
    x, b = a["A"][0], a["B"][0]
    w = b.t().contiguous()
    library = libraries_of_product(x, w)
    if x.dtype == torch.float32:
        library["openblas"] = openblas_product(x, b)
    return Case(Function(lambda s, x: F.linear(x, s.w), w=w), [x], lambda out: out[None], library)


def conv(p, a):
    geometry = {"stride": p["stride"], "padding": p["padding"], "dilation": p["dilation"], "groups": p["groups"]}
    x, w = channels_first(a["X"]), conv_weight(a["W"])
    rank = x.dim() - 2
    function = CONVOLUTIONS[rank]
    module = Function(lambda s, x: function(x, s.w, None, **geometry), w=w)
    if x.dtype == torch.uint8:
        library = {"onednn": onednn_quantized_conv(x, w, **geometry)}
    elif rank == 1:
        x = x.contiguous()  # one-dimensional convolutions have no channels_last
        library = {}
    else:
        library = {"onednn": onednn_conv(x, w, **geometry)}
    return Case(module, [x], channels_last, library)


def depthwise_conv2d(p, a):
    geometry = {"stride": p["stride"], "padding": p["padding"], "dilation": p["dilation"], "groups": p["c"]}
    x, w = channels_first(a["X"]), depthwise_weight(a["W"])
    return Case(Function(lambda s, x: F.conv2d(x, s.w, None, **geometry), w=w), [x], channels_last, {"onednn": onednn_conv(x, w, **geometry)})


def conv_bias_bn_relu(p, a):
    geometry = {"stride": p["stride"], "padding": p["padding"], "dilation": p["dilation"], "groups": p["groups"]}
    x, w = channels_first(a["X"]), conv_weight(a["W"])
    scale, offset = a["Scale"][:, None, None], a["Offset"][:, None, None]
    module = Function(lambda s, x: F.relu(F.conv2d(x, s.w, s.bias, **geometry) * s.scale + s.offset), w=w, bias=a["Bias"], scale=scale, offset=offset)
    folded = (w * a["Scale"][:, None, None, None]).contiguous(memory_format=torch.channels_last)
    library = {"onednn": onednn_conv(x, folded, a["Bias"] * a["Scale"] + a["Offset"], "relu", **geometry)}
    return Case(module, [x], channels_last, library)


def transposed_conv2d(p, a):
    x, w = channels_first(a["X"]), a["W"].permute(2, 3, 0, 1).contiguous()
    geometry = {"stride": p["stride"], "padding": p["padding"]}
    return Case(Function(lambda s, x: F.conv_transpose2d(x, s.w, None, **geometry), w=w), [x], channels_last,
                {"onednn": onednn_transposed_conv(x, w, **geometry)})


def capsule_conv2d(p, a):
    """As a plain convolution: the pose's rows are the batch and its columns channels; the peers get their data in that order."""
    _, h, wide, _, _, ci = a["X"].shape
    x = channels_first(a["X"][0].permute(2, 0, 1, 3, 4).reshape(4, h, wide, 4 * ci).contiguous())
    k, co = p["kernel"], p["co"]
    w = conv_weight(a["W"].permute(0, 1, 2, 4, 3, 5).reshape(k, k, 4 * ci, 4 * co))
    geometry = {"stride": p["stride"], "padding": p["padding"]}

    def result(out):
        rows = channels_last(out)  # [i, y, x, (j, f)]
        return rows.reshape(4, rows.shape[1], rows.shape[2], 4, co).permute(1, 2, 0, 3, 4)[None]
    return Case(Function(lambda s, x: F.conv2d(x, s.w, None, **geometry), w=w), [x], result, {"onednn": onednn_conv(x, w, **geometry)})


def attention_scores(p, a):
    return Case(Function(lambda s, q, k: q.permute(0, 2, 1, 3) @ k.permute(0, 2, 3, 1)), [a["Q"], a["K"]])


def dense_bias(p, a):
    w = a["W"].t().contiguous()
    return Case(Function(lambda s, x: F.linear(x, s.w, s.bias), w=w, bias=a["Bias"]), [a["X"]], library=libraries_of_product(a["X"], w, a["Bias"]))


def dense_bias_gelu(p, a):
    w = a["W"].t().contiguous()
    return Case(Function(lambda s, x: F.gelu(F.linear(x, s.w, s.bias)), w=w, bias=a["Bias"]), [a["X"]],
                library=libraries_of_product(a["X"], w, a["Bias"], after="gelu", algorithm="none"))


def layer_norm(p, a):
    n = p["n"]
    return Case(Function(lambda s, x: F.layer_norm(x, (n,), s.scale, s.offset, 1e-5), scale=a["Scale"], offset=a["Offset"]), [a["X"]])


def pool(function, **how):
    def case(p, a):
        sizes = {"kernel_size": p["kernel"], "stride": p["stride"], "padding": p["padding"]} | how
        return Case(Function(lambda s, x: function(x, **sizes)), [channels_first(a["X"])], channels_last)
    return case


def elementwise_chain(p, a):
    def chain(s, x, y, z):
        v = torch.tanh(x + y) * z - x
        return torch.sqrt(torch.abs(torch.where(v < 0, 0.1 * v, v)) + 1)
    return Case(Function(chain), [a["X"], a["Y"], a["Z"]])


def on_first(call):
    """An operator of one input and no constants."""
    return lambda p, a: Case(Function(lambda s, x: call(x)), list(a.values()))


OPERATORS = {
    "gmm": gmm, "conv1d": conv, "conv2d": conv, "conv3d": conv, "depthwise_conv2d": depthwise_conv2d, "conv_bias_bn_relu": conv_bias_bn_relu,
    "transposed_conv2d": transposed_conv2d, "capsule_conv2d": capsule_conv2d, "attention_scores": attention_scores, "dense_bias": dense_bias,
    "dense_bias_gelu": dense_bias_gelu, "layer_norm": layer_norm, "max_pool2d": pool(F.max_pool2d), "avg_pool2d": pool(F.avg_pool2d),
    "elementwise_chain": elementwise_chain, "relu": on_first(F.relu), "softmax": on_first(lambda x: F.softmax(x, dim=-1)),
    "norm": on_first(lambda x: torch.linalg.vector_norm(x, dim=(1, 2))), "reduce_sum_1d": on_first(lambda x: x.sum(0, keepdim=True)),
    "reduce_sum_2d": on_first(lambda x: x.sum(1))}
