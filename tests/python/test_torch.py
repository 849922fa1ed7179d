"""torch.compile with operators from records, where torch is installed."""
import logging

import pytest

import tunesmith as ts

torch = pytest.importorskip("torch")

from bert_layer import BertLayer  # noqa: E402 - it needs torch


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(32, 48), torch.nn.Linear(48, 16)

    def forward(self, x):
        return torch.softmax(self.second(torch.nn.functional.gelu(self.first(x))), -1) * 2


def compiled(model, **options):
    from tunesmith.torch_backend import backend

    return torch.compile(model, backend=lambda graph, inputs: backend(graph, inputs, options))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A model whose tasks are on record."""
    from tunesmith.torch_backend import tasks

    records = tmp_path_factory.mktemp("torch") / "r.db"
    model = Mlp()
    found = tasks(model, torch.randn(8, 32))
    for task in found:
        ts.tune(task, trials=4, threads=1, records=records, progress=None)
    return found, records


def test_it_computes_what_eager_does(tuned, caplog):
    found, records = tuned
    assert [task.name for task in found] == ["linear_gelu", "linear", "softmax"]
    model, x = Mlp(), torch.randn(8, 32)
    with torch.no_grad(), caplog.at_level(logging.WARNING, "tunesmith"):
        torch.testing.assert_close(compiled(model, records=records, threads=1)(x), model(x), rtol=1e-4, atol=1e-5)
    assert "3 operators from records; as torch runs them: mul" in caplog.text
    # What is loaded into the weights later counts.
    fast = compiled(model, records=records, threads=1)
    with torch.no_grad():
        fast(x)
        model.first.weight.mul_(-1)
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("freeze", [False, True])
def test_a_layer_of_bert(tmp_path, caplog, freeze):
    """All that computes runs from records, nothing is moved in between, and the result is right."""
    from tunesmith.torch_backend import tasks

    model, x = BertLayer(32, 4), torch.randn(2, 16, 32)
    found = tasks(model, x, freeze=freeze)
    assert [task.name for task in found] == ["linear", "attention", "linear_residual", "layer_norm", "linear_gelu", "linear_residual"]
    for task in found:
        ts.tune(task, trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    fast = compiled(model, records=tmp_path / "r.db", threads=1, freeze=freeze)
    with torch.no_grad(), caplog.at_level(logging.WARNING, "tunesmith"):
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)
        other = torch.randn(2, 16, 32)
        torch.testing.assert_close(fast(other), model(other), rtol=1e-4, atol=1e-5)
    assert "9 operators from records" in caplog.text and "no record of" not in caplog.text
    assert all(name not in caplog.text for name in ("linear", "scaled_dot", "layer_norm", "add", "gelu")), caplog.text


class Sums(torch.nn.Module):
    """What may not be computed together: a sum that is read twice, what is changed in between, a mask."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.linear, self.norm = kind, torch.nn.Linear(32, 32), torch.nn.LayerNorm(32)

    def forward(self, x):
        if self.kind == "read twice":
            y = self.linear(x) + x
            return self.norm(y) * y
        if self.kind == "changed":
            x = x * 1
            y = self.linear(x)
            x.mul_(2)
            return y + x
        if self.kind == "norm of a sum":
            return self.norm(x + x.flip(0))
        if self.kind == "broadcast":
            return self.norm(x + x[0])
        q = x.view(1, 4, 8, 8)
        mask = {"causal": {"is_causal": True}, "masked": {"attn_mask": torch.ones(8, 8, dtype=torch.bool).tril()}, "scaled": {"scale": 0.3}}
        return torch.nn.functional.scaled_dot_product_attention(q, q * 2, q - 1, **mask[self.kind])


@pytest.mark.parametrize("kind, found", [("read twice", ["linear_residual", "layer_norm"]), ("changed", ["linear"]), ("norm of a sum", ["layer_norm"]),
                                         ("broadcast", ["layer_norm"]), ("causal", []), ("masked", []), ("scaled", ["attention"])])
def test_what_belongs_together(tmp_path, kind, found):
    from tunesmith.torch_backend import tasks

    model, x = Sums(kind), torch.randn(8, 32)
    of_it = tasks(model, x)
    assert [task.name for task in of_it] == found
    for task in of_it:
        ts.tune(task, trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    with torch.no_grad():
        torch.testing.assert_close(compiled(model, records=tmp_path / "r.db", threads=1)(x.clone()), model(x.clone()), rtol=1e-4, atol=1e-5)


def test_it_falls_back_and_says_so(tmp_path, caplog):
    model, x = Mlp(), torch.randn(8, 32)
    with torch.no_grad(), caplog.at_level(logging.WARNING, "tunesmith"):
        torch.testing.assert_close(compiled(model, records=tmp_path / "none.db")(x), model(x))
    assert "0 operators from records" in caplog.text and "no record of linear_gelu:n=8,m=48,k=32" in caplog.text


def test_gradients_are_torchs(tuned, caplog):
    found, records = tuned
    model, x = Mlp(), torch.randn(8, 32)
    with caplog.at_level(logging.WARNING, "tunesmith"):
        compiled(model, records=records, threads=1)(x).sum().backward()
    assert model.first.weight.grad is not None and "gradients are wanted" in caplog.text


def test_its_name(tuned):
    found, records = tuned
    if "tunesmith" not in torch._dynamo.list_backends():
        pytest.skip("the package is not installed, only importable")
    model, x = Mlp(), torch.randn(8, 32)
    with torch.no_grad():
        fast = torch.compile(model, backend="tunesmith", options={"records": str(records), "threads": 1})
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)


def test_mistakes_are_said_in_words():
    with pytest.raises(Exception, match="options: there are freeze, records, space, threads, not recods"):
        compiled(Mlp(), recods="r.db")(torch.randn(8, 32))
