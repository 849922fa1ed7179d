"""MobileNet-v2, MobileNet-v3 (large) and EfficientNet-B0 for images of 224 x 224."""
from torch import nn

from .convolution import conv
from .network import Network


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed, activation, gate):
        super().__init__()
        self.layers = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, squeezed, 1), activation(), nn.Conv2d(squeezed, channels, 1), gate())

    def forward(self, x):
        return x * self.layers(x)


class InvertedResidual(nn.Module):
    def __init__(self, inputs, hidden, outputs, kernel, stride, activation, squeeze=None):
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        expand = [conv(inputs, hidden, 1, activation=activation)] if hidden != inputs else []
        depthwise = conv(hidden, hidden, kernel, stride, hidden, activation)
        self.layers = nn.Sequential(*expand, depthwise, *([squeeze] if squeeze else []), conv(hidden, outputs, 1, activation=None))

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def mobilenet_v2():
    layers, channels = [conv(3, 32, 3, 2, activation=nn.ReLU6)], 32
    for expansion, outputs, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            layers.append(InvertedResidual(channels, expansion * channels, outputs, 3, stride if block == 0 else 1, nn.ReLU6))
            channels = outputs
    return nn.Sequential(*layers, conv(channels, 1280, 1, activation=nn.ReLU6), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


def mobilenet_v3():
    # kernel, hidden, outputs, squeezes, hard swish, stride
    rows = ((3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1),
            (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1),
            (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1))
    layers, channels = [conv(3, 16, 3, 2, activation=nn.Hardswish)], 16
    for kernel, hidden, outputs, squeezes, hard, stride in rows:
        squeezed = -(-(hidden // 4) // 8) * 8
        squeeze = SqueezeExcite(hidden, squeezed, nn.ReLU, nn.Hardsigmoid) if squeezes else None
        layers.append(InvertedResidual(channels, hidden, outputs, kernel, stride, nn.Hardswish if hard else nn.ReLU, squeeze))
        channels = outputs
    head = [nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers, conv(channels, 960, 1, activation=nn.Hardswish), nn.AdaptiveAvgPool2d(1), nn.Flatten(), *head)


def efficientnet_b0():
    layers, channels = [conv(3, 32, 3, 2, activation=nn.SiLU)], 32
    rows = ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1))
    for expansion, kernel, stride, outputs, blocks in rows:
        for block in range(blocks):
            hidden = expansion * channels
            squeeze = SqueezeExcite(hidden, channels // 4, nn.SiLU, nn.Sigmoid)
            layers.append(InvertedResidual(channels, hidden, outputs, kernel, stride if block == 0 else 1, nn.SiLU, squeeze))
            channels = outputs
    return nn.Sequential(*layers, conv(channels, 1280, 1, activation=nn.SiLU), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


IMAGE = {"x": (1, 3, 224, 224)}
NETWORKS = {
    "mobilenet_v2": Network(mobilenet_v2, IMAGE),
    "mobilenet_v3": Network(mobilenet_v3, IMAGE),
    "efficientnet_b0": Network(efficientnet_b0, IMAGE),
}
