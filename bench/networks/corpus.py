#!/usr/bin/env python3
"""Small networks of torchvision, timm, transformers and keras: which are refused, built, tuned and verified?

  corpus.py make --output FOLDER [NETWORK...]                      needs torch, torchvision, timm, transformers, keras, onnxscript
  corpus.py try --tunesmith PATH --networks FOLDER [NETWORK...]    needs numpy; prints a table, and exits with 1 where one that builds goes wrong

Each network is FOLDER/NETWORK/model.onnx with input_0.npy and so on, and PyTorch's results in expected_0.npy and so on. `try` continues an earlier
run: it skips networks that are in FOLDER/results.json (with --untuned in FOLDER/built.json).
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

TRIALS_OF_A_KERNEL = 3
BOUND = 0.05  # of typical results, above which a step counts as not verified


def export(name, folder):
    import torch

    import corpus_list
    import detectors
    import make
    torch.manual_seed(0)
    module, inputs = corpus_list.NETWORKS[name]()
    make.randomise_norms(module.eval())
    if name in detectors.NETWORKS:
        detectors.spread(module, inputs)
    folder.mkdir(parents=True, exist_ok=True)
    options = {"dynamo": False, "opset_version": 17} if name in corpus_list.TRACED else {"dynamo": True, "external_data": False, "verbose": False}
    with torch.no_grad():
        torch.onnx.export(module, inputs, str(folder / "model.onnx"), **options)
        results = module(*inputs)
    while isinstance(results, (list, tuple)) and len(results) == 1:
        results = results[0]
    results = list(results.values()) if isinstance(results, dict) else [results] if torch.is_tensor(results) else list(results)
    given = [x for each in inputs for x in (each if isinstance(each, list) else [each])]
    for kind, tensors in (("input", given), ("expected", results)):
        for i, tensor in enumerate(tensors):
            numpy.save(folder / f"{kind}_{i}.npy", tensor.numpy())


def make_all(arguments):
    import corpus_list
    failed = []
    for name in arguments.names or corpus_list.NETWORKS:
        try:
            export(name, arguments.output / name)
            print(f"{name}: {(arguments.output / name / 'model.onnx').stat().st_size / 1e6:.1f} MB", flush=True)
        except Exception as error:  # whatever a library throws, the other networks can still be made
            failed.append(name)
            print(f"{name}: not made: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)
    return 1 if failed else 0


class Failed(Exception):
    """Says what went wrong in one line."""


def network(arguments, *words, codes=(0,)):
    # Times do not matter here, so a lock of this process avoids waiting for other runs.
    lock = f"{tempfile.gettempdir()}/corpus-{os.getpid()}.lock"
    done = subprocess.run([arguments.tunesmith, "network", *map(str, words)], capture_output=True, text=True, env=os.environ | {"TUNESMITH_MACHINE_LOCK": lock})
    if done.returncode not in codes:
        raise Failed(f"network {words[0]} answers {done.returncode}: {' '.join(done.stderr.split())[:400]}")
    return done


def compare(folder, results):
    """The largest difference from PyTorch's results, relative to the largest element."""
    worst = 0.0
    for file in sorted(folder.glob("expected_*.npy")):
        expected, found = numpy.load(file), numpy.load(results / file.name.replace("expected", "output"))
        if found.shape != expected.shape:
            raise Failed(f"{file.name}: its shape is {found.shape}, expected {expected.shape}")
        worst = max(worst, float(numpy.abs(found.astype(float) - expected.astype(float)).max() / max(1e-6, numpy.abs(expected.astype(float)).max())))
    if not worst <= 1e-3:
        raise Failed(f"results are off by {worst:.2g} of the largest")
    return worst


