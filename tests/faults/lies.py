#!/usr/bin/env python3
"""Workers that answer nonsense, through the command line. Usage: lies.py --tunesmith BINARY --plugins FOLDER TEST"""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import cli

WORKLOAD = """name: add_one
params: {n: 1000}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] + 1
outputs: [O]
"""
# Correct programs that differ in a number.
SPACE = """version: 1
spaces:
  right:
    target: {kind: faulty, crash_every: 1000}
    modules: [{choose_mistake: {among: %(among)s}}]
    search: {kind: random, max_empty_draws: 400}
    cost_model: {kind: random}
"""
ENVIRONMENT_FAULT = 4
PLAIN = 2  # the unscheduled program and its outermost loop in parallel
# A part of the failure's message for each lie.
LIES = {
    "garbage": "invalid answer from the worker: its header has",
    "huge": "invalid answer from the worker: its header has 1152921504606846976 bytes, at most",
    "attachments": "invalid answer from the worker: it has 10 attachments, at most 0",
    "deep": "invalid answer from the worker: its header is nested more than",
    "no JSON": "invalid answer from the worker: its header is no JSON object",
    "another question's": "invalid answer from the worker: expected the answer to question",
    "missing": "invalid answer from the worker: its field 'verified_error' is missing",
    "wrong type": "invalid answer from the worker: its field 'samples' is of the type string, and must be a list",
    "no time": "invalid answer from the worker: its field 'samples[0]' is -1",
    "no samples": "invalid answer from the worker: its field 'samples' has 0 elements",
    "too many samples": "invalid answer from the worker: its field 'samples' has 11 elements",
    "unknown cause": "invalid answer from the worker: its field 'cause' is 'bad_luck', which is no cause of a failure",
    "another's type": "invalid answer from the worker: its field 'type' is 'added', and must be 'measured'",
    "gives up": "worker error: no more",
    "truncated": "the worker exited with code 0",
}


def tune(folder, programs, kind, lies):
    """Runs the command with a worker that lies at these questions of one type."""
    lib = pathlib.Path(cli.TUNESMITH).parents[1] / "lib"
    installed = folder / "installed"
    if not installed.exists():
        (installed / "lib").mkdir(parents=True)
        (installed / "bin").mkdir()
        # The worker is searched beside the library, with links resolved.
        for name in ("libtunesmith.so", "libtunesmith_compiler.so"):
            library = (lib / name).resolve()
            shutil.copy(library, installed / "lib")
            for link in lib.glob(f"{name}*"):
                if link.is_symlink() and link.resolve() == library:
                    (installed / "lib" / link.name).symlink_to(library.name)
        (installed / "lib" / "tunesmith").symlink_to(lib / "tunesmith")
        shutil.copy(pathlib.Path(__file__).parent / "lying_worker.py", installed / "bin" / "tunesmith-worker")
        (installed / "bin" / "tunesmith-worker").chmod(0o755)
    (folder / "add_one.yaml").write_text(WORKLOAD)
    (folder / "spaces.yaml").write_text(SPACE % {"among": list(range(1, programs + 1))})
    for name in ("records.db", "count"):
        (folder / name).unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(installed / "lib"), "TUNESMITH_TEST_LIES": json.dumps(
        {"worker": str(pathlib.Path(cli.TUNESMITH).parent / "tunesmith-worker"), "count": str(folder / "count"), "type": kind, "lies": lies})}
    return subprocess.run([cli.TUNESMITH, "tune", str(folder / "add_one.yaml"), "--spaces", str(folder / "spaces.yaml"), "--plugin-path", cli.PLUGINS,
                           "--database", str(folder / "records.db"), "--candidate-time-out", "3", "--trials", "1000", "--json"],
                          capture_output=True, text=True, timeout=250, env=environment)


def result(done):
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def failures(folder):
    with sqlite3.connect(f"file:{folder / 'records.db'}?mode=ro", uri=True) as connection:
        return list(connection.execute("select cause, message from record where kind = 'search' and cause is not null order by id"))


def a_lie_told_once_changes_nothing(folder):
    # Each lie costs another question.
    lies = {3 + 2 * i: lie for i, lie in enumerate(LIES)}
    programs = 2 * len(LIES)
    done = result(tune(folder, programs, "run", lies))
    assert done["valid"] == programs + PLAIN and not done["failures"], done
    assert (folder / "count").stat().st_size >= programs + PLAIN + len(LIES)


def from_question(first, lie):
    return {number: lie for number in range(first, 1000)}


def a_lie_told_twice_costs_the_candidate(folder):
    for lie, wanted in LIES.items():
        done = result(tune(folder, 4, "run", from_question(4, lie)))
        # Repetitions after a disturbance also ask questions, and keep the first time.
        lost = done["failures"].pop("worker_lost", 0)
        assert 1 <= lost <= 4 and not done["failures"] and done["valid"] == 4 + PLAIN - lost, (lie, done)
        assert {(cause, wanted in message) for cause, message in failures(folder)} == {("worker_lost", True)}, (lie, failures(folder))


def a_silent_worker_is_not_waited_for(folder):
    done = result(tune(folder, 2, "run", from_question(2, "silence")))
    late = done["failures"].pop("time_out", 0)
    assert 1 <= late <= 3 and not done["failures"] and done["valid"] == 2 + PLAIN - late, done


def rounds_survive_lies(folder):
    """Lies in the final ranking, which asks two other questions."""
    for kind in ("add_to_rounds", "time_in_turn"):
        done = tune(folder, 12, kind, {1: "garbage", 4: "another's type"})
        assert not result(done)["failures"] and result(done)["best_seconds"] > 0, done.stdout
        assert (folder / "count").stat().st_size > 5, (kind, (folder / "count").stat().st_size)


def a_worker_that_cannot_begin_ends_the_run(folder):
    done = tune(folder, 4, "task", from_question(0, "garbage"))
    assert done.returncode == ENVIRONMENT_FAULT, (done.returncode, done.stderr)
    assert "the worker rejected the task: worker_lost: invalid answer from the worker" in done.stderr, done.stderr
    assert (folder / "count").stat().st_size == 3, "it is tried three times"


def a_worker_of_another_version_is_refused(folder):
    done = tune(folder, 4, "hello", {0: "other version"})
    assert done.returncode == ENVIRONMENT_FAULT, (done.returncode, done.stderr)
    assert "tunesmith-worker has schema version 99, this tunesmith" in done.stderr, done.stderr
    assert (folder / "count").stat().st_size == 1, "nothing else is asked"


if __name__ == "__main__":
    cli.run_test(globals())
