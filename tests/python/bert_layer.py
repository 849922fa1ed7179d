"""A layer of BERT, for the tests and the benchmark of torch.compile."""
import torch


class BertLayer(torch.nn.Module):
    """BERT-base has width 768 and 12 heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (torch.nn.Linear(width, width) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.first, self.second = torch.nn.LayerNorm(width, eps=1e-12), torch.nn.LayerNorm(width, eps=1e-12)

    def forward(self, x):
        def split(y):
            return y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)

        a = torch.nn.functional.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)))
        x = self.first(self.out(a.transpose(1, 2).reshape(x.shape)) + x)
        return self.second(self.down(torch.nn.functional.gelu(self.up(x))) + x)
