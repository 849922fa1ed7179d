"""ResNet-50, DenseNet-121 and ConvNeXt-T for images of 224 x 224."""
import torch
from torch import nn

from .convolution import conv
from .network import Network


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.layers = nn.Sequential(conv(inputs, width, 1), conv(width, width, 3, stride), conv(width, outputs, 1, activation=None))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else conv(inputs, outputs, 1, stride, activation=None)

    def forward(self, x):
        return torch.relu(self.layers(x) + self.shortcut(x))


def resnet(depths):
    layers, channels = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for width, blocks, stride in zip((64, 128, 256, 512), depths, (1, 2, 2, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, stride if block == 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, 4 * growth, 1, bias=False),
            nn.BatchNorm2d(4 * growth), nn.ReLU(), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False))

    def forward(self, x):
        return torch.cat((x, self.layers(x)), 1)


def densenet121():
    growth, channels = 32, 64
    layers = [conv(3, channels, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for block, depth in enumerate((6, 12, 24, 16)):
        for _ in range(depth):
            layers.append(DenseLayer(channels, growth))
            channels += growth
        layers += [nn.BatchNorm2d(channels), nn.ReLU()]
        if block < 3:
            layers += [nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class ChannelNorm(nn.LayerNorm):
    """A layer norm over the channels of an image."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNextBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.layers = nn.Sequential(nn.LayerNorm(channels, eps=1e-6), nn.Linear(channels, 4 * channels), nn.GELU(), nn.Linear(4 * channels, channels))
        self.scale = nn.Parameter(torch.rand(channels))

    def forward(self, x):
        return x + (self.scale * self.layers(self.depthwise(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2)


def convnext_tiny():
    widths = (96, 192, 384, 768)
    layers = [nn.Conv2d(3, widths[0], 4, 4), ChannelNorm(widths[0], eps=1e-6)]
    for stage, depth in enumerate((3, 3, 9, 3)):
        if stage > 0:
            layers += [ChannelNorm(widths[stage - 1], eps=1e-6), nn.Conv2d(widths[stage - 1], widths[stage], 2, 2)]
        layers += [ConvNextBlock(widths[stage]) for _ in range(depth)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(widths[3], eps=1e-6), nn.Linear(widths[3], 1000))


IMAGE = {"x": (1, 3, 224, 224)}
NETWORKS = {
    "resnet50": Network(lambda: resnet((3, 4, 6, 3)), IMAGE),
    "resnet101": Network(lambda: resnet((3, 4, 23, 3)), IMAGE),
    "densenet121": Network(densenet121, IMAGE),
    "convnext_tiny": Network(convnext_tiny, IMAGE),
}
