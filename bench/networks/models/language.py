"""BERT-base, GPT-2's prefill and a block of Llama, of 128 tokens."""
import torch
from torch import nn
from torch.nn import functional

from .network import Network

TOKENS = 128


class Attention(nn.Module):
    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = (
            linear(x).view(batch, tokens, self.heads, width // self.heads).transpose(1, 2) for linear in (self.query, self.key, self.value))
        scores = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.out(scores.transpose(1, 2).reshape(batch, tokens, width))


class EncoderLayer(nn.Module):
    """Norms after each half, as in BERT."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.first, self.second = Attention(width, heads), nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = self.first(x + self.attention(x))
        return self.second(x + self.feed(x))


class Bert(nn.Module):
    def __init__(self, vocabulary=30522, width=768, layers=12, heads=12):
        super().__init__()
        self.words, self.positions, self.types = nn.Embedding(vocabulary, width), nn.Embedding(512, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads) for _ in range(layers)))
        self.pooler = nn.Sequential(nn.Linear(width, width), nn.Tanh())

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1]).unsqueeze(0)
        x = self.norm(self.words(tokens) + self.positions(places) + self.types(torch.zeros_like(tokens)))
        x = self.layers(x)
        return x, self.pooler(x[:, 0])


class DecoderLayer(nn.Module):
    """Norms before each half, as in GPT-2."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.first, self.second = Attention(width, heads, causal=True), nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.feed(self.second(x))


class Gpt2(nn.Module):
    def __init__(self, vocabulary=50257, width=768, layers=12, heads=12):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(1024, width)
        self.layers, self.norm = nn.Sequential(*(DecoderLayer(width, heads) for _ in range(layers))), nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]).unsqueeze(0))
        return self.norm(self.layers(x))[:, -1] @ self.words.weight.T


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.scale


class LlamaBlock(nn.Module):
    """A block of TinyLlama: grouped queries, rotary positions, SwiGLU."""

    def __init__(self, width=2048, heads=32, groups=4, hidden=5632):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.first, self.second = RmsNorm(width), RmsNorm(width)
        self.query, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.gate, self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        angles = torch.outer(torch.arange(TOKENS), 10000.0 ** (-torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("cosine", torch.cat((angles, angles), -1).cos())
        self.register_buffer("sine", torch.cat((angles, angles), -1).sin())

    def rotate(self, x):
        low, high = x.chunk(2, -1)
        return x * self.cosine + torch.cat((-high, low), -1) * self.sine

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.size).transpose(1, 2)

    def forward(self, x):
        normed = self.first(x)
        query, key, value = self.split(self.query(normed), self.heads), self.split(self.key(normed), self.groups), self.split(self.value(normed), self.groups)
        key, value = (part.repeat_interleave(self.heads // self.groups, 1) for part in (self.rotate(key), value))
        scores = functional.scaled_dot_product_attention(self.rotate(query), key, value, is_causal=True)
        x = x + self.out(scores.transpose(1, 2).reshape(x.shape))
        normed = self.second(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))


NETWORKS = {
    "bert_base": Network(Bert, {"tokens": (1, TOKENS)}, vocabulary=30522),
    "bert_base_older": Network(Bert, {"tokens": (1, TOKENS)}, vocabulary=30522, older_exporter=True),
    "gpt2_prefill": Network(Gpt2, {"tokens": (1, TOKENS)}, vocabulary=50257),
    "llama_block": Network(LlamaBlock, {"x": (1, TOKENS, 2048)}),
}
