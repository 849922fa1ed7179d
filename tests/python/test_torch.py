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
    # Weights that are loaded later count.
    fast = compiled(model, records=records, threads=1)
    with torch.no_grad():
        fast(x)
        model.first.weight.mul_(-1)
        torch.testing.assert_close(fast(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("freeze", [False, True])
def test_a_layer_of_bert(tmp_path, caplog, freeze):
    """All operators run from records without moves in between, and the result is right."""
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
    """Must not be joined: a sum that is read twice, a tensor that is changed in between, a mask."""

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


def test_operators_without_a_record_get_their_first_program(tmp_path, caplog):
    """Results are recorded: the second time nothing is measured."""
    model, x = Mlp(), torch.randn(8, 32)
    for words in (["3 operators without a record get their first program", "3 operators from records", "!no record"], ["3 operators from records", "!without a record"]):
        fast = compiled(model, records=tmp_path / "r.db", threads=1, draws=8)
        torch.testing.assert_close(called(fast, x, words, caplog), model(x), rtol=1e-4, atol=1e-5)
        torch._dynamo.reset()


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


def called(model, x, words, caplog):
    """Returns the model's result; the log must contain these words, or not (after "!")."""
    caplog.clear()
    with torch.no_grad(), caplog.at_level(logging.WARNING, "tunesmith"):
        result = model(x)
    for word in words:
        assert (word[1:] not in caplog.text) if word.startswith("!") else (word in caplog.text), caplog.text
    return result


def test_an_odd_batch_keeps_the_programs(tuned, caplog, monkeypatch):
    """Torch compiles again with symbols for extents, and calls that graph from then on."""
    from tunesmith import _torch_steps

    runs = []
    call = _torch_steps.Step.call

    def counted(step, kernel):
        run = call(step, kernel)

        def tunesmith_counted(*arrays):
            runs.append(step.name)
            return run(*arrays)

        return tunesmith_counted

    monkeypatch.setattr(_torch_steps.Step, "call", counted)
    found, records = tuned
    model = Mlp()
    fast = compiled(model, records=records, threads=1)
    usual, odd, other = torch.randn(8, 32), torch.randn(5, 32), torch.randn(3, 32)
    torch.testing.assert_close(called(fast, usual, ["3 operators from records"], caplog), model(usual), rtol=1e-4, atol=1e-5)
    assert runs == ["linear_gelu", "linear", "softmax"]
    words = ["inputs [5, 32]: 0 operators from records", "no record of linear_gelu:n=5"]
    torch.testing.assert_close(called(fast, odd, words, caplog), model(odd), rtol=1e-4, atol=1e-5)
    assert len(runs) == 3
    torch.testing.assert_close(called(fast, usual, ["inputs [8, 32]: 3 operators from records"], caplog), model(usual), rtol=1e-4, atol=1e-5)
    assert len(runs) == 6
    for x in (usual, odd, usual):  # each shape is logged once
        torch.testing.assert_close(called(fast, x, ["!operators"], caplog), model(x), rtol=1e-4, atol=1e-5)
    assert len(runs) == 12
    torch.testing.assert_close(called(fast, other, ["inputs [3, 32]: 0 operators"], caplog), model(other), rtol=1e-4, atol=1e-5)


def test_shapes_without_records_are_not_looked_up_for_ever(tuned, caplog, monkeypatch):
    from tunesmith import torch_backend

    monkeypatch.setattr(torch_backend, "_MOST_UNTUNED", 3)
    found, records = tuned
    model = Mlp()
    fast = compiled(model, records=records, threads=1)
    called(fast, torch.randn(8, 32), ["3 operators"], caplog)
    for n, words in ((2, ["inputs [2, 32]"]), (8, ["inputs [8, 32]: 3"]), (3, []), (4, ["of 3 shapes: new ones are not looked up any more"]), (5, ["!inputs"]), (8, ["!inputs"])):
        x = torch.randn(n, 32)
        torch.testing.assert_close(called(fast, x, words, caplog), model(x), rtol=1e-4, atol=1e-5)


def test_a_layer_of_bert_at_several_lengths(tmp_path, caplog):
    """Extents that follow from others, views and permutations of symbols."""
    from tunesmith.torch_backend import tasks

    model = BertLayer(32, 4)
    for task in tasks(model, torch.randn(2, 16, 32)):
        ts.tune(task, trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    fast = compiled(model, records=tmp_path / "r.db", threads=1)
    for length, words in ((16, ["9 operators"]), (12, ["inputs [2, 12, 32]: 0"]), (16, ["inputs [2, 16, 32]: 9"])):
        x = torch.randn(2, length, 32)
        with torch.no_grad():
            torch.testing.assert_close(called(fast, x, words, caplog), model(x), rtol=1e-4, atol=1e-5)


class Inside(torch.nn.Module):
    """Enters autocast in its own graph."""

    def __init__(self, model, dtype):
        super().__init__()
        self.model, self.dtype = model, dtype

    def forward(self, x):
        with torch.autocast("cpu", dtype=self.dtype):
            return self.model(x) * 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("make", [Mlp, lambda: torch.nn.Linear(32, 48), lambda: BertLayer(32, 4)], ids=["mlp", "linear", "bert"])
def test_autocast_computes_in_its_type(tmp_path, caplog, make, inside, dtype):
    from tunesmith.torch_backend import tasks

    model = make()
    shape = (2, 16, 32) if isinstance(model, BertLayer) else (8, 32)
    x = torch.randn(shape)
    for task in tasks(model, x):
        ts.tune(task, trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    model = Inside(model, dtype) if inside else model
    fast = compiled(model, records=tmp_path / "r.db", threads=1)
    with torch.autocast("cpu", dtype=dtype, enabled=not inside), torch.no_grad():
        expected = model(x)
        got = called(fast, x, [f"linear in {str(dtype).removeprefix('torch.')}"], caplog)
    assert got.dtype == expected.dtype
    torch.testing.assert_close(got, expected, rtol=2e-2, atol=2e-2)
    if not inside:  # without autocast, the same function runs programs from records
        torch.testing.assert_close(called(fast, x, ["operators from records", "! 0 operators"], caplog), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"])
def test_modes(tuned, caplog, mode):
    found, records = tuned
    from tunesmith.torch_backend import backend

    model, x = Mlp(), torch.randn(8, 32)
    with torch.no_grad():
        fast = torch.compile(model, backend=lambda graph, inputs, **rest: backend(graph, inputs, options={"records": records, "threads": 1}, **rest), mode=mode)
        said = "tunes nothing here" if mode.startswith("max-autotune") else "!tunes nothing"
        torch.testing.assert_close(called(fast, x, ["3 operators from records", said], caplog), model(x), rtol=1e-4, atol=1e-5)


def test_mistakes_are_said_in_words():
    from tunesmith.torch_backend import backend

    with pytest.raises(ts.UserError, match="mode: there are default, .*, not fastest"):
        backend(torch.fx.symbolic_trace(Mlp()), [], mode="fastest")
    with pytest.raises(Exception, match="options: there are draws, freeze, records, space, threads, not recods"):
        compiled(Mlp(), recods="r.db")(torch.randn(8, 32))
