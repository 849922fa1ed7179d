"""Workloads: by name, by text, from a file, and what is wrong with one."""
import pickle

import pytest

import tunesmith as ts

ADD = """name: add
params: {n: 8}
inputs:
  A: {shape: [n], dtype: f32}
  B: {shape: [n], dtype: f32}
compute: |
  C[i<n] = A[i] + B[i]
outputs: [C]
"""


def test_one_computation_is_one_task_however_it_is_written(tmp_path):
    named = ts.Workload("gmm:n=64,m=32,k=16")
    assert ts.Workload("gmm", n=64, m=32, k=16) == named
    assert ts.Workload("gmm:n=64", m=32, k=16).key == named.key
    file = tmp_path / "copy.yaml"
    file.write_text(named.definition)
    for other in (ts.Workload(file, n=64, m=32, k=16), ts.Workload(named.definition, n=64, m=32, k=16)):
        assert other.hash == named.hash and other.key == named.key
    assert ts.Workload("gmm:n=64,m=32,k=8").hash != named.hash
    assert ts.Workload("gmm:n=64,m=32,k=8") != named and named != "gmm"


def test_it_says_what_it_is():
    workload = ts.Workload("gmm:n=64,m=32,k=16")
    assert [(buffer.dtype, buffer.shape[-2:]) for buffer in workload.inputs] == [("f32", (64, 16)), ("f32", (16, 32))]
    assert workload.outputs[0].shape[-2:] == (64, 32)
    assert workload.params["n"] == 64 and workload.params["dtype"] == "f32"
    assert workload.flops == 2 * 64 * 32 * 16
    assert "gmm:b=1,n=64" in repr(workload) and "f32[1, 64, 16]" in repr(workload)
    assert "<pre>" in workload._repr_html_()
    assert "softmax" in ts.workloads()


def test_a_text_of_ones_own():
    workload = ts.Workload(ADD, n=4)
    assert workload.key == "add:n=4" and [buffer.name for buffer in workload.inputs] == ["A", "B"]


@pytest.mark.parametrize("make", [lambda: ts.Workload("gmm:n=64,m=32,k=16"), lambda: ts.Workload(ADD, n=4)])
def test_pickles(make):
    workload = make()
    again = pickle.loads(pickle.dumps(workload))
    assert again == workload and again.definition.strip() == workload.definition.strip() and hash(again) == hash(workload)


def test_mistakes_are_shown_at_their_place():
    with pytest.raises(ts.UserError) as caught:
        ts.Workload(ADD.replace("B[i]", "D[i]"))
    error = caught.value
    assert isinstance(error, ts.Error) and error.line == 7
    text = str(error).splitlines()
    assert text[-2].lstrip() == "C[i<n] = A[i] + D[i]"
    assert text[-1].index("^") == text[-2].index("D")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.column == error.column


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: ts.Workload("softmx"), "softmax"),
        (lambda: ts.Workload("gmm", nn=3), "nn"),
        (lambda: ts.Workload("gmm:n=64", n=64), "'n' is given twice"),
        (lambda: ts.Workload("gmm", n="many"), "many"),
        (lambda: ts.Schedule(17), "expected a workload"),
    ],
)
def test_mistakes_are_said_in_words(make, words):
    with pytest.raises(ts.UserError, match=words):
        make()
