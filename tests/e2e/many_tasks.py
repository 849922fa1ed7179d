#!/usr/bin/env python3
"""Tunes several workloads under one budget, as a user does. Usage: many_tasks.py --tunesmith BINARY TEST"""
import fcntl
import json
import os
import pty
import re
import shlex
import signal
import sqlite3
import struct
import subprocess
import termios
import time

import cli
from cli import run

GMM = "gmm:n=48,m=32,k=40"
SOFTMAX = "softmax:m=24,n=64"
DENSE = "dense_bias:n=16,k=24,m=32"


def tune(folder, *args, **kwargs):
    return json.loads(run("tune", *args, "--database", folder / "records.db", "--json", **kwargs).stdout)


def searched(records_folder):
    """(workload's text, program) of each record of a search."""
    with sqlite3.connect(f"file:{records_folder / 'records.db'}?mode=ro", uri=True, timeout=10) as connection:
        return connection.execute("select workload, lowered_hash from record where kind = 'search' order by seq").fetchall()


def a_budget_is_shared(folder):
    result = tune(folder, GMM, SOFTMAX, "--trials", 64)
    assert result["trials"] == 64 == sum(task["trials"] for task in result["tasks"]), result
    assert [task["name"] for task in result["tasks"]] == [GMM, SOFTMAX]
    assert result["goal"] == "geomean" and result["task_scheduler"] == "gradient" and not result["interrupted"]
    for task in result["tasks"]:
        assert task["trials"] >= 16 and task["valid"] > 0 and task["ended_because"] == "shared budget" and task["error"] is None, task
        assert task["best_seconds_interval"][0] <= task["best_seconds"] <= task["best_seconds_interval"][1] and task["share_of_peak"] > 0
        assert task["improvements"] == sorted(task["improvements"], key=lambda one: one[0]) and task["improvements"][-1][0] <= task["trials"]
    assert result["mean_gain"] >= 1 and 0 < result["total_seconds"] <= result["baseline_seconds"]
    for number, workload in enumerate((GMM, SOFTMAX)):
        run("build", workload, "--database", folder / "records.db", "--output", folder / str(number))
    # A larger budget continues the run.
    more = tune(folder, GMM, SOFTMAX, "--trials", 80)
    assert more["trials"] == 80 and sum(task["resumed"] for task in more["tasks"]) == 64, more
    # A single workload has no scheduler.
    assert tune(folder, DENSE, "--trials", 4)["trials"] == 4


def weights_and_suites_are_read(folder):
    (folder / "net.yaml").write_text(f"body:\n  - {GMM}: 8\n  - {SOFTMAX}\nhead: ['{DENSE}', '{GMM}']\n")
    result = tune(folder, folder / "net.yaml", "--trials", 48, "--batch", 8, "--scheduler", "round_robin")
    assert [(task["name"], task["weight"], task["trials"]) for task in result["tasks"]] == [(GMM, 9.0, 16), (SOFTMAX, 1.0, 16), (DENSE, 1.0, 16)], result
    assert result["goal"] == "total" and result["task_scheduler"] == "round_robin"
    total = sum(task["weight"] * task["best_seconds"] for task in result["tasks"])
    assert abs(result["total_seconds"] - total) < 1e-9 * total
    result = tune(folder, GMM, DENSE, "--weight", "2,0.5", "--goal", "geomean", "--trials", 32)
    assert [task["weight"] for task in result["tasks"]] == [2.0, 0.5] and result["goal"] == "geomean"


