"""The fused groups in PyTorch, as a user writes them; GROUPS[name](parameters, arrays) is a Case."""
import math

import torch
import torch.nn.functional as F

from cases import Case, Function, batch_norm, channels_first, channels_last, conv_weight, depthwise_weight, normalized, pointwise_weight


def attention(p, a):
    return Case(Function(lambda s, q, k, v: F.scaled_dot_product_attention(q, k, v)), [a[name][None, None] for name in "QKV"], lambda out: out[0, 0])


def attention_heads(p, a):
    def call(s, q, k, v):
        return F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2)
    return Case(Function(call), [a[name][None] for name in "QKV"], lambda out: out[0])


def dense_residual_norm(p, a):
    m = p["m"]

    def call(s, x, r):
        return F.layer_norm(F.linear(x, s.w, s.bias) + r, (m,), s.scale, s.offset, 1e-5)
    constants = {"w": a["W"].t().contiguous(), "bias": a["Bias"], "scale": a["Scale"], "offset": a["Offset"]}
    return Case(Function(call, **constants), [a["X"], a["R"]])


def rms_norm(s, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * s.scale


def rms_norm_swiglu(p, a):
    def call(s, x):
        n = rms_norm(s, x)
        return F.silu(F.linear(n, s.gate)) * F.linear(n, s.up)
    return Case(Function(call, scale=a["Scale"], gate=a["Wg"].t().contiguous(), up=a["Wu"].t().contiguous()), [a["X"]])


def rms_norm_qkv(p, a):
    return Case(Function(lambda s, x: F.linear(rms_norm(s, x), s.w), scale=a["Scale"], w=a["W"].t().contiguous()), [a["X"]])


def rotary_scores(p, a):
    scale = 1 / math.sqrt(p["d"])
    half = p["d"] // 2

    def turned(s, x):
        rotated = torch.cat((-x[..., half:], x[..., :half]), -1)
        return x * s.cos + rotated * s.sin

    def call(s, q, k):
        return turned(s, q.transpose(0, 1)) @ turned(s, k.transpose(0, 1)).transpose(1, 2) * scale
    return Case(Function(call, cos=torch.cat((a["Cos"],) * 2, -1), sin=torch.cat((a["Sin"],) * 2, -1)), [a["Q"], a["K"]])


def conv_bn_add_relu(p, a):
    padding = p["padding"]

    def call(s, x, r):
        return F.relu(normalized(s, F.conv2d(x, s.w, padding=padding), "norm") + r)
    return Case(Function(call, w=conv_weight(a["W"]), **batch_norm("norm", a["Scale"], a["Offset"])),
                [channels_first(a["X"]), channels_first(a["R"])], channels_last)


def conv_bn_relu(p, a):
    geometry = {"stride": p["stride"], "padding": p["padding"]}
    return Case(Function(lambda s, x: F.relu(normalized(s, F.conv2d(x, s.w, **geometry), "norm")), w=conv_weight(a["W"]),
                         **batch_norm("norm", a["Scale"], a["Offset"])), [channels_first(a["X"])], channels_last)


def stem(p, a):
    def call(s, x):
        return F.max_pool2d(F.relu(normalized(s, F.conv2d(x, s.w, stride=2, padding=3), "norm")), 3, 2, 1)
    return Case(Function(call, w=conv_weight(a["W"]), **batch_norm("norm", a["Scale"], a["Offset"])), [channels_first(a["X"])], channels_last)


def separable(s, x, channels):
    """Depthwise 3x3, batch norm, ReLU6, pointwise, batch norm."""
    inner = F.relu6(normalized(s, F.conv2d(x, s.depthwise, padding=1, groups=channels), "inner"))
    return normalized(s, F.conv2d(inner, s.pointwise), "last")


def separable_constants(a):
    return {"depthwise": depthwise_weight(a["Wd"]), "pointwise": pointwise_weight(a["Wp"]), **batch_norm("inner", a["Sd"], a["Od"]),
            **batch_norm("last", a["Sp"], a["Op"])}


def depthwise_pointwise(p, a):
    c = p["c"]
    return Case(Function(lambda s, x: separable(s, x, c), **separable_constants(a)), [channels_first(a["X"])], channels_last)


def inverted_residual(p, a):
    c = p["c"]

    def call(s, x):
        return separable(s, F.relu6(normalized(s, F.conv2d(x, s.expand), "first")), c) + x
    return Case(Function(call, expand=pointwise_weight(a["We"]), **batch_norm("first", a["Se"], a["Oe"]), **separable_constants(a)),
                [channels_first(a["X"])], channels_last)


GROUPS = {function.__name__: function for function in (
    attention, attention_heads, dense_residual_norm, rms_norm_swiglu, rms_norm_qkv, rotary_scores, conv_bn_add_relu, conv_bn_relu, stem,
    depthwise_pointwise, inverted_residual)}
