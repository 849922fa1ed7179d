"""torch.compile with operators from records, where torch is installed."""
import logging

import pytest

import tunesmith as ts

torch = pytest.importorskip("torch")


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
