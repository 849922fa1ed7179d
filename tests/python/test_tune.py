"""Tuning: results, progress, and its ends."""
import json
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import tunesmith as ts
from conftest import MATMUL

#: Some seconds of tuning, whatever the machine.
LONG = "gmm:n=256,m=256,k=256"


def test_it_finds_a_program(result):
    assert result.trials == 16 and result.valid + sum(result.failures.values()) == 16 and not result.interrupted
    assert 0 < result.best_seconds <= result.baseline_seconds
    best = result.best
    assert best.workload == ts.Workload(MATMUL) and best.space == "cpu" and best.threads == 2 and best.seconds > 0
    assert best.trace.complete and best.id in repr(result) and "GFLOP/s" in repr(result)
    A, B = (numpy.random.default_rng(seed).random((1, 64, 64), dtype="float32") for seed in (1, 2))
    numpy.testing.assert_allclose(best.trace.schedule().program.run(A, B), A @ B, rtol=1e-4)


def test_the_command_has_the_same_records(result, tmp_path, command):
    """The same run again measures nothing."""
    records = tmp_path / "copy.db"
    shutil.copy(result.records, records)
    best = json.loads(command("records", "best", "--database", records, "--json"))
    assert result.best.id in json.dumps(best)
    line = command("tune", MATMUL, "--trials", "16", "--seed", "1", "--threads", "2", "--database", records, "--json", "--quiet")
    again = json.loads(line)
    assert again["trials"] == 16 and again["resumed"] == 16


def test_the_same_seed_is_the_same_run(result, tmp_path):
    records = shutil.copy(result.records, tmp_path / "copy.db")
    again = ts.tune(ts.Workload(MATMUL), ts.Space("cpu"), trials=16, seed=1, threads=2, records=ts.Records(records), progress=None)
    assert again.resumed == again.trials == 16


def test_progress_is_said(tmp_path):
    seen = []
    result = ts.tune(MATMUL, trials=24, seed=2, threads=2, records=tmp_path / "r.db", progress=seen.append)
    assert seen and seen[-1].done == seen[-1].total == result.trials == 24
    last = seen[-1]
    assert last.best_seconds > 0 and last.gflops > 0 and last.elapsed_seconds > 0
    assert str(last).startswith("trials 24/24") and len(last.text(20)) <= 20


def test_a_callback_may_stop_it(tmp_path):
    result = ts.tune(LONG, minutes=2, seed=3, records=tmp_path / "r.db", progress=lambda progress: progress.done < 1)
    assert result.interrupted and result.found and result.seconds < 60


def test_what_a_callback_raises_is_raised(tmp_path):
    class Mine(Exception):
        pass

    def fail(progress):
        raise Mine

    with pytest.raises(Mine):
        ts.tune(MATMUL, trials=64, seed=4, records=tmp_path / "r.db", progress=fail)


def test_control_c_in_a_callback_is_control_c(tmp_path):
    def interrupt(progress):
        if progress.done > 2:
            raise KeyboardInterrupt

    result = ts.tune(LONG, minutes=2, seed=8, records=tmp_path / "r.db", progress=interrupt)
    assert result.interrupted and result.found and result.seconds < 60


def test_other_threads_work_meanwhile(tmp_path):
    """The interpreter's lock is released."""
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    ts.tune(MATMUL, trials=32, seed=5, threads=1, records=tmp_path / "r.db", progress=None)
    stop.set()
    thread.join()
    # A busy machine may stop the thread for a while; a lock that is held stops it for most of the run.
    stopped = sum(later - earlier for earlier, later in zip(counted, counted[1:]) if later - earlier > 0.1)
    assert stopped < (counted[-1] - counted[0]) / 2, stopped


def test_several_runs_in_threads(tmp_path):
    results = {}

    def run(name):
        results[name] = ts.tune(name, trials=8, seed=6, threads=1, records=tmp_path / "r.db", progress=None)

    names = ["gmm:n=32,m=32,k=32", "gmm:n=48,m=32,k=32"]
    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[name].trials for name in names] == [8, 8]
    assert all(results[name].best.workload == ts.Workload(name) for name in names)


def test_many_workloads_share_a_budget(tmp_path, command):
    names = ["gmm:n=32,m=32,k=32", "softmax:m=16,n=64"]
    seen = []
    results = ts.tune(names, trials=24, batch=8, threads=1, seed=1, records=tmp_path / "r.db", weights=[1, 2], progress=seen.append)
    assert [result.workload for result in results] == [ts.Workload(name) for name in names]
    assert sum(result.trials for result in results) == 24 and all(result.best.seconds > 0 for result in results)
    assert seen[-1].done == seen[-1].total == 24 and len(seen[-1].best) == 2 and seen[-1].task in [str(result.workload) for result in results]
    assert str(seen[-1]).startswith("trials 24/24  2 of 2 tasks have a program")
    again = json.loads(command("tune", *names, "--weight", "1,2", "--trials", "24", "--batch", "8", "--threads", "1", "--seed", "1", "--database", tmp_path / "r.db", "--json", "--quiet"))
    assert [task["resumed"] for task in again["tasks"]] == [result.trials for result in results]


