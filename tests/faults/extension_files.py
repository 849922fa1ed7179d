#!/usr/bin/env python3
"""Mistakes in an extension's file are named with their lines, and do not end a command.
Usage: extension_files.py --tunesmith BINARY"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# The instruction of the built-in extension vnni, whose `requires:` was forgotten.
NO_REQUIRES = """extension: forgetful
target: llvm
intrinsics:
  - name: forgetful_dot
    semantics: |
      inputs:
        A: {shape: [4], dtype: u8}
        B: {shape: [16, 4], dtype: i8}
      compute: |
        C[j<16] = sum(k<4) i32(A[k]) * i32(B[j, k])
      outputs: [C]
    operands:
      B: {strides: [4, 1], scope: global}
    implementation: {intrinsic: llvm.x86.avx512.vpdpbusd.512, arguments: [C, A, B]}
"""
ASSEMBLY = """extension: %(name)s
target: llvm
intrinsics:
  - name: %(name)s_double
    semantics: |
      inputs: {X: {shape: [4], dtype: f32}}
      compute: |
        O[i<4] = X[i] + X[i]
      outputs: [O]
    implementation:
      arguments: [X]
      fragment: |
        %%r = call <4 x float> asm "%(code)s $1, $1, $0", "=x,x"(<4 x float> %%X)
        ret <4 x float> %%r
"""
SPACES = """version: 1
default: tested
spaces:
  tested:
    extends: cpu
    target: {kind: llvm, mcpu: x86-64-v3, with: [./no_requires.yaml, ./good.yaml, ./bad.yaml]}
    modules+:
      - before: register_tile
        use: script
        options:
          match: [C]
          claim: false
          trace: |
            z, i, j, k = get_loops(block)
            j0, j1 = split(j, [None, 16])
            k0, k1 = split(k, [None, 4])
            packed = cache_read(block, 1, "global")
            transform_layout(packed, "write", 0, "(z, r, j) -> (z, j // 16, r // 4, j % 16, r % 4)")
            reorder([k0, j1, k1])
            init = decompose_reduction(block, k0)
            called = tensorize(j1, "forgetful_dot")
"""
WORKLOAD = "gmm:n=8,m=32,k=16,dtype=u8,b_dtype=i8"
DOUBLE = "name: double\ninputs: {X: {shape: [64], dtype: f32}}\ncompute: |\n  O[i<64] = X[i] + X[i]\noutputs: [O]\n"
CALL = 'o = get_block("O")\ni = get_loops(o)\na, b = split(i, [None, 4])\nt = tensorize(b, "{}_double")\n'
REFUSED = [
    "no_requires.yaml:14:33: ",
    "extension 'forgetful': tensor intrinsic forgetful_dot cannot be compiled",
    "the compiler failed (Aborted): LLVM ERROR: ",
    "avx512vnni, which the target lacks: declare it with requires: [avx512vnni]",
    "bad.yaml:13: tensor intrinsic bad_double: invalid instruction mnemonic 'vadddps'",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "no_requires.yaml").write_text(NO_REQUIRES)
        for extension, code in (("good", "vaddps"), ("bad", "vadddps")):
            (folder / f"{extension}.yaml").write_text(ASSEMBLY % {"name": extension, "code": code})
        spaces, database = folder / "spaces.yaml", folder / "records.db"
        spaces.write_text(SPACES)
        (folder / "double.yaml").write_text(DOUBLE)

        def run(*words, code=0):
            done = subprocess.run([arguments.tunesmith, *map(str, words), "--spaces", spaces], capture_output=True, text=True, timeout=120)
            if "this machine lacks" in done.stderr:
                print("skipped:", done.stderr)
                sys.exit(0)
            assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
            return done

        def says_once(text):
            for part in REFUSED:
                assert text.count(part) == 1, (part, text)
            assert "good" not in text, text

        says_once(run("spaces", "lint", code=2).stderr)
        says_once(run("spaces", "explain", WORKLOAD).stderr)
        refused = json.loads(run("spaces", "explain", WORKLOAD, "--json").stdout)["refused"]
        assert len(refused) == 2 and "bad_double" in refused[0] and "forgetful_dot" in refused[1], refused

        # The run continues, and so does the one after it.
        for trials in (8, 12):
            tuned = run("tune", WORKLOAD, "--database", database, "--trials", trials, "--threads", 1, "--quiet")
            said = [line for line in tuned.stderr.splitlines() if line.endswith("; space 'tested' continues without it")]
            assert len(said) == 2, tuned.stderr
            says_once("\n".join(said))
        # Every schedule that calls the instruction is refused because of it.
        samples = json.loads(run("spaces", "sample", WORKLOAD, "--count", 16, "--json").stdout)["samples"]
        refused = [sample["decisions"] for sample in samples if sample["decisions"].startswith("refused: ")]
        assert refused and all("no_requires.yaml:14:33: " in one and "forgetful_dot cannot be compiled" in one for one in refused), samples

        (folder / "good.trace").write_text(CALL.format("good"))
        shown = run("trace", "show", folder / "good.trace", "--workload", folder / "double.yaml", "--assembly")
        assert "vaddps" in shown.stdout, shown.stdout
        (folder / "bad.trace").write_text(CALL.format("bad"))
        shown = run("trace", "show", folder / "bad.trace", "--workload", folder / "double.yaml", "--assembly", code=2)
        assert shown.stderr.count("bad.yaml:13: tensor intrinsic bad_double: invalid instruction mnemonic") == 2, shown.stderr


if __name__ == "__main__":
    main()
