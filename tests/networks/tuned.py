#!/usr/bin/env python3
"""Networks with known results, tuned into libraries that are called: do they give what is expected?

Usage: tuned.py --tunesmith PATH [--trials N] FOLDER...

A folder, or each folder below it, has model.onnx, input_N.npy and expected_N.npy. Needs numpy; exits with 77 without.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MEMORY = 2 << 30  # the limit for each process
SECONDS = 900


def run(*words):
    """Runs a command with limited memory; a signal ends it if it takes too long."""
    os.environ["TUNESMITH_MACHINE_LOCK"] = f"{tempfile.gettempdir()}/tuned-{os.getpid()}.lock"  # times do not matter here, so do not wait for other runs

    def limited():
        resource.setrlimit(resource.RLIMIT_DATA, (2 * MEMORY, 2 * MEMORY))
    return subprocess.run(["timeout", "-s", "INT", "-k", "20", str(SECONDS), *map(str, words)], capture_output=True, text=True, preexec_fn=limited)


def widened(array):
    """Reads floats as f64. Files contain bf16 as bytes, since NumPy does not have the type."""
    if array.dtype == "V2":
        return (array.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64), 2.0 ** -5
    return array.astype(numpy.float64), 2.0 ** -8 if array.dtype == numpy.float16 else 1e-3


def difference(found, expected):
    """The fault, by the rules of `network test`."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if found.dtype.kind in "iub":
        wrong = found != expected
    else:
        (values, relative), (wanted, _) = widened(found), widened(expected)
        wrong = ~numpy.isclose(values, wanted, relative, 1e-5, equal_nan=True)
    return f"{int(wrong.sum())} of {wrong.size} elements are wrong" if wrong.any() else ""


def numbered(folder, kind):
    return [folder / f"{kind}_{i}.npy" for i in range(len(list(folder.glob(f"{kind}_*.npy"))))]


def fault_of(tunesmith, folder, trials):
    """Tunes, builds and calls a network; returns the fault, or None."""
    with tempfile.TemporaryDirectory() as temporary:
        place = pathlib.Path(temporary)
        done = run(tunesmith, "network", "tune", folder / "model.onnx", "--trials", trials, "--seed", 1, "--database", place / "records.db", "--output", place / "built", "--name", "kept", "-q")
        if done.returncode != 0 or "invariant" in done.stderr:
            return f"network tune answers {done.returncode}: {done.stderr.strip()}"
        inputs = [word for file in numbered(folder, "input") for word in ("--input", file)]
        done = run(tunesmith, "network", "run", place / "built", *inputs, "--output", place / "results")
        if done.returncode != 0:
            return f"network run answers {done.returncode}: {done.stderr.strip()}"
        for i, file in enumerate(numbered(folder, "expected")):
            said = difference(numpy.load(place / "results" / f"output_{i}.npy"), numpy.load(file))
            if said:
                return f"tuned, output {i}: {said}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    networks = sorted(file.parent for folder in arguments.folders for file in folder.rglob("model.onnx"))
    assert networks, "no folder with a model.onnx found"
    wrong = 0
    for folder in networks:
        fault = fault_of(arguments.tunesmith, folder, arguments.trials)
        wrong += bool(fault)
        print(f"{folder}: {fault or 'right'}", flush=True)
    print(f"{len(networks)} networks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
