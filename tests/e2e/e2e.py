#!/usr/bin/env python3
"""The command line as a user runs it. Usage: e2e.py --tunesmith BINARY TEST"""
import gzip
import json
import os
import pathlib
import platform
import re
import signal
import sqlite3
import subprocess
import sys
import time

import cli
from cli import run
from record_lines import with_times

TRIALS = 8
SKIPPED = 77


def tune(workload, database, *args, **kwargs):
    return json.loads(run("tune", workload, "--database", database, "--json", *args, **kwargs).stdout)


CALLERS = pathlib.Path(__file__).parent / "callers"
CONV = {"padding": 1, "stride": 1, "dilation": 1, "groups": 1}
# Every workload that has a caller in C, at a small shape and at one of primes.
CASES = [
    ("gmm", {"n": 24, "m": 40, "k": 32}),
    ("gmm", {"n": 13, "m": 17, "k": 19}),
    ("conv2d", {**CONV, "h": 8, "w": 8, "ci": 8, "co": 16, "kernel": 3, "stride": 2, "groups": 2}),
    ("conv2d", {**CONV, "h": 11, "w": 13, "ci": 5, "co": 7, "kernel": 3, "padding": 2, "dilation": 2}),
    ("dense_bias_gelu", {"n": 16, "m": 32, "k": 24}),
    ("dense_bias_gelu", {"n": 7, "m": 29, "k": 23}),
    ("conv_bias_bn_relu", {**CONV, "h": 8, "w": 8, "ci": 8, "co": 16, "kernel": 3}),
    ("conv_bias_bn_relu", {**CONV, "h": 7, "w": 11, "ci": 3, "co": 13, "kernel": 5, "padding": 2}),
    ("softmax", {"m": 16, "n": 64}),
    ("softmax", {"m": 7, "n": 37}),
    ("elementwise_chain", {"n": 32, "m": 64}),
    ("elementwise_chain", {"n": 7, "m": 31}),
]


def call_library(out, name, params, source=None):
    """Builds a C program with the library in `out`, which compares its result with the program's own."""
    defines = [f"-DPARAM_{key.upper()}={value}" for key, value in params.items()]
    if f"int {name}_prepare_raw(" in (out / f"{name}.h").read_text():
        defines.append("-DPREPARED")
    caller = out / "caller"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", *defines, f"-I{out}", CALLERS / (source or f"{name}.c"), out / f"lib{name}.so",
                    "-Wl,-rpath,$ORIGIN", "-lm", "-pthread", "-o", caller], check=True)
    called = subprocess.run([caller], capture_output=True, text=True)
    assert called.returncode == 0, f"{name} {params}: {called.stdout}{called.stderr}"


def library_gives_the_reference(folder):
    for number, (name, params) in enumerate(cli.usual_or_extended(CASES[1::2], CASES)):
        workload = f"{name}:{','.join(f'{key}={value}' for key, value in params.items())}"
        result = tune(workload, folder / "records.db", "--trials", TRIALS)
        # An elementwise chain has only six programs: decisions with the same lowered form are one program.
        assert result["valid"] == result["trials"] >= min(TRIALS, 6 if name == "elementwise_chain" else TRIALS), result
        out = folder / str(number)
        run("build", workload, "--database", folder / "records.db", "--output", out)
        call_library(out, name, params)


def innermost_loops(assembly):
    """The instructions of every innermost loop (from a label to the last jump back to it), and the registers that address the stack."""
    lines = [" ".join(line.split("#")[0].split()) for line in assembly.splitlines()]
    labels = {line[:-1]: at for at, line in enumerate(lines) if line.endswith(":")}
    functions = [at for label, at in labels.items() if not label.startswith(".")]
    loops = {}
    for at, line in enumerate(lines):
        jump = re.fullmatch(r"j\w+ (\S+)", line)
        if jump and labels.get(jump[1], at) < at:
            loops[labels[jump[1]]] = at
    for first, last in loops.items():
        if any(first < other < last for other in loops):
            continue
        function = max(at for at in functions if at < first)
        yield lines[first:last], ["%rsp", "%rbp"] if "movq %rsp, %rbp" in lines[function:first] else ["%rsp"]


def best_program_keeps_off_the_stack(folder):
    if platform.machine() != "x86_64":
        sys.exit(SKIPPED)  # the test reads x86 assembly
    result = tune("gmm:n=256,m=256,k=256", folder / "records.db", "--space", "cpu-tiling", "--trials", 64)
    shown = run("trace", "show", result["trace"], "--database", folder / "records.db", "--assembly").stdout
    products = [(loop, stack) for loop, stack in innermost_loops(shown) if any("fmadd" in line for line in loop)]
    assert products, "no loop of the best program multiplies and adds"
    for loop, stack in products:
        # A spilled register has a fixed address; a block packed onto the stack is read with an index.
        used = [line for line in loop if any(f"({register})" in line for register in stack)]
        assert not used, "\n".join(["the innermost loop uses the stack:", *used, "in:", *loop])


