#!/usr/bin/env python3
"""Tunes a network with Apache TVM's MetaSchedule, its weights re-laid ahead of calls, and writes its library, for measure.py's contestant 'tvm':

  build/peers/bin/python bench/networks/tvm_network.py resnet50 --output build/tvm --trials 1000

TVM tunes alone: beside other work it is up to twice as slow."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Trials of one task before the next one has its turn; a network has some thirty tasks.
TRIALS_OF_A_TURN = 16
HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "peers")]


def export(name, folder):
    """Writes the network in Relax to network.json, and its weights, which are parameters there, in order to weights.npz. Needs PyTorch."""
    import numpy
    import torch
    import tvm
    from tvm import relax
    from tvm.relax.frontend.torch import from_exported_program

    import make
    network = make.network(name, make.DEFAULT_SEED)
    with torch.no_grad():
        exported = torch.export.export(network, make.NETWORKS[name].example())
    module = from_exported_program(exported, keep_params_as_input=True, unwrap_unit_return_tuple=True)
    module, weights = relax.frontend.detach_params(module)
    (folder / "network.json").write_text(tvm.ir.save_json(module))
    numpy.savez(folder / "weights.npz", *(weight.numpy() for weight in weights["main"]))


def tune(folder, trials, seed, threads):
    """Writes library.so, whose function main_transform_params re-lays the weights. Hides PyTorch, which every process that builds would load."""
    import cloudpickle
    import tvm
    from tvm import relax
    from tvm.relax import transform
    from tvm.s_tir import meta_schedule

    import tvm_peer
    cloudpickle.register_pickle_by_value(tvm_peer)  # processes that build cannot import it
    target, records = tvm_peer.target(threads), folder / "records"
    records.mkdir(exist_ok=True)
    tvm_peer.register_build()
    builder = meta_schedule.builder.LocalBuilder(max_workers=threads, timeout_sec=60.0, f_build="peers.build", initializer=tvm_peer.register_build)
    module = tvm.ir.load_json((folder / "network.json").read_text())
    with target:
        module = tvm.transform.Sequential([transform.DecomposeOpsForInference(), transform.CanonicalizeBindings(), relax.get_pipeline("zero"),
                                           transform.AttachAttrLayoutFreeBuffers()])(module)
        meta_schedule.relax_integration.tune_relax(module, {}, target, str(records), max_trials_global=trials,
                                                   num_trials_per_iter=min(TRIALS_OF_A_TURN, trials), builder=builder, seed=seed)
        module = tvm.transform.Sequential([transform.MetaScheduleApplyDatabase(str(records)), transform.SplitLayoutRewritePreproc(),
                                           transform.LiftTransformParams(), transform.FoldConstant()])(module)
    tvm.compile(module, target).export_library(str(folder / "library.so"))


def run(name, arguments):
    folder = arguments.output / name
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as hidden:
        (pathlib.Path(hidden) / "torch.py").write_text('raise ImportError("left out while TVM tunes")\n')
        environment = os.environ | {"TVM_NUM_THREADS": str(arguments.threads), "PYTHONDONTWRITEBYTECODE": "1"}
        call = [sys.executable, __file__, name, "--output", arguments.output, "--trials", str(arguments.trials), "--threads", str(arguments.threads),
                "--seed", str(arguments.seed)]
        for step, path in (("export", {}), ("tune", {"PYTHONPATH": hidden})):
            with (folder / f"{step}.log").open("w") as log:
                done = subprocess.run([*call, "--step", step], stdout=log, stderr=subprocess.STDOUT, env=environment | path)
            if done.returncode != 0:
                lines = (folder / f"{step}.log").read_text().strip().splitlines()
                return f"{step} failed: {lines[-1] if lines else done.returncode}; {folder}/{step}.log"
    seconds = time.monotonic() - begin
    (folder / "tuned.json").write_text(json.dumps({"trials": arguments.trials, "seed": arguments.seed, "wall_seconds": seconds}) + "\n")
    return f"{arguments.trials} trials in {seconds:.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NETWORK")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--trials", type=int, required=True, help="of all its tasks")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--step", choices=["export", "tune"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.threads])
    for name in arguments.names:
        if arguments.step == "export":
            export(name, arguments.output / name)
        elif arguments.step == "tune":
            tune(arguments.output / name, arguments.trials, arguments.seed, arguments.threads)
        else:
            print(f"{name}: {run(name, arguments)}", flush=True)


if __name__ == "__main__":
    main()