def a_killed_run_counts_what_it_has(folder):
    command = ["tune", GMM, SOFTMAX, DENSE, "--trials", 96, "--quiet"]
    database = ["--database", folder / "records.db"]
    for kill_after in (10, 40, 70):
        process = subprocess.Popen([cli.TUNESMITH, *map(str, command + database)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while process.poll() is None:
            try:
                if len(searched(folder)) >= kill_after:
                    break
            except sqlite3.OperationalError:
                pass  # it has not made the store yet
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = len(searched(folder))
    assert 40 <= before < 96, before
    result = tune(folder, *command[1:])
    assert result["trials"] == 96 and sum(task["resumed"] for task in result["tasks"]) == before, result
    records = searched(folder)
    assert len(records) == 96 and len(set(records)) == 96, "nothing is measured twice"
    # The restarted run does what an uninterrupted run does, except for times.
    assert min(task["trials"] for task in result["tasks"]) >= 16


def started(folder, *args, **kwargs):
    """Starts a run and waits until it measures."""
    process = subprocess.Popen([cli.TUNESMITH, *map(str, ["tune", GMM, SOFTMAX, "--trials", 5000, "--database", folder / "records.db", *args])], text=True, **kwargs)
    begin = time.monotonic()
    while time.monotonic() - begin < 60:
        try:
            if len(searched(folder)) >= 24:
                return process
        except sqlite3.OperationalError:
            pass
        time.sleep(0.05)
    raise AssertionError("it measures nothing")


def an_interrupt_ends_with_a_summary(folder):
    process = started(folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    waited = time.monotonic() - begin
    assert process.returncode == 130 and waited < cli.within(2), (process.returncode, waited, err)
    # A busy machine may leave no time for the summary, but everything is recorded.
    assert ("interrupted" in out and GMM in out and SOFTMAX in out) or "everything measured so far is recorded" in err, (out, err)
    assert "clean" in run("records", "check", "--database", folder / "records.db").stdout


def a_log_gets_lines_and_a_table(folder):
    done = run("tune", GMM, SOFTMAX, "--trials", 64, "--database", folder / "records.db")
    assert "\r" not in done.stderr and "\x1b" not in done.stderr
    lines = done.stderr.splitlines()
    assert any(re.match(r"trials \d+/64", line) for line in lines) and any("ranking task 1 of 2" in line for line in lines), done.stderr
    assert len(lines) < 30, done.stderr
    assert done.stdout.startswith("2 tasks: 64 trials, "), done.stdout
    rows = [line for line in done.stdout.splitlines() if line.startswith(("  gmm:", "  softmax:"))]
    assert len(rows) == 2 and all(re.search(r" \d+\S* (ns|us|ms) .*%.*x +\d+ ", row) for row in rows), done.stdout
    assert f"next: tunesmith build {GMM} --database" in done.stdout
    quiet = run("tune", GMM, SOFTMAX, "--trials", 64, "--database", folder / "records.db", "--quiet")
    assert quiet.stderr == "", quiet.stderr


def the_next_command_is_one_to_type(folder):
    database = folder / "my records.db"
    done = run("tune", GMM, SOFTMAX, "--trials", 4, "--threads", 1, "--space", "cpu-random", "--database", database)
    command = re.search(r"^next: (.+?)  ", done.stdout, re.MULTILINE)[1]
    assert shlex.split(command) == ["tunesmith", "build", GMM, "--space", "cpu-random", "--threads", "1", "--database", str(database)], command
    built = subprocess.run(["bash", "-c", f'tunesmith() {{ "{cli.TUNESMITH}" "$@"; }}; {command} --output "{folder}"'], capture_output=True, text=True)
    assert built.returncode == 0 and list(folder.glob("lib*.so")), built


def a_terminal_gets_a_table(folder):
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 70, 0, 0))
    process = subprocess.Popen([cli.TUNESMITH, "tune", GMM, SOFTMAX, DENSE, "--trials", "64", "--database", str(folder / "records.db")],
                               stdout=subprocess.PIPE, stderr=terminal, env={**os.environ, "TERM": "xterm"}, text=True)
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    out, _ = process.communicate(timeout=60)
    text = shown.decode()
    assert process.returncode == 0, text
    assert text.count("\x1b[J") > 2 and "trials" in text and "of peak" in text, text
    assert "more tasks" in text, "three tasks do not fit"
    plain = re.sub(r"\x1b\[\d*[A-Z]", "", text)
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) < 90, plain
    assert text.rstrip("\r").endswith("\x1b[J"), "the table is gone at the end"
    assert out.startswith("3 tasks: 64 trials"), out


def searchers_are_replaced_for_a_run(folder):
    run("tune", GMM, "--trials", 24, "--database", folder / "records.db", "--search", "random:16,evolutionary", "--model", "random")
    with sqlite3.connect(f"file:{folder / 'records.db'}?mode=ro", uri=True, timeout=10) as connection:
        (searcher, model), = connection.execute("select searcher, cost_model from run").fetchall()
    # A searcher that the space names keeps its options.
    assert searcher.splitlines()[0].startswith("searcher random") and "  trials 16" in searcher and "population=64" in searcher, searcher
    assert model.startswith("cost_model random"), model
    # With another searcher it is another run, which knows all records.
    other = tune(folder, GMM, "--trials", 8, "--search", "random")
    assert other["resumed"] == 0 and other["known"] == 24 and other["trials"] == 8, other
    for args, said in [(["--search", "randum"], "did you mean 'random'"), (["--search", "random,evolutionary"], "give its number of trials, as in random:192"),
                       (["--search", "random:x,evolutionary"], "'x' is not a number of trials"), (["--model", "analitical"], "did you mean 'analytical'"),
                       (["--scheduler", "gradeint"], "did you mean 'gradient'")]:
        assert said in run("tune", GMM, "--database", folder / "records.db", *args, code=2).stderr, args


def minutes_end_a_run(folder):
    begin = time.monotonic()
    result = tune(folder, GMM, SOFTMAX, "--minutes", 0.15)
    took = time.monotonic() - begin
    # The limit of 9 s, plus the measurement in progress.
    assert result["trials"] >= 32 and result["wall_seconds"] <= cli.within(12) and took < cli.within(18), (result["trials"], result["wall_seconds"], took)
    assert all(task["best_seconds_interval"] for task in result["tasks"]), "ranked in time"
    begin = time.monotonic()
    one = tune(folder, DENSE, "--minutes", 0.05)
    assert one["trials"] > 0 and time.monotonic() - begin < cli.within(30)
    short = run("tune", GMM, SOFTMAX, DENSE, "--minutes", 0.0001, "--database", folder / "short.db", code=3).stdout
    assert re.search(r"[23] not started, as the budget was spent; run the same command to continue", short) and "no valid" not in short, short


def bad_tasks_are_refused(folder):
    (folder / "bad.yaml").write_text("A:\n  - relu: heavy\n")
    (folder / "none.yaml").write_text("A:\n  - gmmm\n")
    for args, said in [([GMM, "gmmm"], "did you mean 'gmm'"), ([GMM, SOFTMAX, "--weight", "1"], "has 1 weights for 2 workloads"),
                       ([folder / "bad.yaml"], "bad.yaml:2:11: a workload's weight must be above zero, found 'heavy'"),
                       ([folder / "none.yaml"], "did you mean 'gmm'"), ([GMM, SOFTMAX, "--goal", "all"], "goal"),
                       ([GMM, SOFTMAX, "--minutes", "0"], "above zero"), ([GMM, SOFTMAX, "--weight", "1,-1"], "above zero")]:
        done = run("tune", *args, "--database", folder / "records.db", code=2)
        assert said in done.stderr + done.stdout, (args, done.stderr)
    assert not (folder / "records.db").exists(), "bad input is refused before anything is written"


if __name__ == "__main__":
    cli.run_test(globals())