def bad_input_is_refused(folder):
    database = ["--database", folder / "r.db"]
    for args, wanted in [
        (["tune", "gmmm"], "did you mean 'gmm'"),
        (["tune", "gmm:nn=4"], "did you mean 'n'"),
        (["tune", "gmm:n=0"], "n"),
        (["tune", "gmm:n=1099511627776,m=4,k=4"], ""),
        (["tune", "nowhere/none.yaml"], "none.yaml"),
        (["tune", "gmm", "--space", "cpuu"], "did you mean 'cpu'"),
        (["tune", "gmm", "--trails", "4"], "did you mean '--trials'"),
        (["tun", "gmm"], "did you mean 'tune'"),
        (["spaces", "lnt"], "did you mean 'lint'"),
        (["tune", "gmm", "--trials", "-3"], "expected a number above zero, not '-3'"),
        (["tune", "gmm", "--spaces", "nowhere.yaml"], "nowhere.yaml"),
        (["build", "gmm", "--database", folder / "none.db"], "none.db"),
        (["records", "check", "--database", folder / "none.db"], "none.db"),
        (["plugins", "list", "--plugin-path", folder / "nowhere"], "nowhere"),
    ]:
        done = run(*args, *(database if args[0] == "tune" else []), code=2)
        assert wanted in done.stderr + done.stdout, (args, wanted, done.stderr)
        assert done.stdout == "" or "Usage" in done.stdout or args[0] == "tune", done.stdout
    assert not (folder / "r.db").exists(), "bad input is refused before anything is written"


GOOD = """version: 1
spaces:
  s:
    target: {kind: llvm}
    modules: [multi_level_tiling, rewrite_reduction_init]
    search: {kind: random}
    cost_model: {kind: random}
"""


def bad_spaces_are_refused(folder):
    file = folder / "spaces.yaml"
    file.write_text(GOOD)
    run("spaces", "lint", "--spaces", file)
    for old, new, place, wanted in [
        ("search:", "serch:", ":6:", "search"),
        ("version: 1", "version: 2", ":1:", "version 2"),
        ("version: 1", "version: one", ":1:", "integer"),
        ("[multi_level_tiling,", "[multi_level_tilling,", ":5:", "multi_level_tiling"),
        ("[multi_level_tiling,", "[{multi_level_tiling: {structur: SSRSRS}},", ":5:", "structure"),
        ("[multi_level_tiling,", "[{multi_level_tiling: {max_innermost: many}},", ":5:", "integer"),
        ("[multi_level_tiling,", "[{multi_level_tiling: {max_innermost: 0}},", ":5:", "1"),
        ("search: {kind: random}", "search: {kind: random}\n    search: {kind: random}", ":7:", "search"),
        ("target: {kind: llvm}", "extends: s", ":4:", "extends"),
        ("target: {kind: llvm}", "extends: t", ":4:", "no space 't'"),
        ("version: 1", "version: 1\n---\nversion: 1", "", "document"),
        ("{kind: llvm}", "{kind: llvmm}", ":4:", "llvm"),
    ]:
        assert old in GOOD
        file.write_text(GOOD.replace(old, new, 1))
        done = run("spaces", "lint", "--spaces", file, code=2)
        assert f"spaces.yaml{place}" in done.stderr and wanted in done.stderr, (new, done.stderr)


def all_that_is_wrong_with_spaces_is_said(folder):
    file = folder / "spaces.yaml"
    file.write_text(GOOD + "  t: {extends: u}\n  u: {extends: t}\n  v: {extends: s, modules: [parallel_vectorize_unrol], serch: 1}\n"
                    "  w: {extends: s, modules: [{script: {trace: 'annotate(block, \"unroll_step\", 1)'}}], cost_model: {kind: rendom}}\n")
    done = run("spaces", "lint", file, code=2)
    for place, wanted in [(":9:", "circular 'extends': t → u → t"), (":10:", "did you mean 'search'?"), (":10:", "did you mean 'parallel_vectorize_unroll'?"), (":11:", "no module consumes the annotation 'unroll_step' of module 'script'"),
                          (":11:", "did you mean 'random'?")]:
        lines = [line for line in done.stderr.splitlines() if wanted in line]
        assert len(lines) == 1 and f"spaces.yaml{place}" in lines[0], (wanted, done.stderr)
    assert done.stderr.count("\n") == 5, done.stderr
    assert "space 's' composes" in done.stdout and "space 'w' has faults" in done.stdout, done.stdout
    said = json.loads(run("spaces", "lint", file, "--json", code=2).stdout)
    assert len(said["faults"]) == 5 and not any(fault["of_machine"] for fault in said["faults"]), said
    assert [space["name"] for space in said["spaces"] if space["composes"]] == ["s"], said
    file.write_text(GOOD.replace("    target:", "\ttarget:"))
    assert "spaces.yaml:4:1: a tab; YAML indents with spaces" in run("spaces", "lint", file, code=2).stderr


