#!/usr/bin/env python3
"""Times networks in libraries that `tunesmith network build` wrote, in turn with onnxruntime and compiled PyTorch, each in a process of its own.

  build/peers/bin/python bench/networks/measure.py resnet50 --networks build/networks --built build/built --threads 2

make.py wrote NETWORKS/NAME.onnx and NAME.npz, `network build` wrote BUILT/NAME. Prints Markdown: the median over the rounds of the 10th percentile
of a round's calls, the range of the rounds, and the error relative to the largest result in f64.
Exit codes: 0 done; 1 somebody's result is wrong, or a contestant failed; 4 the machine is too busy."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "peers")]

import machine  # noqa: E402
from contestants import CONTESTANTS, bind  # noqa: E402


def percentile(times, part):
    return sorted(times)[int(part * (len(times) - 1))]


def worker(arguments):
    """One contestant in this process; prints its times and its error as JSON."""
    bind(arguments.threads)
    name = arguments.names[0]
    arrays = numpy.load(arguments.networks / f"{name}.npz")
    inputs = [arrays[f"input{i}"] for i in range(sum(key.startswith("input") for key in arrays))]
    folder = {"tunesmith": arguments.built / name, "tvm": arguments.tvm}.get(arguments.worker, arguments.networks)
    call = CONTESTANTS[arguments.worker](folder, name, inputs, arguments.threads)
    results = call()
    errors = []
    for i, result in enumerate(results):
        expected = arrays[f"output{i}"]
        errors.append(float(numpy.abs(result.astype(numpy.float64) - expected).max() / max(numpy.abs(expected).max(), 1e-30)))
    end, times = time.monotonic() + arguments.seconds, []
    while time.monotonic() < end or len(times) < 10:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": percentile(times[len(times) // 5:], 0.1), "calls": len(times), "error": max(errors)}))


def run_worker(arguments, name, contestant):
    command = [sys.executable, __file__, name, "--worker", contestant, "--networks", arguments.networks, "--built", arguments.built,
               "--threads", str(arguments.threads), "--seconds", str(arguments.seconds), *(["--tvm", arguments.tvm] if arguments.tvm else [])]
    environment = os.environ | {"OMP_NUM_THREADS": str(arguments.threads), "PYTHONDONTWRITEBYTECODE": "1"}
    with machine.turn():
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(lines[-1])


def measure(arguments, name):
    """{contestant: rounds}"""
    found = {contestant: [] for contestant in arguments.contestants}
    for _ in range(arguments.rounds):
        for contestant, rounds in found.items():
            if rounds and "failed" in rounds[-1]:
                continue
            if not arguments.allow_load:
                machine.wait_until_quiet(arguments.load, arguments.wait, say=lambda text: print(text, file=sys.stderr))
            rounds.append(run_worker(arguments, name, contestant))
    return found


def cell(rounds):
    if "failed" in rounds[-1]:
        return f"failed: {rounds[-1]['failed'][:80]}", None
    times = [1e3 * one["seconds"] for one in rounds]
    middle = statistics.median(times)
    return f"{middle:.3g} ms ({min(times):.3g} to {max(times):.3g}), error {rounds[0]['error']:.2g}", middle


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NETWORK")
    parser.add_argument("--networks", type=pathlib.Path, required=True)
    parser.add_argument("--built", type=pathlib.Path, required=True)
    parser.add_argument("--tvm", type=pathlib.Path, help="what tvm_network.py wrote; TVM takes part where it is given")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of a round of one contestant (default: %(default)s)")
    parser.add_argument("--contestants", type=lambda text: text.split(","), help=f"of {','.join(CONTESTANTS)} (default: all)")
    parser.add_argument("--load", type=float, default=0.15, help="processors that others may keep busy (default: %(default)s)")
    parser.add_argument("--wait", type=float, default=600, help="seconds to wait for a quiet machine (default: %(default)s)")
    parser.add_argument("--max-error", type=float, default=1e-3, help="a part of the largest result; more is wrong (default: %(default)s)")
    parser.add_argument("--allow-load", action="store_true", help="measure on a busy machine")
    parser.add_argument("--worker", choices=list(CONTESTANTS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contestants is None:
        arguments.contestants = [one for one in CONTESTANTS if one != "tvm" or arguments.tvm]
    if unknown := [one for one in arguments.contestants if one not in CONTESTANTS]:
        parser.error(f"no contestant is called '{unknown[0]}'; there are {', '.join(CONTESTANTS)}")
    if "tvm" in arguments.contestants and not arguments.tvm:
        parser.error("the contestant 'tvm' needs --tvm FOLDER, which tvm_network.py writes")
    if arguments.worker:
        worker(arguments)
        return 0
    print(f"| network | {' | '.join(arguments.contestants)} | fastest other over Tunesmith |")
    print("|---" * (len(arguments.contestants) + 2) + "|")
    right = True
    for name in arguments.names:
        try:
            found = measure(arguments, name)
        except machine.Loaded as reason:
            print(reason, file=sys.stderr)
            return 4
        cells = {contestant: cell(rounds) for contestant, rounds in found.items()}
        right &= all("failed" not in one and one["error"] <= arguments.max_error for rounds in found.values() for one in rounds)
        others = [middle for contestant, (_, middle) in cells.items() if contestant != "tunesmith" and middle]
        own = cells.get("tunesmith", (None, None))[1]
        ratio = f"{min(others) / own:.2f}" if own and others else "-"
        print(f"| {name} | {' | '.join(text for text, _ in cells.values())} | {ratio} |", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