@pytest.mark.parametrize(
    "workloads, arguments, words",
    [
        ([], {}, "at least one workload"),
        (["gmm:n=8,m=8,k=8", "softmax:m=8,n=8"], {"weights": [1]}, "weights: 1 for 2 workloads"),
        (["gmm:n=8,m=8,k=8", "softmax:m=8,n=8"], {"weights": [1, 0]}, "weights: expected numbers above 0, not 0"),
        (["gmm:n=8,m=8,k=8", ts.Workload("gmm:n=8,m=8,k=8")], {}, "are the same computation"),
        (["gmm:n=8,m=8,k=8"], {"goal": "most"}, "goal: expected 'total' or 'geomean', not 'most'"),
        ("gmm:n=8,m=8,k=8", {"weights": [1]}, "are for a list of workloads"),
    ],
)
def test_mistakes_with_many_are_said_in_words(workloads, arguments, words, tmp_path):
    with pytest.raises(ts.UserError, match=words):
        ts.tune(workloads, trials=4, records=tmp_path / "r.db", progress=None, **arguments)


def test_control_c_gives_the_best_so_far(tmp_path):
    script = f"""
import signal, time
import tunesmith as ts
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with the signal ignored
def say(progress):
    if progress.done > 2:
        print("measuring", flush=True)
result = ts.tune("{LONG}", minutes=5, seed=7, records="records.db", progress=say)
try:
    print(result.interrupted, result.best.seconds > 0, result.trials > 2, flush=True)
    while True:
        time.sleep(0.01)  # a signal just before a read that waits would not end it
except KeyboardInterrupt:
    print("python's own again")
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "measuring\n"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    lines = iter(process.stdout.readline, "")
    assert next(line for line in lines if line != "measuring\n") == "True True True\n"
    assert time.monotonic() - began < 15
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "python's own again\n"
    assert process.wait(timeout=10) == 0


def test_a_refused_budget_measures_nothing(tmp_path):
    for keywords in ({"trials": 0}, {"minutes": 0.0}):
        for start in (ts.tune, lambda workload, **rest: ts.Task(workload, **{**rest, "progress": None})):
            with pytest.raises(ts.UserError):
                start(MATMUL, records=tmp_path / "r.db", progress=None, **keywords)
    assert not (tmp_path / "r.db").exists()


FIELDS = ["best_seconds", "baseline_seconds", "peak", "ended_because", "trials", "valid", "resumed", "known", "disturbed", "failures", "interrupted",
          "exhausted", "plain_alone", "dropped", "found", "seconds", "times", "workload", "records", "comparison"]


def test_a_result_is_pickled(result):
    again = pickle.loads(pickle.dumps(result))
    for field in FIELDS:
        assert getattr(again, field) == getattr(result, field), field
    assert again.best == result.best and again.space.name == result.space.name == "cpu" and repr(again) == repr(result)
    assert again.times["wall"] == again.seconds > 0


def test_a_result_is_pickled_without_its_space(tmp_path, spaces):
    result = ts.tune(MATMUL, ts.Space.load(spaces)["mine"], trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    kept = pickle.dumps(result)
    assert pickle.loads(kept).space.name == "mine"
    spaces.unlink()
    again = pickle.loads(kept)
    assert again.best_seconds == result.best_seconds and repr(again) == repr(result)
    with pytest.raises(ts.UserError, match="mine.yaml"):
        again.space


def test_a_result_says_what_it_is_not(tmp_path):
    result = ts.tune(MATMUL, trials=2, threads=1, records=tmp_path / "r.db", progress=None)
    assert result.plain_alone and result.dropped == [] and "only the baseline programs were measured" in repr(result)
    restore, (state, *rest), _ = result.__reduce__()
    state["dropped"] = [{"record": "cafe", "seconds": 1e-3, "why": "it is refused now"}]
    restored = restore(state, *rest)
    assert restored.dropped == state["dropped"] and "record cafe, the previous best with 1.00 ms, could not be timed again: it is refused now" in repr(restored)
    restored = restore({**state, "best_id": ""}, *rest)
    assert not restored.found and "no valid program found" in repr(restored)
    with pytest.raises(ts.NoRecord, match="no valid program found for gmm"):
        restored.best


def test_a_log_and_a_bar(tmp_path, capsys):
    from tunesmith import _progress

    ts.tune(MATMUL, trials=8, seed=1, threads=1, records=tmp_path / "r.db")
    assert "trials 8/8" in capsys.readouterr().err
    seen = []
    ts.tune(MATMUL, trials=8, seed=2, threads=1, records=tmp_path / "r.db", progress=seen.append)
    assert "<progress max='8' value='8'>" in _progress.bar(seen[-1]) and "<progress></progress>" in _progress.bar(None)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"space": "cpv"}, "did you mean 'cpu'"),
        ({"search": "bayes"}, "bayesian"),
        ({"trials": -1}, "trials: expected a number above 0, not -1"),
        ({"trials": 0}, "trials: expected a number above 0, not 0; leave it out"),
        ({"trials": None, "minutes": 0}, "minutes: expected a number above 0"),
        ({"batch": 0}, "batch: expected a number above 0"),
        ({"candidate_time_out": 0}, "candidate_time_out: expected a number above 0"),
        ({"threads": -1}, "threads: expected a number of 0 or more"),
        ({"seed": -1}, "seed"),
        ({"trials": "many"}, "trials: ''many'' cannot be one"),
        ({"records": "/nowhere/at/all.db"}, "no such folder"),
        ({"search": "random:x"}, "is not a number of trials"),
    ],
)
def test_mistakes_are_said_in_words(arguments, words, records):
    with pytest.raises(ts.UserError, match=words):
        ts.tune(MATMUL, **{"trials": 4, "records": records, "progress": None, **arguments})