def try_one(arguments, folder):
    """Imports, builds and tunes a network as far as it gets; returns what was found."""
    known = {"refused": "", "built": False, "tuned": False, "as_written": [], "verified": False, "unverified": [], "failed": ""}
    model = [folder / "model.onnx"]
    done = network(arguments, "import", *model, "--json", codes=(0, 2, 4))
    imported = json.loads(done.stdout or "{}") or {"refused": " ".join(done.stderr.split())[:400]}
    if imported.get("open_extents"):  # keras leaves the batch open
        model += [word for name in imported["open_extents"] for word in ("--dim", f"{name}=1")]
        imported = json.loads(network(arguments, "import", *model, "--json", codes=(0, 2, 4)).stdout or "{}")
    unknown = [operator["op"] for operator in imported.get("unknown_operators", [])]
    known["refused"] = ", ".join(unknown) or imported.get("refused") or ""
    if known["refused"]:
        return known
    inputs = [word for file in sorted(folder.glob("input_*.npy"), key=lambda file: int(file.stem[6:])) for word in ("--input", file)]
    with tempfile.TemporaryDirectory() as temporary:
        place = pathlib.Path(temporary)
        try:
            network(arguments, "build", *model, "--unscheduled", "--name", "one", "--output", place / "plain")
            network(arguments, "run", place / "plain", *inputs, "--output", place / "plain_results")
            compare(folder, place / "plain_results")
            known["built"] = True
            if arguments.untuned:
                return known
            began = time.monotonic()
            said = json.loads(network(arguments, "tune", *model, "--name", "one", "--output", place / "tuned", "--database", place / "records.db", "--seed", 1, "--trials",
                                      TRIALS_OF_A_KERNEL * imported["kernels"], "--json").stdout)
            known["seconds"] = round(time.monotonic() - began)
            known["tasks"], known["as_written"] = len(said["tuning"]["tasks"]), [f"{one['name']}: {one['why']}" for one in said["built"]["as_written"]]
            network(arguments, "run", place / "tuned", *inputs, "--output", place / "results")
            known["error"] = compare(folder, place / "results")
            known["tuned"] = True
            verified = json.loads(network(arguments, "verify", place / "tuned", "--json", codes=(0, 1)).stdout)
            known["unverified"] = [f"{step['name']}: {step['faults'] or step['looseness']}" for call in verified["calls"] for step in call["steps"]
                                   if not step["right"] or (step["looseness"] or 0) > BOUND]
            known["verified"] = verified["right"] and not known["unverified"]
        except Failed as error:
            known["failed"] = str(error)
    return known


def try_all(arguments):
    file = arguments.networks / ("built.json" if arguments.untuned else "results.json")
    results = json.loads(file.read_text()) if file.exists() else {}
    for folder in sorted(path.parent for path in arguments.networks.glob("*/model.onnx")):
        if folder.name not in (arguments.names or [folder.name]) or folder.name in results:
            continue
        try:
            results[folder.name] = try_one(arguments, folder)
        except Failed as error:
            results[folder.name] = {"failed": str(error)}
        file.write_text(json.dumps(results, indent=1))
        print(f"{folder.name}: {json.dumps(results[folder.name])[:600]}", flush=True)
    counts = collections.Counter()
    for known in results.values():
        counts.update(key for key in ("refused", "built", "tuned", "verified", "failed", "as_written") if known.get(key))
    print(f"{len(results)} networks: " + ", ".join(f"{counts[key]} {key.replace('_', ' ')}" for key in ("refused", "built", "tuned", "verified", "as_written", "failed")))
    return 1 if any(known.get("failed") or (known.get("built") and not known.get("verified") and not arguments.untuned) for known in results.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    made, tried = commands.add_parser("make"), commands.add_parser("try")
    made.add_argument("--output", type=pathlib.Path, required=True)
    made.set_defaults(run=make_all)
    tried.add_argument("--tunesmith", required=True)
    tried.add_argument("--networks", type=pathlib.Path, required=True)
    tried.add_argument("--untuned", action="store_true", help="import, build and call alone")
    tried.set_defaults(run=try_all)
    for command in (made, tried):
        command.add_argument("names", nargs="*", metavar="NETWORK")
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
