#!/usr/bin/env python3
"""Each fault in each call of plugins of each kind: the run ends with the plugin's name, and its records are whole.
Usage: plugin_calls.py --tunesmith BINARY --plugins FOLDER --bad FOLDER KIND"""
import argparse
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile

SPACES = """version: 1
spaces:
  module: {extends: cpu, modules: [neighbour_module, bad_module, rewrite_reduction_init]}
  searcher: {extends: cpu, modules: [bad_module], search: {kind: bad_searcher}}
  cost_model: {extends: cpu, cost_model: {kind: bad_cost_model}}
  task_scheduler: {extends: cpu, task_scheduler: {kind: bad_task_scheduler}}
  extension: {extends: cpu, target: {with+: [bad_extension]}}
  target: {extends: cpu, target: {kind: faulty}}
  other_target: {extends: cpu, target: {kind: bad_target}}
"""
# What the target of tests/faults computes.
ADD_ONE = """name: add_one
params: {n: 1000}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] + 1
outputs: [O]
"""
CALLS = {
    "module": [("create", "create"), ("stage", "stage"), ("apply", "apply at block 'O'")],
    "searcher": [("propose", "propose"), ("observe", "observe")],
    "cost_model": [("begin", "begin"), ("predict", "predict"), ("update", "update")],
    "task_scheduler": [("next", "next")],
    "extension": [("probe", "probe"), ("describe", "describe"), ("adapt", "adapt"), ("extend", "extend"), ("bad_step", "the step bad_step")],
    "target": [("probe", "probe"), ("compile", "compile"), ("peak_kernel", "peak_kernel")],
}
# Mistake: exit code, and the message with the call's name.
FAULTS = {
    "throws": (4, "[P12] {} threw: boom"),
    "user_error": (2, "{}: boom"),
    "segfaults": (-signal.SIGSEGV, "[P12] {} ended the process by: Segmentation fault; all measurements are recorded"),
    "exits": (4, "[P12] {} ended the process by exit(0); all measurements are recorded"),
    "_exits": (4, "[P12] {} ended the process by _exit(0); all measurements are recorded"),
    "recurses": (-signal.SIGSEGV, "[P12] {} ended the process by: Segmentation fault; all measurements are recorded"),
    "hangs": (4, "[P22] {} has not returned in 1 seconds; all measurements are recorded"),
    "allocates": (4, "[P22] {} allocated "),
}
# A run continues without a hanging cost model.
FAULTS_OF = {"cost_model": {"hangs": (0, "[P22] {} has not returned in 1 seconds")}}
# Invalid answers: space, exit code, message.
NONSENSE = {
    "module": {
        "begins_anew": "[P23] the schedule it returned does not extend the one it was given",
        "dangles": "[P23] invalid call of parallel: the loop no longer exists",
        "negative_tile": "[P23] invalid call of split: a factor is less than one",
        "shrinks_a_loop": "[P23] replaying its trace gives another program",
        "no_schedule": "answered Applied without a schedule",
        "forks_a_lot": "it returns 3000 schedules for block 'O', more than max_sketches: 1024",
    },
    "searcher": {"proposes_null": "[P24] proposed a null candidate", "proposes_too_many": "[P24] asked for "},
    "cost_model": {"nan": "[P25] predict() did not return a finite score", "one_too_few": "[P25] predict() did not return a finite score"},
    "task_scheduler": {"chooses_none": "[P28] it chose task 2 of 2"},
    "extension": {"infinite_quantity": "[P27] it sets the quantity bad_units to inf", "impossible_vectors": "[P27] cannot lower for "},
    "target": {"nan_quantity": "[P26] it sets the quantity hope to nan"},
}
NAMES = {kind: f"{kind} 'bad_{kind}'" for kind in CALLS} | {"target": "target 'faulty'"}


def tune(arguments, folder, space, trials, mistake):
    workloads = [folder / "add_one.yaml" if space == "target" else "relu:n=4,m=3600"]
    if space == "task_scheduler":  # one workload needs none
        workloads.append("relu:n=8,m=1800")
    return subprocess.run([arguments.tunesmith, "tune", *workloads, "--space", space, "--spaces", folder / "spaces.yaml", "--database", folder / "records.db",
                           "--plugin-path", arguments.plugins, "--plugin-path", arguments.bad, "--trials", str(trials), "--batch", "4", "--quiet",
                           "--plugin-seconds", "1" if mistake.startswith("hangs") else "60", "--plugin-memory", "0.25"],
                          capture_output=True, text=True, timeout=120, env={**os.environ, "TUNESMITH_TEST_MISTAKE": mistake})


def records(folder):
    with sqlite3.connect(f"file:{folder / 'records.db'}?mode=ro", uri=True, timeout=10) as connection:
        return set(row[0] for row in connection.execute("select id from record"))


def expect(arguments, folder, space, mistake, code, said):
    before = records(folder)
    done = tune(arguments, folder, space, len(before) + 64, mistake)
    text = done.stdout + done.stderr
    assert done.returncode == code, f"{mistake}: exit code {done.returncode}, wanted {code}\n{text}"
    assert said in text, f"{mistake}: {said!r} is not in:\n{text}"
    checked = subprocess.run([arguments.tunesmith, "records", "check", "--database", folder / "records.db"], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0 and "clean" in checked.stdout, checked.stdout + checked.stderr
    assert before <= records(folder), f"{mistake}: a record is lost"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--plugins", required=True)
    parser.add_argument("--bad", required=True)
    parser.add_argument("kind")
    arguments = parser.parse_args()
    kind = arguments.kind
    with tempfile.TemporaryDirectory(prefix="tunesmith-calls-") as name:
        folder = pathlib.Path(name)
        os.environ["XDG_DATA_HOME"] = name
        os.environ["TUNESMITH_MACHINE_LOCK"] = f"{name}/machine.lock"
        (folder / "spaces.yaml").write_text(SPACES)
        (folder / "add_one.yaml").write_text(ADD_ONE)
        done = tune(arguments, folder, kind, 8, "")
        assert done.returncode == 0 and records(folder), done.stdout + done.stderr
        faults = list({**FAULTS, **FAULTS_OF.get(kind, {})}.items())
        every = 1 if "TUNESMITH_TEST_EXTENDED" in os.environ else 2
        for number, (call, shown) in enumerate(CALLS[kind]):
            for fault, (code, said) in faults[number % every :: every]:
                expect(arguments, folder, kind, f"{fault} in {call}", code, said.format(shown) if code == 0 else f"{NAMES[kind]}: {said.format(shown)}")
        for mistake, said in NONSENSE[kind].items():
            # A run continues without a cost model that answers nonsense.
            expect(arguments, folder, "other_target" if kind == "target" else kind, mistake, 0 if kind == "cost_model" else 4, said)
        if kind == "searcher":  # an exception in its destructor ends the process
            for fault in ("segfaults", "recurses", "hangs"):
                code, said = FAULTS[fault]
                expect(arguments, folder, kind, f"{fault} in destroy", code, f"{NAMES[kind]}: {said.format('destroy')}")
            # A searcher's call of a module names the faulty module.
            expect(arguments, folder, kind, "segfaults in apply", -signal.SIGSEGV, "module 'bad_module': [P12] apply")


if __name__ == "__main__":
    sys.exit(main())
