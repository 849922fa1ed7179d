#!/usr/bin/env python3
"""The command line as an author of kernels uses it. Usage: check_command.py TUNESMITH_CUDA_CHECK KERNELS"""
import pathlib
import subprocess
import sys
import tempfile

program, kernels = sys.argv[1], pathlib.Path(sys.argv[2])
M, N, K = 55, 61, 70
SGEMM = ["--kernel", "sgemm", "--grid", "1,1", "--block", "256", "--shared", "16896", "--arg", f"A=f32[{M * K}]", "--arg", f"B=f32[{K * N}]",
         "--arg", f"C=out:f32[{M * N}]", "--arg", f"M={M}", "--arg", f"N={N}", "--arg", f"K={K}", "--reference", str(kernels / "gemm_f32.cu")]


def run(*arguments, exit_code):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    text = done.stdout + done.stderr
    assert done.returncode == exit_code, f"exit code {done.returncode}, expected {exit_code}: {arguments}\n{text}"
    return text


text = run(kernels / "sgemm.cu", *SGEMM, exit_code=0)
assert text.count("right, largest error") == 3 and "forward" in text and "backward" in text and "random" in text, text

with tempfile.TemporaryDirectory() as folder:
    wrong = pathlib.Path(folder) / "wrong.cu"
    wrong.write_text((kernels / "sgemm.cu").read_text().replace("__syncthreads();  // loop", ""))
    text = run(wrong, *SGEMM, exit_code=1)
    assert "WRONG" in text and "race" in text and "no barrier lies between" in text, text
    wrong.write_text((kernels / "sgemm.cu").read_text().replace("+= av[i]", "-= av[i]"))
    text = run(wrong, *SGEMM, exit_code=1)
    assert "WRONG values" in text, text
    wrong.write_text("extern \"C\" __global__ void sgemm(int x) { return y; }")
    text = run(wrong, *SGEMM, exit_code=1)
    assert "does not compile" in text and "wrong.cu:1" in text, text
    wrong.write_text("extern \"C\" __global__ void k(int* out) { __shared__ int s[13000]; out[threadIdx.x] = s[threadIdx.x] = 1; }")
    text = run(wrong, "--kernel", "k", "--arg", "out=out:s32[1]", exit_code=1)
    assert "52000 bytes of static shared memory, at most 49152" in text, text

text = run(kernels / "sgemm.cu", "--kernel", "sgemm", "--arg", "A=f33[4]", exit_code=2)
assert "no type 'f33'" in text and "did you mean" in text, text
text = run(kernels / "sgemm.cu", "--kernel", "sgemm", "--arg", "A", exit_code=2)
assert "expected NAME=TYPE[COUNT]" in text, text
run(kernels / "none.cu", "--kernel", "sgemm", exit_code=2)
run(kernels / "sgemm.cu", "--kernel", "sgemm", "--grid", "x", exit_code=2)
