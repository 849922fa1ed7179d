"""Kernels: built from records, called with arrays of any library."""
import array
import subprocess
import sys
import threading

import numpy
import pytest

import tunesmith as ts


@pytest.fixture(scope="module")
def kernel(result):
    return result.best.build()


@pytest.fixture
def operands():
    return [numpy.random.default_rng(seed).random((1, 64, 64), dtype="float32") for seed in (1, 2)]


def test_it_is_called(kernel, operands):
    A, B = operands
    C = kernel(A, B)
    assert C.shape == (1, 64, 64) and C.dtype == numpy.float32
    numpy.testing.assert_allclose(C, A @ B, rtol=1e-4)
    out = numpy.zeros_like(C)
    assert kernel(A, B, out=out) is out
    numpy.testing.assert_array_equal(out, C)
    assert "Kernel gmm(" in repr(kernel) and "record" in kernel.provenance and kernel.threads == 2 and not kernel.prepares


def test_anything_with_memory(kernel, operands):
    A, B = operands
    C = kernel(A, B)
    out = array.array("f", bytes(C.nbytes))
    kernel(memoryview(A), B, out=memoryview(out).cast("B").cast("f", (1, 64, 64)))
    numpy.testing.assert_array_equal(numpy.frombuffer(out, "float32"), C.ravel())


def test_torch(kernel, operands):
    torch = pytest.importorskip("torch")
    A, B = map(torch.from_numpy, operands)
    C = kernel(A, B)
    assert isinstance(C, torch.Tensor)
    torch.testing.assert_close(C, A @ B)
    out = torch.empty_like(C)
    assert kernel(A, B, out=out) is out and torch.equal(out, C)
    with pytest.raises(ts.UserError, match="requires gradients.*detach"):
        kernel(A.clone().requires_grad_(), B)
    with pytest.raises(ts.UserError, match="row-major"):
        kernel(A.transpose(1, 2), B)
    with pytest.raises(ts.UserError, match=r"expected f32\[1, 64, 64\], not f64\[1, 64, 64\]"):
        kernel(A.double(), B)


def test_a_tensor_without_its_memory(kernel, operands):
    torch = pytest.importorskip("torch")
    A, B = map(torch.from_numpy, operands)

    def freed(bytes_left, begin=0):
        tensor = torch.empty(begin + A.numel())[begin:].view(A.shape)
        tensor.untyped_storage().resize_(bytes_left)
        return tensor

    for tensor in (freed(0), freed(0, 16), freed(4 * A.numel() - 1), freed(4 * A.numel(), 16)):
        for arguments, out in [((tensor, B), None), ((A, tensor), None), ((A, B), tensor)]:
            with pytest.raises(ts.UserError, match="its storage was freed"):
                kernel(*arguments, out=out)
        with pytest.raises(ts.UserError, match="its storage was freed"):
            ts.Workload("gmm:n=64,m=64,k=64").program.run(tensor, B)
    whole = freed(4 * A.numel() + 64, 16)
    whole.copy_(A)
    torch.testing.assert_close(kernel(whole, B), A @ B)


def test_what_does_not_fit_is_said_in_words(kernel, operands):
    A, B = operands
    right = numpy.empty_like(A)
    for arguments, out, words in [
        ((A,), None, "gmm takes 2 arrays, not 1"),
        ((A, B[:, :32]), None, r"argument 2, 'B': expected f32\[1, 64, 64\], not f32\[1, 32, 64\]"),
        ((A.astype("float64"), B), None, r"'A': expected f32\[1, 64, 64\], not f64\[1, 64, 64\]; arguments are not converted"),
        ((A.transpose(0, 2, 1), B), None, "'A': its elements are not contiguous.*ascontiguousarray"),
        ((A, [1.0]), None, "argument 2, 'B': expected .* not <class 'list'>"),
        ((A, None), None, "NoneType"),
        ((A, B), right[:, :, ::2], r"argument 3, 'C': expected f32\[1, 64, 64\], not f32\[1, 64, 32\]"),
        ((A, B), (right, right), "out: expected 1 arrays, not 2"),
        ((A, B), A, "out: the memory of argument 1 is written while it is read"),
    ]:
        with pytest.raises(ts.UserError, match=words):
            kernel(*arguments, out=out)
    for named in ({"A": A}, {"out": right, "B": B}):
        with pytest.raises(ts.UserError, match="a kernel takes arrays, and out="):
            kernel(A, B, **named)
    right.flags.writeable = False
    with pytest.raises(ts.UserError, match="argument 3, 'C'.*read-only"):
        kernel(A, B, out=right)
    A.flags.writeable = False
    kernel(A, B)


