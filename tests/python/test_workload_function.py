"""Workloads that are written as Python functions."""
import numpy
import pytest

import tunesmith as ts


@ts.workload
def product(A: ts.f32["n", "k"], B: ts.f32["k", "m"], *, n=64, m=64, k=64):
    """A matrix product."""
    C[i < n, j < m] = sum(r < k)(A[i, r] * B[r, j])  # noqa: F821
    return C  # noqa: F821


TEXT = """name: product
params: {n: 64, m: 64, k: 64}
inputs:
  A: {shape: [n, k], dtype: f32}
  B: {shape: [k, m], dtype: f32}
compute: |
  C[i<n, j<m] = sum(r<k) A[i, r] * B[r, j]
outputs: [C]
"""


def test_it_is_the_same_task_as_the_text():
    assert product(n=32).hash == ts.Workload(TEXT, n=32).hash
    assert product(n=32).key == ts.Workload(TEXT, n=32).key == "product:n=32,m=64,k=64"
    assert "A matrix product." in product.text and repr(product) == "<workload product>"
    assert ts.Schedule(product).workload == product()


def test_it_computes():
    random = numpy.random.default_rng(0)
    A, B = random.random((8, 4), dtype="float32"), random.random((4, 8), dtype="float32")
    numpy.testing.assert_allclose(product(n=8, m=8, k=4).program.run(A, B), A @ B, rtol=1e-5)


def test_attention():
    @ts.workload
    def attention(Q: ts.f32["n", "d"], K: ts.f32["n", "d"], V: ts.f32["n", "d"].constant, *, n=16, d=8):
        assert n % 2 == 0
        half = n // 2
        S[i < n, j < n] = sum(r < d)(Q[i, r] * K[j, r]) * rsqrt(f32(d))  # noqa: F821
        M[i] = max(j)(S[i, j])  # noqa: F821
        E[i, j] = exp(S[i, j] - M[i])  # noqa: F821
        Z[i] = sum(j)(E[i, j])  # noqa: F821
        O[i, c < d] = sum(j)(E[i, j] * V[j, c]) / Z[i]  # noqa: E741,F821
        return O  # noqa: F821

    random = numpy.random.default_rng(1)
    Q, K, V = (random.random((16, 8), dtype="float32") for _ in range(3))
    scores = Q @ K.T / numpy.sqrt(8)
    weights = numpy.exp(scores - scores.max(1, keepdims=True))
    expected = weights / weights.sum(1, keepdims=True) @ V
    numpy.testing.assert_allclose(attention.workload.program.run(Q, K, V), expected, rtol=1e-4)
    assert attention.workload.inputs[2].constant
    with pytest.raises(ts.UserError, match="n % 2"):
        attention(n=3)


def test_types_are_parameters_too():
    @ts.workload
    def double(A: ts.dtype("dtype")["n"], *, n=8, dtype="f32"):
        C[i < n] = A[i] + A[i]  # noqa: F821
        return C  # noqa: F821

    assert double(dtype=ts.i32).inputs[0].dtype == "i32" and double().inputs[0].dtype == "f32"


def refused(make):
    with pytest.raises(ts.UserError) as caught:
        make()
    return str(caught.value)


def test_mistakes_are_shown_where_they_are_written():
    def choice(A: ts.f32["n"], *, n=8):
        C[i < n] = A[i] if i < 3 else 0  # noqa: F821
        return C  # noqa: F821

    text = refused(lambda: ts.workload(choice))
    assert "test_workload_function.py:" in text and "select(condition, a, b)" in text
    assert text.splitlines()[-1].index("^") == text.splitlines()[-2].index("A[i]")

    def untyped(A, *, n=8):
        return A

    assert "'A' needs its type and shape" in refused(lambda: ts.workload(untyped))

    def loop(A: ts.f32["n"], *, n=8):
        for i in range(n):
            C[i] = A[i]  # noqa: F821
        return C  # noqa: F821

    assert "expected C[i < n, j < m] = ..." in refused(lambda: ts.workload(loop))

    def nothing(A: ts.f32["n"], *, n=8):
        C[i < n] = A[i]  # noqa: F821

    assert "it returns nothing" in refused(lambda: ts.workload(nothing))

    def unknown(A: ts.f32["n"], *, n=8):
        C[i < n] = B[i]  # noqa: F821
        return C  # noqa: F821

    text = refused(lambda: ts.workload(unknown))
    assert "B" in text and "^" in text