def partners_are_brought_and_missed(folder):
    """A module brings the consumer of its annotations; if that is removed, lint and tune say so."""
    file = folder / "spaces.yaml"
    file.write_text(GOOD.replace("[multi_level_tiling,", "[parallel_vectorize_unroll: {unroll: [0, 16]},"))
    lines = run("spaces", "lint", file).stdout.splitlines()
    assert lines[1:] == ["  root       parallel_vectorize_unroll  unroll=[0, 16]", "  finishing  rewrite_reduction_init",
                         "  finishing  rewrite_parallel_vectorize_unroll  (brought by parallel_vectorize_unroll)"], lines
    file.write_text("version: 1\nspaces:\n  s: {extends: cpu, modules+: [{remove: rewrite_parallel_vectorize_unroll}]}\n")
    done = run("spaces", "lint", file, code=2)
    for key in ["parallel_jobs", "vectorize", "unroll_steps"]:
        said = f"no module consumes the annotation '{key}' of module 'parallel_vectorize_unroll'; 'rewrite_parallel_vectorize_unroll' consumes it: add it"
        assert done.stderr.count(said) == 1, done.stderr
    tuned = run("tune", "gmm:n=16,m=16,k=16", "--database", folder / "r.db", "--trials", 2, "--spaces", file)
    assert tuned.stderr.count("no module consumes the annotation") == 3, tuned.stderr


def spaces_are_listed(folder):
    """The spaces of a file and the built-in ones are listed in order, with what is missing here."""
    file = folder / "spaces.yaml"
    file.write_text("version: 1\nspaces:\n  mine:\n    extends: cpu\n    description: For one machine.\n  lacking: {extends: cpu, target: {with+: [acme_unit]}}\n  cpu: {extends: cpu-paper}\n")
    listed = json.loads(run("spaces", "list", "--spaces", file, "--json").stdout)["spaces"]
    names = [space["name"] for space in listed]
    assert names == sorted(names) and {"mine", "lacking", "cuda"} <= set(names) and names.count("cpu") == 1, names
    by_name = {space["name"]: space for space in listed}
    assert by_name["mine"]["description"] == "For one machine." and by_name["mine"]["modules"] == 8, by_name["mine"]
    assert not by_name["cpu"]["built_in"] and by_name["cuda"]["built_in"] and not by_name["cuda"]["faults"], listed
    lacking = by_name["lacking"]
    assert lacking["extensions"][-1] == {"name": "acme_unit", "optional": False, "here": False, "lacks": "a pack that has it"}, lacking
    assert len(lacking["faults"]) == 1 and "spaces.yaml:6:" in lacking["faults"][0], lacking
    text = run("spaces", "list", "--spaces", file).stdout
    assert "    For one machine.\n" in text and "acme_unit (unavailable: lacks a pack that has it)" in text and "    cannot be used: " in text, text


def records_say_what_they_are(folder):
    """A store of an older schema is read as it is, and copied aside where it is written; records are listed, shown and found by near names."""
    database = folder / "records.db"
    with sqlite3.connect(database) as connection:
        connection.executescript((pathlib.Path(__file__).parents[1] / "unit/records/fixtures/schema7.sql").read_text())
        connection.execute("pragma journal_mode = wal")
    listed = run("records", "list", "--database", database, "--count", 2)
    assert "has schema 7 and was only read" in listed.stderr and "12 records" in listed.stderr, listed.stderr
    assert listed.stdout.count("2 threads") == 2, listed.stdout
    assert sorted(file.name for file in folder.iterdir() if "schema7" in file.name) == []
    again = run("records", "check", "--database", database)
    assert "was only read" in again.stderr and "12 records" in again.stdout and "clean" in again.stdout
    run("build", "gmm:n=16,m=16,k=16", "--database", database, "--output", folder / "lib", code=2)

    tune("gmm:n=16,m=16,k=16", database, "--trials", 4, "--threads", 1)
    assert (folder / "records.db.schema7.bak").exists()
    assert run("records", "check", "--database", database).stderr == ""
    best = json.loads(run("records", "best", "--workload", "gmm:n=16,m=16,k=16", "--database", database, "--count", 1, "--json").stdout)["records"]
    assert len(best) == 1 and best[0]["threads"] == 1, best
    again = tune("gmm:n=16,m=16,k=16", database, "--trials", 4, "--threads", 2)
    assert again["resumed"] == 0, "the times of one thread are not those of two"
    best = json.loads(run("records", "best", "--workload", "gmm:n=16,m=16,k=16", "--database", database, "--count", 1, "--json").stdout)["records"]
    assert sorted(one["threads"] for one in best) == [1, 2], best
    shown = run("records", "show", best[0]["id"], "--database", database)
    for part in ["threads", "lowered hash", "began", "definition", "name: gmm", "trace"]:
        assert part in shown.stdout, (part, shown.stdout)
    assert json.loads(run("records", "show", best[0]["id"], "--database", database, "--json").stdout)["definition"].startswith("name: gmm")
    wrong = best[0]["id"][:-1] + ("0" if best[0]["id"][-1] != "0" else "1")
    assert best[0]["id"] in run("records", "show", wrong, "--database", database, code=2).stderr
    assert "did you mean 'softmax'" in run("records", "list", "--workload", "softmx", "--database", database, code=2).stderr
    lines = run("records", "export", "--database", database).stdout
    (folder / "all.jsonl").write_text(lines)
    assert "0 refused" in run("records", "import", folder / "all.jsonl", "--database", folder / "copy.db").stdout
    assert run("records", "export", "--database", folder / "copy.db").stdout == lines