def test_threads_call_one_kernel(kernel, operands):
    A, B = operands
    expected = kernel(A, B)
    wrong = []

    def work():
        for _ in range(200):
            if not numpy.array_equal(kernel(A, B), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_several_outputs_and_types(tmp_path):
    text = """name: both
params: {n: 64}
inputs:
  A: {shape: [n], dtype: i32}
  B: {shape: [n], dtype: f64}
compute: |
  C[i<n] = A[i] * 2
  D[i] = B[i] + 1
outputs: [C, D]
"""
    result = ts.tune(text, trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    kernel = result.best.build()
    A, B = numpy.arange(64, dtype="int32"), numpy.arange(64, dtype="float64")
    C, D = kernel(A, B)
    assert C.dtype == numpy.int32 and D.dtype == numpy.float64
    numpy.testing.assert_array_equal(C, A * 2)
    numpy.testing.assert_array_equal(D, B + 1)
    outs = numpy.empty_like(C), numpy.empty_like(D)
    assert kernel(A, B, out=outs)[0] is outs[0]
    numpy.testing.assert_array_equal(outs[1], D)


def test_constant_inputs_are_prepared_again(tmp_path):
    workload = ts.Workload("gmm:n=64,m=64,k=64,constant_b=1")
    ts.tune(workload, trials=48, threads=1, seed=1, records=tmp_path / "r.db", progress=None)
    kernels = [record.build() for record in ts.Records(tmp_path / "r.db").best(workload, 20, threads=1)]
    kernel = next((kernel for kernel in kernels if kernel.prepares), None)
    if kernel is None:
        pytest.skip("none of the best programs prepares anything")
    A, B, other = (numpy.random.default_rng(seed).random((1, 64, 64), dtype="float32") for seed in (1, 2, 3))
    numpy.testing.assert_allclose(kernel(A, B), A @ B, rtol=1e-4)
    numpy.testing.assert_allclose(kernel(A, other), A @ other, rtol=1e-4)
    other[:] = B
    kernel.constants_changed()
    numpy.testing.assert_allclose(kernel(A, other), A @ B, rtol=1e-4)


def test_arrays_with_gaps_have_no_caller(tmp_path):
    text = "name: part\ninputs:\n  X: {shape: [8, 16], dtype: f32}\ncompute: |\n  Y[i<8, j<16] = X[i, j] * 2.0\noutputs: [Y]\nstrides:\n  Y: [32, 1]\n"
    best = ts.tune(ts.Workload(text), trials=4, records=tmp_path / "r.db", progress=None).best
    for caller in (best.build, lambda: best.library(tmp_path)):
        with pytest.raises(ts.UserError, match="'Y' has gaps between its elements"):
            caller()


def test_bf16_is_bits_in_numpy(tmp_path):
    text = """name: double
params: {n: 64}
inputs:
  A: {shape: [n], dtype: bf16}
compute: |
  C[i<n] = A[i] + A[i]
outputs: [C]
"""
    double = ts.tune(text, trials=2, threads=1, records=tmp_path / "r.db", progress=None).best.build()
    A = numpy.arange(64, dtype="float32")
    bits = (A.view("uint32") >> 16).astype("uint16")
    for C in (ts.Workload(text).program.run(bits), double(bits)):
        assert C.dtype == numpy.uint16
        numpy.testing.assert_array_equal((C.astype("uint32") << 16).view("float32"), 2 * A)
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(A).bfloat16()
    for C in (ts.Workload(text).program.run(tensor), double(tensor)):
        assert C.dtype == torch.bfloat16 and torch.equal(C, tensor + tensor)


def test_a_library_in_c(result, tmp_path, operands):
    import ctypes

    library, header, *others = result.best.library(tmp_path / "lib", name="product", example=True)
    assert "product(" in open(header).read()
    A, B = operands
    C = numpy.empty_like(A)
    buffers = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in (A, B, C)))
    assert ctypes.CDLL(library).product_raw(buffers) == 0
    numpy.testing.assert_array_equal(C, result.best.build()(A, B))
    example = next(file for file in others if file.endswith(".py"))
    assert "checksum of out_2" in subprocess.run([sys.executable, example], capture_output=True, text=True, check=True).stdout


def test_a_forked_child_is_refused(python, records):
    script = """
import os, sys
import numpy
import tunesmith as ts
kernel = ts.Records(sys.argv[1]).best("gmm:n=64,m=64,k=64", threads=2)[0].build()
A = numpy.ones((1, 64, 64), "float32")
kernel(A, A)
child = os.fork()
if child == 0:
    try:
        kernel(A, A)
    except ts.EnvironmentFault:
        os._exit(0)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), kernel(A, A)[0, 0, 0])
"""
    assert python(script, records) == "0 64.0\n"
