"""Libraries timed beside a program."""
import json
import shutil
import subprocess
import sys

import numpy
import pytest

import tunesmith as ts
from tunesmith import against
from tunesmith._operators import OPERATORS

SMALL = {
    "attention_scores": "seq=8,heads=2,dim=4", "avg_pool2d": "h=9,w=9,c=4", "conv1d": "l=12,ci=4,co=6", "conv2d": "h=7,w=7,ci=4,co=6,stride=2",
    "conv3d": "d=5,h=5,w=5,ci=4,co=4", "conv_bias_bn_relu": "h=6,w=6,ci=4,co=4", "dense_bias": "n=6,m=8,k=10", "dense_bias_gelu": "n=6,m=8,k=10",
    "depthwise_conv2d": "h=7,w=7,c=4", "elementwise_chain": "n=6,m=8", "gmm": "b=2,n=6,m=8,k=10", "gram": "b=2,n=6,k=10", "layer_norm": "m=6,n=16",
    "max_pool2d": "h=9,w=9,c=4", "norm": "b=2,m=6,n=8", "reduce_sum_1d": "n=100", "reduce_sum_2d": "m=6,n=8", "relu": "n=6,m=8", "softmax": "m=6,n=8",
    "transposed_conv2d": "h=3,w=3,ci=4,co=6",
}


def test_there_is_a_small_one_of_each():
    assert SMALL.keys() == OPERATORS.keys() <= ts.workloads().keys()


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("library", against.LIBRARIES)
def test_a_library_computes_what_the_workload_says(name, library):
    """The library's call computes the workload, as the interpreter does."""
    workload = ts.Workload(f"{name}:{SMALL[name]}")
    try:
        against.check(workload, library)
    except ts.UserError as error:
        pytest.skip(str(error))
    random = numpy.random.default_rng(1)
    arrays = {buffer.name: random.uniform(-1, 1, buffer.shape).astype("float32") for buffer in workload.inputs}
    expected = workload.program.run(*arrays.values())
    with against._Stack() as stack:
        stack.shape = expected.shape
        version, call, result = against._MAKERS[library](OPERATORS[name](dict(workload.params), arrays), arrays, 1, stack)
        call()
        numpy.testing.assert_allclose(numpy.asarray(result()).reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)
    assert version


def _here(library):
    try:
        against.check("gmm", library)
    except ts.UserError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("library", [*against.LIBRARIES, "best"])
def test_a_record_beside_it(result, library):
    _here(library)
    said = result.best.against(library, seconds=0.5)
    assert said.threads == 2 and said.rounds >= 6 and said.seconds > 0 and str(result.workload) in str(said)
    for one in said.libraries:
        assert one.seconds > 0 and one.low <= one.ratio <= one.high and one.error <= 1
        assert one.name in str(said) and one.version in str(said)
    assert len(said.libraries) + len(said.left_out) == (3 if library == "best" else 1)


@pytest.fixture
def own(result, tmp_path):
    """A copy of the store, so that ranking again does not change other tests' best records."""
    return shutil.copy(result.records, tmp_path / "own.db")


def test_tune_does_it_at_its_end(own):
    _here("best")
    result = ts.tune("gmm:n=64,m=64,k=64", trials=16, seed=1, threads=2, records=own, progress=None, against="best")
    assert result.comparison.libraries and result.comparison.threads == 2


def test_the_command_does_it(own):
    _here("best")
    said = ts.command("tune", "gmm:n=64,m=64,k=64", trials=16, seed=1, threads=2, database=own, against="best")
    assert said["against"]["libraries"][0]["seconds"] > 0 and said["against"]["rounds"] >= 6
    shown = ts.command("tune", "gmm:n=64,m=64,k=64", trials=16, seed=1, threads=2, database=own, against="best", text=True)
    assert "rounds beside" in shown and "the program takes" in shown, shown


@pytest.fixture
def wrong_blas(monkeypatch):
    """A BLAS whose product is wrong is reported."""
    right = OPERATORS["gmm"]

    def wrong(p, a):
        case = right(p, a)
        case.blas = lambda out: lambda: numpy.add(numpy.matmul(a["A"], a["B"], out=out), 1e-3, out=out)
        return case

    _here("blas")
    monkeypatch.setitem(OPERATORS, "gmm", wrong)


def test_what_differs_is_no_peer(result, wrong_blas):
    with pytest.raises(ts.UserError, match="blas computes something else"):
        result.best.against("blas")


def test_a_library_that_fails_leaves_the_result(wrong_blas, tmp_path):
    with pytest.warns(UserWarning, match="was not compared with blas: blas computes something else"):
        result = ts.tune("gmm:n=64,m=64,k=64", trials=2, records=tmp_path / "r.db", progress=None, against="blas")
    assert result.found and result.comparison is None


@pytest.mark.parametrize(
    "workload, library, words",
    [
        ("gmm", "blast", "expected 'torch', 'onnxruntime', 'blas' or 'best'"),
        ("capsule_conv2d", "best", "capsule_conv2d is no built-in workload that libraries are called for; those are attention_scores"),
        ("gmm:dtype=bf16", "blas", "f32 or f64 alone"),
        ("softmax", "blas", "products of matrices alone"),
    ],
)
def test_refusals_name_what_there_is(workload, library, words, tmp_path):
    with pytest.raises(ts.UserError, match=words):
        ts.tune(workload, trials=2, records=tmp_path / "r.db", progress=None, against=library)
    assert not (tmp_path / "r.db").exists()


def test_a_workload_of_ones_own_is_refused_by_its_name(tmp_path, command):
    text = ts.Workload("relu").definition.replace("relu(X[i, j])", "relu(X[i, j]) + 1")
    with pytest.raises(ts.UserError, match="relu is no built-in workload"):
        against.check(ts.Workload(text + "\n"), "torch")
    with pytest.raises(ts.UserError, match="against is for one workload"):
        ts.tune(["relu", "softmax"], against="torch")
    (tmp_path / "relu.yaml").write_text(text)
    done = subprocess.run([sys.executable, "-m", "tunesmith", "tune", tmp_path / "relu.yaml", "--trials", "2", "--against", "best", "--database", tmp_path / "r.db"], capture_output=True, text=True)
    assert done.returncode == 2 and "relu is no built-in workload that libraries are called for" in done.stderr and not (tmp_path / "r.db").exists()
    assert json.loads(subprocess.run([sys.executable, "-m", "tunesmith.against", "torch", "--check", "softmx"], capture_output=True, text=True).stdout)["error"]


def test_what_is_not_installed_is_named(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in ("torch", "onnx") else find(name, *rest))
    with pytest.raises(ts.UserError, match="torch is not installed: pip install torch"):
        against.check("gmm", "torch")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in ("torch", "onnx", "onnxruntime", "threadpoolctl") else find(name, *rest))
    with pytest.raises(ts.UserError, match="torch: .*; onnxruntime: .*; blas: threadpoolctl is not installed"):
        against.check("gmm", "best")


def test_intervals_hold_the_median():
    assert against._median_interval([1.0] * 6) == (1.0, 1.0, 1.0)
    middle, low, high = against._median_interval(list(range(30)))
    assert (middle, low, high) == (14.5, 9, 20)  # the tenth sample of 30 from either end: 95.7 %
