"""A U-Net for images of 256 x 256, and a detector of YOLO's kind for 320 x 320."""
import torch
from torch import nn
from torch.nn import functional

from .convolution import conv
from .network import Network


class UNet(nn.Module):
    def __init__(self, widths=(32, 64, 128, 256, 512)):
        super().__init__()
        self.down = nn.ModuleList(
            nn.Sequential(conv(inputs, outputs, 3), conv(outputs, outputs, 3)) for inputs, outputs in zip((3, *widths), widths))
        pairs = list(zip(widths, widths[1:]))[::-1]
        self.grow = nn.ModuleList(nn.ConvTranspose2d(wide, narrow, 2, 2) for narrow, wide in pairs)
        self.up = nn.ModuleList(nn.Sequential(conv(2 * narrow, narrow, 3), conv(narrow, narrow, 3)) for narrow, _ in pairs)
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        skipped = []
        for level, layers in enumerate(self.down):
            x = layers(functional.max_pool2d(x, 2) if level else x)
            skipped.append(x)
        for grow, layers, other in zip(self.grow, self.up, skipped[-2::-1]):
            x = layers(torch.cat((other, grow(x)), 1))
        return self.head(x)


class CrossStage(nn.Module):
    """Half of the channels go through residual blocks."""

    def __init__(self, channels, blocks):
        super().__init__()
        half = channels // 2
        self.left, self.right = (conv(channels, half, 1, activation=nn.SiLU) for _ in range(2))
        self.join = conv(channels, channels, 1, activation=nn.SiLU)
        self.blocks = nn.ModuleList(nn.Sequential(conv(half, half, 1, activation=nn.SiLU), conv(half, half, 3, activation=nn.SiLU)) for _ in range(blocks))

    def forward(self, x):
        left, right = self.left(x), self.right(x)
        for block in self.blocks:
            left = left + block(left)
        return self.join(torch.cat((left, right), 1))


class PyramidPooling(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.squeeze, self.join = conv(channels, channels // 2, 1, activation=nn.SiLU), conv(2 * channels, channels, 1, activation=nn.SiLU)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        rows = [self.squeeze(x)]
        for _ in range(3):
            rows.append(self.pool(rows[-1]))
        return self.join(torch.cat(rows, 1))


class Detector(nn.Module):
    """A backbone, a pyramid of features, and three heads whose boxes are decoded."""

    def __init__(self, classes=80, width=16, size=320):
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width, 16 * width]
        self.stem = conv(3, widths[0], 3, 2, activation=nn.SiLU)
        self.stages = nn.ModuleList(
            nn.Sequential(conv(inputs, outputs, 3, 2, activation=nn.SiLU), CrossStage(outputs, depth)) for inputs, outputs, depth in zip(widths, widths[1:], (1, 2, 2, 1)))
        self.pooling = PyramidPooling(widths[4])
        self.lateral = nn.ModuleList((conv(widths[4], widths[3], 1, activation=nn.SiLU), conv(widths[3], widths[2], 1, activation=nn.SiLU)))
        self.merge = nn.ModuleList((
            nn.Sequential(conv(2 * widths[3], widths[3], 1, activation=nn.SiLU), CrossStage(widths[3], 1)),
            nn.Sequential(conv(2 * widths[2], widths[2], 1, activation=nn.SiLU), CrossStage(widths[2], 1))))
        self.heads = nn.ModuleList(nn.Conv2d(channels, 3 * (5 + classes), 1) for channels in (widths[2], widths[3], widths[4]))
        self.outputs = 5 + classes
        for level, stride in enumerate((8, 16, 32)):
            side = size // stride
            rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
            self.register_buffer(f"grid{level}", torch.stack((columns, rows), -1).float().view(1, 1, side, side, 2))
            self.register_buffer(f"anchors{level}", (torch.rand(1, 3, 1, 1, 2) + 0.5) * stride)

    def decode(self, x, level):
        stride, grid, anchors = 8 << level, getattr(self, f"grid{level}"), getattr(self, f"anchors{level}")
        batch, _, height, width = x.shape
        x = x.view(batch, 3, self.outputs, height, width).permute(0, 1, 3, 4, 2).sigmoid()
        centre, extent, scores = x[..., 0:2], x[..., 2:4], x[..., 4:]
        boxes = torch.cat(((centre * 2 - 0.5 + grid) * stride, (extent * 2) ** 2 * anchors, scores), -1)
        return boxes.reshape(batch, -1, self.outputs)

    def forward(self, x):
        x, levels = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            levels.append(x)
        coarse = self.pooling(levels[3])
        middle = self.merge[0](torch.cat((functional.interpolate(self.lateral[0](coarse), scale_factor=2), levels[2]), 1))
        fine = self.merge[1](torch.cat((functional.interpolate(self.lateral[1](middle), scale_factor=2), levels[1]), 1))
        return torch.cat([self.decode(head(part), level) for level, (head, part) in enumerate(zip(self.heads, (fine, middle, coarse)))], 1)


NETWORKS = {"unet": Network(UNet, {"x": (1, 3, 256, 256)}), "detector": Network(Detector, {"x": (1, 3, 320, 320)})}
