#!/usr/bin/env python3
"""Random networks beside ONNX Runtime: operators with drawn attributes and types, and graphs of views, joins, products and attention.

Usage: drawn.py --tunesmith PATH [--first SEED] [--count N] [--tune EVERY] [--keep FOLDER]

Needs onnx, onnxruntime, ml_dtypes and numpy, as bench/peers/requirements.txt has them; exits with 77 without. A network depends on its seed alone. Each is built
and called; with --tune 10 each tenth is also tuned with 8 trials, and its library called. Those that are wrong, end in a crash or take more than 2 GB are named
with their seeds; --keep leaves the folders of these, for `tunesmith network test`.
"""
import argparse
import collections
import json
import pathlib
import resource
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import numpy
    import onnx

    import drawn_counted
    import drawn_moves
    import drawn_reads
    import drawn_values
    import tuned
    from drawing import Drawing, type_of
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOGETHER = 100  # networks of one process
TRIALS = 8


def drawing_of(seed):
    d = Drawing(seed)
    drawn_values.first_inputs(d)
    operators = d.choose.choice((drawn_values.OPERATORS, drawn_moves.OPERATORS, drawn_values.OPERATORS + drawn_moves.OPERATORS, drawn_reads.OPERATORS, drawn_values.OPERATORS + drawn_reads.OPERATORS,
                                 drawn_counted.OPERATORS, drawn_values.OPERATORS + drawn_counted.OPERATORS))
    for _ in range(d.choose.randint(2, 14)):
        d.choose.choice(operators)(d)
    return d


def as_file(array):
    """Writes bf16 as its bytes, since NumPy's files do not have the type."""
    array = array.copy()
    return array.view("V2") if type_of(array) == "bf16" else array


def write_network(seed, folder):
    """Writes the network of this seed with ONNX Runtime's results; returns the names of its operators, or None if it computes nothing."""
    d = drawing_of(seed)
    model, results = d.model()
    if model is None:
        return ()
    folder.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, tensors in (("input", d.inputs.values()), ("expected", [d.values[name] for name in results])):
        for i, values in enumerate(tensors):
            numpy.save(folder / f"{kind}_{i}.npy", as_file(values))
    return [node.op_type for node in d.nodes]


class Totals:
    def __init__(self):
        self.networks = self.tuned = 0
        self.operators, self.bad = collections.Counter(), []

    def say(self, seed, what):
        self.bad.append(seed)
        print(f"seed {seed}: {what}", flush=True)


def run_seeds(arguments, seeds, folder, totals):
    there = []
    for seed in seeds:
        operators = write_network(seed, folder / str(seed))
        if operators:
            there.append(seed)
            totals.operators.update(operators)
    before = len(totals.bad)
    done = tuned.run(arguments.tunesmith, "network", "test", folder, "--json", *(["--processes", arguments.processes] if arguments.processes else []))
    if done.returncode not in (0, 1):
        totals.say(seeds[0], f"network test answers {done.returncode}: {done.stderr.strip()}")
        return
    for test in json.loads(done.stdout)["tests"]:
        if test["result"] != "passed":
            totals.say(int(pathlib.Path(test["folder"]).name), f"{test['result']}: {test['message']}")
    totals.networks += len(there)
    for seed in there:
        if arguments.tune and seed % arguments.tune == 0:
            totals.tuned += 1
            said = tuned.fault_of(arguments.tunesmith, folder / str(seed), TRIALS)
            if said:
                totals.say(seed, said)
    if arguments.keep:
        for seed in totals.bad[before:]:
            shutil.copytree(folder / str(seed), arguments.keep / str(seed), dirs_exist_ok=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if peak > tuned.MEMORY:
        print(f"seeds {seeds[0]} to {seeds[-1]}: a process took {peak / 2 ** 30:.1f} GB")
        totals.bad.append(seeds[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--tune", type=int, metavar="EVERY", help="tune the networks whose seeds are multiples of this, too")
    parser.add_argument("--processes", type=int, help="of `network test` (default: its own)")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    totals = Totals()
    for first in range(arguments.first, arguments.first + arguments.count, TOGETHER):
        seeds = range(first, min(first + TOGETHER, arguments.first + arguments.count))
        with tempfile.TemporaryDirectory() as temporary:
            run_seeds(arguments, seeds, pathlib.Path(temporary), totals)
        print(f"seeds {arguments.first} to {seeds[-1]}: {totals.networks} networks, {totals.tuned} of them tuned, {len(totals.bad)} wrong", flush=True)
    print("operators: " + ", ".join(f"{name} {count}" for name, count in sorted(totals.operators.items())))
    return 1 if totals.bad else 0


if __name__ == "__main__":
    sys.exit(main())
