#!/usr/bin/env python3
"""Bad candidates and kills, through the command line. Usage: faults.py --tunesmith BINARY --plugins FOLDER TEST"""
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import cli

ADD_ONE = """name: add_one
params: {n: 1000}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] + 1
outputs: [O]
"""
SPACE = """version: 1
spaces:
  faulty:
    target: {kind: %(target)s}
    modules: [{choose_mistake: {among: %(among)s}}, %(modules)s]
    search: {kind: random, max_empty_draws: 400}
    cost_model: {kind: random}
"""


def mistakes():
    """Name and cause of each mistake, by number, from the plugins' header."""
    header = (pathlib.Path(__file__).parent / "plugins" / "mistakes.h").read_text()
    return re.findall(r'\{"(\w+)", "(\w*)"\}', header)


def tune_arguments(folder, target, among, modules, *more):
    (folder / "add_one.yaml").write_text(ADD_ONE)
    (folder / "spaces.yaml").write_text(SPACE % {"target": target, "among": list(among), "modules": ", ".join(modules)})
    return [cli.TUNESMITH, "tune", str(folder / "add_one.yaml"), "--spaces", str(folder / "spaces.yaml"), "--plugin-path", cli.PLUGINS,
            "--database", str(folder / "records.db"), "--candidate-time-out", "3", *map(str, more)]


def tune(folder, target, among, modules=(), code=0):
    done = subprocess.run(tune_arguments(folder, target, among, modules, "--trials", 1000, "--json"), capture_output=True, text=True, timeout=150)
    assert done.returncode == code, f"exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout), done.stderr


# The unscheduled program and its outermost loop in parallel: no module makes a mistake in them.
PLAIN = 2


def records(folder):
    """id -> (failure's cause or None, trace) of what searches measured"""
    with sqlite3.connect(f"file:{folder / 'records.db'}?mode=ro", uri=True, timeout=10) as connection:
        return {row[0]: row[1:] for row in connection.execute("select id, cause, trace from record where kind = 'search'")}


