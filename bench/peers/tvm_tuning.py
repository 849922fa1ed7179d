"""Tunes rows with TVM. A row that has TVM's records is not tuned again; `run measure` includes TVM for such rows."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import machine
import ours
import rows
import tvm_program
from measure import say

HERE = pathlib.Path(__file__).resolve().parent
# TVM loads PyTorch if it is installed; each of the many processes that build candidates would spend seconds on that.
WITHOUT_TORCH = 'raise ImportError("left out while TVM tunes")\n'


def tune_row(arguments, one, folder):
    program = ours.command(arguments.tunesmith, "workloads", "show", one.tuned, "--json", timeout=60)["program"]
    if folder.exists():
        shutil.rmtree(folder)  # records of an unfinished run, or of one to repeat
    folder.mkdir(parents=True)
    (folder / "program.py").write_text(tvm_program.script(program))
    threads = str(arguments.threads)
    before = machine.Watch()
    with machine.turn(), (folder / "log").open("w") as log, tempfile.TemporaryDirectory(prefix="tunesmith-peers-") as hidden:
        (pathlib.Path(hidden) / "torch.py").write_text(WITHOUT_TORCH)
        environment = os.environ | {"TVM_NUM_THREADS": threads, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": hidden}
        done = subprocess.run([arguments.env / "bin/python", HERE / "tvm_peer.py", folder, str(arguments.trials), str(arguments.seed), threads],
                              stdout=log, stderr=subprocess.STDOUT, env=environment)
    if done.returncode != 0:
        lines = (folder / "log").read_text().strip().splitlines() or [f"exit code {done.returncode}"]
        raise ours.Failed(f"TVM: {lines[-1]}")
    told = json.loads((folder / "tuned.json").read_text())
    (folder / "tuned.json").write_text(json.dumps(told | {"others": before.others()}, indent=1) + "\n")
    return told


def tune(arguments, chosen):
    """Returns whether all rows have records."""
    whole = True
    for number, one in enumerate(chosen, 1):
        folder = rows.tvm_folder(arguments.tvm_records, one, arguments.trials, arguments.seed)
        if (folder / "tuned.json").exists() and not arguments.again:
            continue
        if not arguments.allow_load:
            machine.wait_until_quiet(arguments.load, arguments.wait, say=say)
        begin = time.monotonic()
        try:
            tune_row(arguments, one, folder)
            text = "tuned"
        except ours.Failed as error:
            whole, text = False, str(error)
        say(f"[{number} of {len(chosen)}, {time.monotonic() - begin:.0f} s] {one.name}: {text}")
    return whole