def count_records(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute("select count(*) from record").fetchone()[0]


def started(folder, *args, trials=4000):
    """A long tuning run in the background that has recorded something."""
    database = folder / "records.db"
    process = subprocess.Popen([cli.TUNESMITH, "tune", "gmm:n=96,m=96,k=96", "--trials", str(trials), "--database", str(database), *args],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        try:
            if database.exists() and count_records(database) >= 20:
                return process, database
        except sqlite3.OperationalError:
            pass  # not created yet
    raise AssertionError("no records within a minute")


def killed_run_resumes(folder):
    process, database = started(folder, "--seed", "5")
    process.kill()
    process.wait()
    kept = count_records(database)
    assert "clean" in run("records", "check", "--database", database).stdout
    result = tune("gmm:n=96,m=96,k=96", database, "--trials", 40, "--seed", 5)
    assert result["resumed"] >= 20, result
    assert count_records(database) >= kept


def what_a_killed_run_never_ranked_is_ranked_before_it_is_built(folder):
    process, database = started(folder)
    process.kill()
    process.wait()
    best = ("records", "best", "--database", database)
    build = ("build", "gmm:n=96,m=96,k=96", "--database", database, "--output", folder / "lib")
    never = "never timed in turn"
    assert "not ranked: gmm:" in run(*best).stdout and json.loads(run(*best, "--json").stdout)["not_ranked"]
    (folder / "lib").mkdir()
    (folder / "lib").chmod(0o777)
    database.chmod(0o444)
    folder.chmod(0o555)
    said = run(*build, "--json", **({"user": 65534} if os.geteuid() == 0 else {}))  # the superuser writes what is read-only
    assert never in said.stderr and never in json.loads(said.stdout)["provenance"], said
    assert never in " ".join((folder / "lib/gmm.h").read_text().replace("*", "").split())
    folder.chmod(0o755)
    database.chmod(0o644)
    said = run(*build)
    assert re.search(r"ranked \d+ programs that had not been compared", said.stderr), said
    assert never not in " ".join((folder / "lib/gmm.h").read_text().replace("*", "").split())
    assert json.loads(run(*best, "--json").stdout)["records"][0]["kind"] == "ranking"
    # A few at once: on a machine that is busier than during the search, others look faster than the best.
    assert any("had not been compared" not in run(*build).stderr for _ in range(10)), "it ends"
    known = count_records(database)
    run(*build)
    assert "not ranked" not in run(*best).stdout and count_records(database) == known, "once is enough"


def killed_worker_is_replaced(folder):
    process, database = started(folder, trials=128)
    worker = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "tunesmith-worker"], capture_output=True, text=True).stdout.split()
    assert worker, "the worker is a child of the tuner"
    os.kill(int(worker[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    assert count_records(database) >= 128, "the run continues with a new worker"
    run("records", "check", "--database", database)


def interrupt_stops_soon(folder):
    process, _ = started(folder)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    waited = time.monotonic() - begin
    assert process.returncode == 130, err
    assert waited < cli.within(2.0), f"stopped after {waited:.1f} s"
    # A busy machine may leave no time for the summary, but everything is recorded.
    assert ("interrupted" in out and "best" in out) or "interrupted; everything measured so far is recorded" in err, (out, err)
    assert "95 % of" not in out, "what was not ranked has no interval"


def json_has_its_keys(folder):
    result = tune("softmax:m=8,n=16", folder / "records.db", "--trials", 8)
    wanted = {"workload", "target", "environment", "trials", "valid", "failures", "best_seconds", "best_seconds_interval", "gflops",
              "peak_gflops", "share_of_peak", "baseline_seconds", "trace", "wall_seconds", "seconds"}
    assert wanted <= result.keys(), wanted - result.keys()
    assert {"propose", "build", "measure", "model"} <= result["seconds"].keys()
    assert 0 < result["best_seconds_interval"][0] <= result["best_seconds"] <= result["best_seconds_interval"][1]
    assert result["baseline_seconds"] > 0 and result["peak_gflops"] > 0


def explain_says_whose_the_space_is(folder):
    told = json.loads(run("spaces", "explain", "softmax:m=64,n=512", "--json").stdout)
    shares = {share["module"]: share for share in told["shares"]}
    assert told["points"] >= told["sketches"] > 1
    assert abs(sum(share["choices"] for share in shares.values()) - 1) < 1e-9
    applied = {event["module"] for event in told["events"] if event["status"] == "applied"}
    for module, share in shares.items():
        assert 0 <= share["points"] <= 1 and (share["points"] > 0) == (module in applied), share
    assert {"partition_edges", "rewrite_reduction_init", "rewrite_parallel_vectorize_unroll"} == set(told["finishing"])
    assert all(event["reason"] for event in told["events"] if event["status"] == "declined")
    text = run("spaces", "explain", "softmax:m=64,n=512").stdout
    for part in ("\nblock O\n", "\n2 similar blocks: Sum, Max\n", "\nthe program\n", "\nfinishing modules of every candidate\n", "\nshare of the space"):
        assert part in text, f"{part!r} is not in:\n{text}"


SIBLINGS = """name: siblings
params: {m: 16, k: 32, n: 48}
inputs:
  X: {shape: [m, k], dtype: f32}
  V: {shape: [k, n], dtype: f32}
  W: {shape: [k, n], dtype: f32}
compute: |
  A[i<m, j<n] = sum(r<k) X[i, r] * V[r, j]
  B[i<m, j<n] = sum(r<k) X[i, r] * W[r, j]
  O[i<m, j<n] = A[i, j] * B[i, j]
outputs: [O]
"""
SOME_PLAIN = """version: 1
spaces:
  some:
    target: {kind: llvm}
    modules:
      - add_rfactor
      - script:
          match: ["*_rf"]
          trace: |
            z, i, j, a, b = get_loops(block)
            i0, i1 = split(i, [2, 2])
            reorder([i0, a, b, i1])
    search: {kind: random}
    cost_model: {kind: random}
"""


def blocks_left_plain_are_said(folder):
    (folder / "siblings.yaml").write_text(SIBLINGS)
    siblings = f"{folder}/siblings.yaml:m=16,k=32,n=48"
    reason = "reverse_compute_at: an input of the block is written after the place"
    done = run("tune", siblings, "--space", "cpu-paper", "--database", folder / "records.db", "--trials", 4, "--json")
    [plain] = json.loads(done.stdout)["plain_blocks"]
    assert plain["block"] == "A" and .49 < plain["share"] < .5 and plain["sketches"] == 3, plain
    assert {"module": "multi_level_tiling", "reason": reason} in plain["declined"], plain
    said = "block A has 49.6 % of the work, and all 3 sketches leave it plain"
    assert f"tunesmith: {said}\n" in done.stderr and re.search(rf"\n  multi_level_tiling +declined  {reason}\n", done.stderr), done.stderr
    # With many tasks, the message names the task.
    done = run("tune", siblings, "gmm:n=16,m=16,k=16", "--space", "cpu-paper", "--database", folder / "many.db", "--trials", 8, "--batch", 4,
               "--scheduler", "round_robin", "--json")
    assert [len(task["plain_blocks"]) for task in json.loads(done.stdout)["tasks"]] == [1, 0]
    assert f"tunesmith: {siblings}: {said}\n" in done.stderr and done.stderr.count("leave it plain") == 1, done.stderr
    # `explain` also names blocks that only some sketches leave plain.
    assert json.loads(run("spaces", "explain", siblings, "--space", "cpu-paper", "--json").stdout)["plain_blocks"] == [plain]
    assert f"\nleft plain\n{said}\n" in run("spaces", "explain", siblings, "--space", "cpu-paper").stdout
    (folder / "spaces.yaml").write_text(SOME_PLAIN)
    some = ("spaces", "explain", "gmm:n=4,m=4,k=1024", "--spaces", folder / "spaces.yaml")
    told = json.loads(run(*some, "--json").stdout)
    assert told["sketches"] == 3 and [(one["block"], one["sketches"]) for one in told["plain_blocks"]] == [("C", 1)], told["plain_blocks"]
    assert "block C has 100.0 % of the work, and 1 of 3 sketches leave it plain" in run(*some).stdout
    done = run("tune", *some[2:], "--database", folder / "some.db", "--trials", 4, "--json")
    assert json.loads(done.stdout)["plain_blocks"] == [] and "it plain" not in done.stderr, done.stderr
    assert "left plain" not in run("spaces", "explain", "gmm:n=64,m=64,k=64").stdout


def networks_groups_have_no_plain_block(folder):
    """No group of operators in bench/peers has a heavy block that every sketch leaves plain."""
    root = pathlib.Path(__file__).parents[2]
    groups = re.findall(r"^  - (\S+)$", (root / "bench/peers/groups.yaml").read_text(), re.M)
    assert len(groups) == 12, groups
    for group in groups:
        explained = json.loads(run("spaces", "explain", group, "--space", "cpu", "--json", cwd=root).stdout)
        assert explained["plain_blocks"] == [], (group, explained["plain_blocks"])


def threads_change_nothing(folder):
    orders = []
    for threads in (1, 2):
        database = folder / f"{threads}.db"
        # In a blind search, proposals depend on the seed alone, not on measured times.
        tune("gmm:n=32,m=48,k=16", database, "--trials", 48, "--seed", 11, "--threads", threads, "--space", "cpu-random")
        with sqlite3.connect(database) as connection:
            orders.append(connection.execute("select lowered_hash, trace from record where kind = 'search' order by seq").fetchall())
    assert len(orders[0]) == 48 and orders[0] == orders[1]


def times_are_of_their_threads(folder):
    workload, database = "gmm:n=32,m=48,k=16", folder / "records.db"
    tune(workload, database, "--trials", 4, "--threads", 1)
    again = tune(workload, database, "--trials", 4, "--threads", 2)
    assert again["resumed"] == again["known"] == 0, again
    assert tune(workload, database, "--trials", 4, "--threads", 2)["resumed"] == 4
    one = json.loads(run("build", workload, "--database", database, "--threads", 1, "--output", folder / "one", "--json").stdout)
    two = json.loads(run("build", workload, "--database", database, "--threads", 2, "--output", folder / "two", "--json").stdout)
    assert one["provenance"] != two["provenance"], one


BARE = """version: 1
spaces:
  tiled: {extends: cpu}
  bare:
    target: {kind: llvm, with: ["vnni?", "bf16_dot?", "amx_dot?"]}
    modules: []
    search: {kind: random}
    cost_model: {kind: random}
"""


def what_is_built_was_measured(folder):
    """Built with another space of the same extensions, without modules, the library contains the measured program."""
    workload, database = "gmm:n=64,m=64,k=64", folder / "records.db"
    spaces = folder / "spaces.yaml"
    spaces.write_text(BARE)
    best = tune(workload, database, "--trials", 16, "--spaces", spaces, "--space", "tiled")
    build = ["build", workload, "--database", database, "--spaces", spaces, "--json", "--output", folder / "lib"]
    shipped = {space: json.loads(run(*build, "--space", space).stdout) for space in ("tiled", "bare")}
    for built in shipped.values():
        assert not built["measured_now"] and f"record {best['trace']}" in built["provenance"], built
        assert built["provenance"] == shipped["tiled"]["provenance"]
    assert f"record {best['trace']}" in (folder / "lib" / "gmm.h").read_text()
    shown = [run("trace", "show", best["trace"], "--database", database, "--spaces", spaces, "--space", space, "--lowered").stdout
             for space in shipped]
    assert shown[0] == shown[1], "a record is one program in every space"
    # A program without a record is verified and measured first.
    file = folder / "my.trace"
    file.write_text(TRACE.replace("decompose", "init = decompose"))
    built = json.loads(run(*build, "--trace", file).stdout)
    assert built["measured_now"] and "verified and measured" in built["provenance"], built
    call_library(folder / "lib", "gmm", {"n": 64, "m": 64, "k": 64})


def workloads_from_files_stay_known(folder):
    """A record contains its workload, whose file may be gone."""
    file = folder / "scale.yaml"
    file.write_text("name: scale\nparams: {n: 64}\ninputs:\n  X: {shape: [n], dtype: f32}\ncompute: |\n  O[i<n] = X[i] * 2\noutputs: [O]\n")
    database = folder / "records.db"
    best = tune(file, database, "--trials", 4)["trace"]
    file.unlink()
    assert "scale" in run("trace", "show", best, "--database", database, "--lowered").stdout


TRACE = """# A product by hand: rows on all cores, sixteen columns to a vector.
b = get_block("C")
z, i, j, k = get_loops(b)
i0, i1 = split(i, [None, 4])
j0, j1 = split(j, [None, 16])
reorder([i0, j0, k, i1, j1])
parallel(i0)
decompose_reduction(b, k)
vectorize(j1)
unroll(i1)
"""


def hand_written_traces_build(folder):
    file = folder / "my.trace"
    file.write_text(TRACE.replace("decompose", "init = decompose"))
    # 13 and 17 are not multiples of the tiles: masks do the rest.
    for params, sizes in [("n=16,m=32,k=8", {"n": 16, "m": 32, "k": 8}), ("n=13,m=17,k=19", {"n": 13, "m": 17, "k": 19})]:
        out = folder / params
        run("build", f"gmm:{params}", "--trace", file, "--output", out)
        call_library(out, "gmm", sizes)
    good = file.read_text()
    for old, new, place, wanted in [
        ("vectorize(j1)", "vectorise(j1)", ":9:1", "did you mean 'vectorize'"),
        ("split(j, [None, 16])", "split(jj, [None, 16])", ":5:16", "'jj' is not defined"),
        ("split(j, [None, 16])", "split(j, [None, 16]", ":6:", "expected"),
        ("parallel(i0)", "parallel(i0, 4)", ":7:14", "takes 1 argument"),
        ("vectorize(j1)", "vectorize(k)", ":9:1", "the loop carries a reduction"),
        ('get_block("C")', 'get_block("D")', ":2:1", "D"),
    ]:
        assert old in good
        file.write_text(good.replace(old, new, 1))
        done = run("build", "gmm:n=16,m=32,k=8", "--trace", file, "--output", folder / "bad", code=2)
        assert f"my.trace{place}" in done.stderr and wanted in done.stderr, (new, done.stderr)
    assert not (folder / "bad").exists()
    done = run("build", "gmm", "--trace", folder / "none.trace", code=2)
    assert "none.trace" in done.stderr, done.stderr


def bench_compares_programs(folder):
    database = folder / "records.db"
    workload = "gmm:n=64,m=64,k=64"
    file = folder / "my.trace"
    file.write_text(TRACE.replace("decompose", "init = decompose"))
    run("bench", workload, "--database", database, code=2)  # nothing has been tuned
    best = tune(workload, database, "--trials", 8)["trace"]
    tune(workload, database, "--trials", 8, "--space", "cpu-paper")
    compared = ["unscheduled", str(file), best, "space:cpu-paper"]
    arguments = [argument for name in compared for argument in ("--compare", name)]
    done = json.loads(run("bench", workload, "gmm:n=13,m=17,k=19", "--trace", file, *arguments[:4], "--rounds", 12, "--json").stdout)
    assert [one["workload"].split(",")[1] for one in done["benchmarks"]] == ["n=64", "n=13"]
    done = json.loads(run("bench", workload, "--database", database, *arguments, "--rounds", 12, "--json").stdout)
    (one,) = done["benchmarks"]
    assert one["peak_gflops"] > 0 and [entry["name"] for entry in one["entries"]][1:] == compared
    for entry in one["entries"]:
        assert entry["samples"] == 12 and 0 <= entry["verified_error"] <= 1, entry
        low, high = entry["seconds_interval"]
        assert low is None and entry["seconds"] <= high, f"twelve rounds bound a low percentile from above only: {entry}"
        assert abs(entry["share_of_peak"] - entry["gflops"] / one["peak_gflops"]) < 1e-9
    first, slow = one["entries"][0], one["entries"][1]
    assert first["times_of_first"] == 1 and slow["times_of_first"] > 2, "the unscheduled program is slower"
    text = run("bench", workload, "--database", database, "--compare", "unscheduled", "--rounds", 5).stdout
    assert "unscheduled" in text and "measured peak" in text, text
    done = run("bench", workload, "--database", database, "--compare", "space:cpu-papper", code=2)
    assert "cpu-paper" in done.stderr, done.stderr


PACK = """p = cache_read(b, 1, "global")
transform_layout(p, "write", 0, "(z, k, j) -> (z, j // 16, k, j % 16)")
"""


PACKING_SPACE = """version: 1
spaces:
  packed:
    target: {kind: llvm}
    modules:
      - script:
          match: [C]
          claim: false
          trace: |
            p = cache_read(block, 1, "global")
            transform_layout(p, "write", 0, "(z, k, j) -> (z, j // 16, k, j % 16)")
      - multi_level_tiling: {structure: SSRSRS}
      - rewrite_reduction_init
      - rewrite_parallel_vectorize_unroll
    search: {kind: random}
    cost_model: {kind: random}
"""


def examples_call_the_library(folder):
    """The examples of --example compile without warnings and give the same result in C and in Python."""
    file = folder / "pack.trace"
    lines = TRACE.replace("decompose", "init = decompose").split("\n", 2)
    file.write_text(f"{lines[0]}\n{lines[1]}\n{PACK}{lines[2]}")
    for name, workload, options in [("plain", "gmm:n=16,m=32,k=8", []), ("packed", "gmm:n=16,m=32,k=8,constant_b=1", []),
                                    ("halves", "gmm:n=16,m=32,k=8,dtype=bf16", []), ("bytes", "gmm:n=16,m=32,k=8,dtype=i8", [])]:
        out = folder / name
        built = json.loads(run("build", workload, "--trace", file, "--output", out, "--name", name, "--example", "--json").stdout)
        assert built["prepares"] == (name == "packed") and f"{out}/{name}_example.py" in built["others"], built
        source = (out / f"{name}_example.c").read_text()
        command = re.search(r"^ +(cc .*) && ", source, re.M)[1]  # from the example's own comment
        subprocess.run(f"{command} -Wall -Wextra -Werror", shell=True, check=True, cwd=out)
        in_c = subprocess.run([out / f"{name}_example"], capture_output=True, text=True, check=True).stdout
        in_python = subprocess.run([sys.executable, out / f"{name}_example.py"], capture_output=True, text=True, check=True).stdout
        assert in_c.splitlines()[0] == in_python.splitlines()[0] and "us a call" in in_c and "us a call" in in_python, (in_c, in_python)
        if name in ("plain", "packed"):
            total = sum(((8 * i + r) % 7) * ((32 * r + j) % 7) for i in range(16) for j in range(32) for r in range(8))
            assert f"checksum of out_2: {total}\n" in in_c, in_c
    assert "example" not in run("build", "gmm:n=16,m=32,k=8", "--trace", file, "--output", folder / "none").stdout


def constant_inputs_are_prepared(folder):
    file = folder / "pack.trace"
    lines = TRACE.replace("decompose", "init = decompose").split("\n", 2)
    file.write_text(f"{lines[0]}\n{lines[1]}\n{PACK}{lines[2]}")
    for n, m, k in [(16, 32, 8), (13, 17, 19)]:
        out = folder / f"{n}"
        built = json.loads(run("build", f"gmm:n={n},m={m},k={k},constant_b=1", "--trace", file, "--output", out, "--json").stdout)
        assert built["prepares"], built
        call_library(out, "gmm", {"n": n, "m": m, "k": k}, "gmm_prepared.c")
        # If B is not constant, the same trace packs at every call and prepares nothing.
        built = json.loads(run("build", f"gmm:n={n},m={m},k={k}", "--trace", file, "--output", folder / "plain", "--json").stdout)
        assert not built["prepares"] and "prepare" not in (folder / "plain" / "gmm.h").read_text()
        call_library(folder / "plain", "gmm", {"n": n, "m": m, "k": k})
    # The preparation is verified, and timed separately.
    arguments = ["--trace", file, "--compare", "unscheduled", "--rounds", 5, "--json"]
    done = json.loads(run("bench", "gmm:n=64,m=64,k=64,constant_b=1", *arguments).stdout)
    packed, plain = done["benchmarks"][0]["entries"]
    assert packed["prepare_seconds"] > 0 and packed["verified_error"] <= 1, packed
    assert plain["prepare_seconds"] is None, plain
    assert "preparing its constants" in run("bench", "gmm:n=64,m=64,k=64,constant_b=1", "--trace", file, "--rounds", 5).stdout
    shown = run("trace", "show", file, "--workload", "gmm:n=64,m=64,k=64,constant_b=1", "--lowered").stdout
    assert "once, for constant inputs" in shown, shown
    passes = run("trace", "show", file, "--workload", "gmm:n=64,m=64,k=64,constant_b=1", "--passes").stdout
    steps = [line.split()[2].rstrip(":") for line in passes.splitlines() if line.startswith("# after ")]
    assert steps[0] == "lower_blocks" and steps[-1] == "lay_out_prepared" and len(steps) > 10, steps
    assert shown.split("# once, for constant inputs")[1] in passes, passes  # what it ends with was printed on the way
    # A search with a packing module records the preparation's time, and the best record's library prepares.
    space = folder / "spaces.yaml"
    space.write_text(PACKING_SPACE)
    database = folder / "records.db"
    # Two of the six are the unscheduled program and its parallel form, which prepare nothing.
    result = tune("gmm:n=32,m=32,k=32,constant_b=1", database, "--trials", 6, "--spaces", space)
    assert result["valid"] == 6, result
    assert "clean" in run("records", "check", "--database", database).stdout
    with sqlite3.connect(database) as connection:
        prepared = "select count(*) from record where kind = 'search' and seconds_prepare > 0"
        assert connection.execute(prepared).fetchone()[0] == 4


def one_library_is_for_a_range_of_extents(folder):
    workload = "gmm:n=2..41:typical=7,32,m=24,k=16"
    result = tune(workload, folder / "records.db", "--trials", TRIALS)
    assert result["valid"] == result["trials"] == TRIALS, result
    out = folder / "built"
    run("build", workload, "--database", folder / "records.db", "--output", out)
    header = (out / "gmm.h").read_text()
    assert "input A: f32 [1, n, 16]" in header and "n: 2 to 41." in header, header
    call_library(out, "gmm", {"lowest": 2, "highest": 41, "m": 24, "k": 16}, "gmm_varying.c")
    exported = run("records", "export", "--database", folder / "records.db").stdout
    (folder / "other.jsonl").write_text(with_times(exported, [lambda n: 1e-4 * n, lambda n: 1e-5 * n * n]))
    run("records", "import", folder / "other.jsonl", "--database", folder / "other.db")
    built = json.loads(run("build", workload, "--database", folder / "other.db", "--output", out, "--json").stdout)
    first, second = (re.fullmatch(r"n=(\d+)\.\.(\d+): record (\w+)", one).groups() for one in built["intervals"])
    assert (first[0], second[1]) == ("2", "41") and 7 <= int(first[1]) < 16 and int(second[0]) == int(first[1]) + 1, built
    assert first[2] != second[2] and all(one in (out / "gmm.h").read_text() for one in built["intervals"]), built
    best = json.loads(run("records", "best", "--database", folder / "other.db", "--json").stdout)
    assert [f'{one["interval"]}: record {one["record"]}' for one in best["intervals"]] == built["intervals"], best
    run("records", "export", "--best", 1, "--output", folder / "best.jsonl", "--database", folder / "other.db")
    run("records", "import", folder / "best.jsonl", "--database", folder / "best.db")
    assert json.loads(run("build", workload, "--database", folder / "best.db", "--output", out, "--json").stdout)["intervals"] == built["intervals"]
    call_library(out, "gmm", {"lowest": 2, "highest": 41, "m": 24, "k": 16}, "gmm_varying.c")
    # Another interval is another task.
    assert "no record" in run("build", "gmm:n=1..41,m=24,k=16", "--database", folder / "records.db", "--output", out, code=2).stderr


def an_inner_extent_varies(folder):
    """Here the number of terms: the rows of an operand lie as far apart as there are."""
    workload = "gmm:n=7,m=24,k=2..41"
    result = tune(workload, folder / "records.db", "--trials", TRIALS)
    assert result["valid"] == result["trials"] == TRIALS, result
    out = folder / "built"
    run("build", workload, "--database", folder / "records.db", "--output", out)
    header = (out / "gmm.h").read_text()
    assert "input A: f32 [1, 7, k]" in header and "k: 2 to 41." in header, header
    call_library(out, "gmm", {"lowest": 2, "highest": 41, "n": 7, "m": 24}, "gmm_varying.c")


def tables_are_recorded_until_rounds_agree(folder):
    spaces = folder / "few.yaml"
    spaces.write_text("""
version: 1
default: few
spaces:
  few:
    target: {kind: llvm, mcpu: native}
    modules: [{multi_level_tiling: {structure: SRS, max_innermost: 4, write_reuse: [1], without_reuse: false}}]
    search: {kind: exhaustive}
    cost_model: {kind: random}
""")
    table, most = folder / "gmm.table.gz", 4
    run("tables", "record", "gmm:n=16,m=16,k=64", "--spaces", spaces, "--rounds", most, "--output", table)
    programs = [json.loads(line) for line in gzip.open(table, "rt")][1:-1]
    assert len(programs) > 4

    def tenth_percentile(samples):
        return sorted(samples)[int(0.1 * (len(samples) - 1) + 0.5)]

    def apart(rounds):
        first, second = sorted(map(tenth_percentile, rounds))[:2]
        return second / first

    # A table's times are rounded to the nanosecond.

    for rounds in (program["rounds_ns"] for program in programs):
        assert 2 <= len(rounds) <= most, rounds
        assert len(rounds) == most or apart(rounds) <= 1.052, rounds
        assert len(rounds) == 2 or apart(rounds[:-1]) >= 1.048, rounds


if __name__ == "__main__":
    cli.run_test(globals())
