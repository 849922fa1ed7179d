"""Apache TVM: tunes a program with MetaSchedule, and builds the best one of its records. Started with the environment's interpreter:

  tvm_peer.py FOLDER TRIALS SEED THREADS       tunes FOLDER/program.py; its records and tuned.json are written to FOLDER

MetaSchedule may re-lay constant inputs ahead of time, and that time is not measured."""
import json
import os
import pathlib
import sys
import time

import tvm
import tvm.script
from tvm.s_tir import meta_schedule
from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock
from tvm.script import tirx
from tvm.target import codegen


def target(threads):
    return tvm.target.Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu(), "num-cores": threads})


def module(folder):
    return tvm.IRModule({"main": tvm.script.from_source((folder / "program.py").read_text(), extra_vars={"T": tirx})})


def register_build():
    """Runs in every process that builds candidates, in place of TVM's function. That one loads the descriptions of all tensor instructions,
    which takes a new process longer than a build may."""
    def build(program, chosen, _):
        from tvm.driver import build as of_driver
        from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock as remove
        return of_driver(remove(skip_tensor_rewrite=True)(program), target=chosen)
    import tvm_ffi
    tvm_ffi.register_global_func("peers.build", build, override=True)


def tune(folder, trials, seed, threads):
    begin = time.monotonic()
    register_build()
    builder = meta_schedule.builder.LocalBuilder(max_workers=threads, timeout_sec=60.0, f_build="peers.build", initializer=register_build)
    meta_schedule.tune_tir(module(folder), target(threads), str(folder / "records"), max_trials_global=trials, num_trials_per_iter=min(64, trials),
                           seed=seed, num_tuning_cores=threads, builder=builder)
    told = {"trials": trials, "seed": seed, "threads": threads, "wall_seconds": time.monotonic() - begin, "version": tvm.__version__,
            "processor": codegen.llvm_get_system_cpu()}
    (folder / "tuned.json").write_text(json.dumps(told, indent=1) + "\n")


def shapes(program):
    """(shape, type) of the function's parameters."""
    return [([int(extent) for extent in parameter.shape], str(parameter.dtype)) for parameter in program["main"].params]


def scheduled(folder, threads):
    """The best program on record, including the re-laying of constant inputs."""
    records = folder / "records"
    database = meta_schedule.database.JSONDatabase(str(records / "database_workload.json"), str(records / "database_tuning_record.json"),
                                                   allow_missing=False)
    schedule = meta_schedule.tir_integration.compile_tir(database, module(folder), target(threads))
    if schedule is None:
        raise RuntimeError("its records hold no program that ran")
    return schedule.mod


def contestant(folder, inputs, output, threads):
    """(the call to check, the call to time). They are the same program, but only the first re-lays constant inputs. The second gets random
    constants whose shape is already the re-laid one."""
    import torch  # not while tuning: see tvm_tuning.py
    whole = scheduled(folder, threads)
    timed = RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(whole)
    checked = tvm.compile(whole, target(threads))["main"]
    fast = tvm.compile(timed, target(threads))["main"]
    arguments = [tvm.runtime.from_dlpack(tensor) for tensor in [*inputs, output]]
    relaid = [torch.rand(shape).to(getattr(torch, dtype)) if shape != list(given.shape) else given
              for (shape, dtype), given in zip(shapes(timed), [*inputs, output])]
    fast_arguments = [tvm.runtime.from_dlpack(tensor) for tensor in relaid]

    def check():
        checked(*arguments)
        return output

    def call():
        fast(*fast_arguments)
        return output
    return check, call


def main():
    folder, trials, seed, threads = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(threads)])
    tune(pathlib.Path(folder), int(trials), int(seed), int(threads))


if __name__ == "__main__":
    main()