def wait_for_more(folder, known):
    """Waits until there are more records than `known`, or half a minute is over."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if len(records(folder)) > known:
                return
        except sqlite3.OperationalError:
            pass  # there is no file, or it has no tables yet
        time.sleep(0.05)


def expect_clean(folder):
    done = subprocess.run([cli.TUNESMITH, "records", "check", "--database", str(folder / "records.db")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "clean" in done.stdout, done.stdout + done.stderr


def counted(causes):
    return {cause: causes.count(cause) for cause in sorted(set(causes)) if cause}


def every_mistake_is_counted(folder):
    """One run survives a target whose kernels make every mistake in turn."""
    causes = [cause for _, cause in mistakes()]
    result, err = tune(folder, "faulty", range(len(causes)))
    assert result["trials"] == PLAIN + len(causes), result
    kept = records(folder)
    for cause, trace in list(kept.values())[PLAIN:]:
        mistake = int(re.search(r"sample_categorical\(.*@ (\d+)", trace).group(1))
        assert (cause or "") == causes[mistake], (mistakes()[mistake], cause)
    assert result["failures"] == counted(causes), (result["failures"], counted(causes))
    assert result["valid"] == PLAIN + causes.count(""), result
    assert "a candidate prints" in err, "what a candidate prints is on stderr"
    assert len(kept) == PLAIN + len(causes)
    expect_clean(folder)


def a_run_of_mistakes_alone_finds_the_plain_program(folder):
    bad = [number for number, (_, cause) in enumerate(mistakes()) if cause == "crash"]
    result, _ = tune(folder, "faulty", bad)
    assert result["valid"] == PLAIN and result["failures"] == {"crash": len(bad)}, result
    best = [trace for cause, trace in records(folder).values() if not cause]
    assert len(best) == PLAIN and not any("mistake" in trace for trace in best), best


def a_wrong_module_records_no_success(folder):
    """A finishing module that breaks the program, compiled by the real target."""
    wanted = ["", "wrong_result", "crash", "out_of_bounds", "out_of_bounds", "wrong_result", "time_out"]
    result, _ = tune(folder, "llvm", range(len(wanted)), ["make_mistake"])
    assert result["failures"] == counted(wanted) and result["valid"] == PLAIN + 1, result
    assert [cause for cause, _ in records(folder).values()].count(None) == PLAIN + 1
    expect_clean(folder)


def wait_for_records(folder, process, count):
    for _ in range(600):
        try:
            if (folder / "records.db").exists() and len(records(folder)) >= count:
                return
        except sqlite3.OperationalError:
            pass  # not created yet
        if process.poll() is not None:
            raise AssertionError(process.communicate())
        time.sleep(0.05)
    raise AssertionError("no records within half a minute")


def gmm(folder, *more, search="random", seed=3):
    """Tunes in a space that is not exhausted before the run is killed."""
    return [cli.TUNESMITH, "tune", "gmm:n=64,m=64,k=64", "--space", "cpu-tiling", "--search", search, "--model", "random",
            "--database", str(folder / "records.db"), "--seed", str(seed), *map(str, more)]


def kills_at_random_moments_lose_nothing(folder):
    moments = random.Random(7)
    seen = {}
    for round in range(8):
        process = subprocess.Popen(gmm(folder, "--trials", 100000, "--quiet"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if round % 3 != 0:  # two of three rounds are killed while they measure, however slowly the machine starts
            wait_for_more(folder, len(seen))
        time.sleep(moments.uniform(0.05, 2.0))
        if (folder / "records.db").exists():
            try:
                seen.update(records(folder))  # visible to others, hence reported
            except sqlite3.OperationalError:
                pass  # its tables are not made yet
        assert process.poll() is None, process.communicate()
        process.kill()
        process.wait()
        process.stderr.close()
        if not (folder / "records.db").exists():
            continue
        expect_clean(folder)
        now = records(folder)
        assert all(now.get(id) == record for id, record in seen.items()), "a record that was seen is lost"
        seen = now
    assert len(seen) > 20, "the kills came too early to test anything"
    # With whole rounds of 64, the search repeats its way to the record at which the last run was killed.
    done = subprocess.run(gmm(folder, "--trials", -(-len(seen) // 64) * 64, "--json"), capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["resumed"] == len(seen), (result, len(seen))
    now = records(folder)
    assert len(now) == result["trials"] and seen.items() <= now.items(), "nothing is measured again"


def kills_of_two_runs_at_once_lose_nothing(folder):
    """Two searches with one store, either of which is killed at any moment and begun again; TUNESMITH_FAULT_KILLS times (6)."""
    moments = random.Random(13)
    runs = [gmm(folder, "--trials", 100000, "--quiet", seed=seed) for seed in (3, 4)]
    begin = lambda run: subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    processes = [begin(run) for run in runs]
    wait_for_records(folder, processes[0], 1)
    seen, waited = {}, 0
    for _ in range(int(os.environ.get("TUNESMITH_FAULT_KILLS", "6"))):
        time.sleep(moments.uniform(0.05, 2.0))
        seen.update(records(folder))  # visible to others, hence reported
        assert [process.poll() for process in processes] == [None, None], [p.communicate() for p in processes if p.poll() is not None]
        victim = moments.randrange(2)
        processes[victim].kill()
        waited += processes[victim].communicate()[1].count("another run is measuring")
        expect_clean(folder)  # while the other one continues
        now = records(folder)
        assert all(now.get(id) == record for id, record in seen.items()), "a record that was seen is lost"
        processes[victim] = begin(runs[victim])
    time.sleep(1.0)
    for process in processes:
        process.send_signal(signal.SIGINT)
    for process in processes:
        err = process.communicate(timeout=60)[1]
        # It ends by the signal if it had not begun.
        assert process.returncode in (130, -signal.SIGINT), (process.returncode, err)
        waited += err.count("another run is measuring")
    assert waited > 0, "nobody said that he waits for the other"
    expect_clean(folder)
    assert seen.items() <= records(folder).items()
    assert len(seen) > 20, "the kills came too early to test anything"
    for seed in (3, 4):
        done = subprocess.run(gmm(folder, "--trials", 64, "--json", seed=seed), capture_output=True, text=True, timeout=150)
        assert done.returncode == 0 and json.loads(done.stdout)["resumed"] > 0, (seed, done.stdout, done.stderr)
    expect_clean(folder)


def killed_workers_change_nothing(folder):
    process = subprocess.Popen(gmm(folder, "--trials", 500, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_records(folder, process, 8)
    moments = random.Random(11)
    killed = 0
    while process.poll() is None and killed < 12:
        found = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "tunesmith-worker"], capture_output=True, text=True).stdout.split()
        if found:
            try:
                os.kill(int(found[0]), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        # Not twice in a row at one candidate, which would then count as failed. Records appear in groups of eight.
        wait_for_records(folder, process, len(records(folder)) + 10)
        time.sleep(moments.uniform(0.0, 0.1))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert killed >= 4, killed
    # No candidate is at fault; each is tried again.
    assert result["trials"] == 500 and not result["failures"], result
    expect_clean(folder)


def interrupts_at_random_moments(folder):
    moments = random.Random(13)
    stopped = 0
    for number, search in enumerate(("evolutionary", "random") * 4):
        known = len(records(folder)) if (folder / "records.db").exists() else 0
        process = subprocess.Popen(gmm(folder, "--trials", 100000, "--json", "--fresh", search=search), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # One round in three is killed at any moment, the others while it measures, however slow the machine is.
        if number % 3 != 0:
            wait_for_more(folder, known)
        time.sleep(moments.uniform(0.3, 1.5 if number % 3 != 0 else 3.0))
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        out, err = process.communicate(timeout=60)
        waited = time.monotonic() - begin
        assert waited < 30, f"stopped after {waited:.1f} s"  # timed_interrupt_stops_soon has the real limit
        if process.returncode == -signal.SIGINT:
            continue  # nothing was recorded yet
        assert process.returncode == 130, (process.returncode, err)
        if not out:  # no results yet, or no time for a summary
            assert "interrupted" in err, err
            continue
        result = json.loads(out)
        assert result["interrupted"], result
        if result["valid"]:
            assert result["trace"] in records(folder) and result["best_seconds"] > 0, result
            stopped += 1
    assert stopped >= 2, "the interrupts came too early to test anything"
    expect_clean(folder)


def an_interrupt_stops_a_long_reference(folder):
    database = folder / "records.db"
    process = subprocess.Popen([cli.TUNESMITH, "tune", "gmm:n=2048,m=2048,k=2048", "--trials", "64", "--database", str(database)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if subprocess.run(["pgrep", "-P", str(process.pid), "-f", "tunesmith-worker"], capture_output=True).returncode == 0:
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    waited = time.monotonic() - begin
    assert waited < 30, f"stopped after {waited:.1f} s"
    assert process.returncode == 130 and "interrupted" in out + err, (process.returncode, out, err)


if __name__ == "__main__":
    cli.run_test(globals())
