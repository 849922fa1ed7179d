"""ViT-B/16 and Swin-T for images of 224 x 224."""
import torch
from torch import nn

from .language import Attention
from .network import Network


class TransformerLayer(nn.Module):
    def __init__(self, width, attention):
        super().__init__()
        self.first, self.second, self.attention = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6), attention
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.feed(self.second(x))


class VisionTransformer(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, patch=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token, self.positions = nn.Parameter(torch.rand(1, 1, width)), nn.Parameter(torch.rand(1, (224 // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(*(TransformerLayer(width, Attention(width, heads)) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token, x), 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


class WindowAttention(nn.Module):
    """Attention within windows of an image, shifted by half a window in every second layer."""

    def __init__(self, width, heads, size, window=7, shift=0):
        super().__init__()
        self.heads, self.size, self.window, self.shift = heads, size, window, shift
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        places = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        distance = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", (distance[..., 0] * (2 * window - 1) + distance[..., 1]).flatten())
        self.bias = nn.Parameter(torch.rand((2 * window - 1) ** 2, heads))
        region = torch.zeros(size, size)
        if shift:
            bounds = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
            for number, (rows, columns) in enumerate((rows, columns) for rows in bounds for columns in bounds):
                region[rows, columns] = number
        groups = self.windows(region.view(1, size, size, 1)).squeeze(-1)
        self.register_buffer("mask", torch.where(groups[:, None, :] != groups[:, :, None], -100.0, 0.0).unsqueeze(1))

    def windows(self, x):
        batch, height, width, channels = x.shape
        x = x.view(batch, height // self.window, self.window, width // self.window, self.window, channels)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, self.window**2, channels)

    def forward(self, x):
        side, channels = self.size // self.window, x.shape[-1]
        x = x.view(-1, self.size, self.size, channels)
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        x = self.windows(x)
        query, key, value = self.project(x).view(x.shape[0], self.window**2, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind()
        bias = self.bias[self.index].view(self.window**2, self.window**2, self.heads).permute(2, 0, 1).unsqueeze(0)
        weights = (query * query.shape[-1] ** -0.5 @ key.transpose(-2, -1) + bias + self.mask).softmax(-1)
        x = self.out((weights @ value).transpose(1, 2).reshape(-1, self.window**2, channels))
        x = x.view(-1, side, side, self.window, self.window, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, self.size, self.size, channels)
        if self.shift:
            x = torch.roll(x, (self.shift, self.shift), (1, 2))
        return x.flatten(1, 2)


class PatchMerging(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.size, self.norm, self.reduce = size, nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        x = x.view(-1, self.size, self.size, x.shape[-1])
        x = torch.cat((x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]), -1)
        return self.reduce(self.norm(x.flatten(1, 2)))


class Swin(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.patches, self.norm = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        layers, size = [], 56
        for stage, (depth, heads) in enumerate(zip((2, 2, 6, 2), (3, 6, 12, 24))):
            if stage > 0:
                layers.append(PatchMerging(width, size))
                width, size = 2 * width, size // 2
            for layer in range(depth):
                shift = 3 if layer % 2 == 1 and size > 7 else 0
                layers.append(TransformerLayer(width, WindowAttention(width, heads, size, shift=shift)))
        self.layers, self.last, self.head = nn.Sequential(*layers), nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.norm(self.patches(x).flatten(2).transpose(1, 2))
        return self.head(self.last(self.layers(x)).mean(1))


IMAGE = {"x": (1, 3, 224, 224)}
NETWORKS = {"vit_b16": Network(VisionTransformer, IMAGE), "swin_tiny": Network(Swin, IMAGE)}
