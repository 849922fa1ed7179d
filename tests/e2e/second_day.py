#!/usr/bin/env python3
"""Answers on a user's second day: to names that are nearly right, partial names, doubtful options. Usage: second_day.py --tunesmith BINARY TEST"""
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time

import cli
from cli import run

GMM = "gmm:n=32,m=32,k=32"


def workload(folder, statement):
    file = folder / "mine.yaml"
    file.write_text(f"name: mine\nparams: {{n: 8}}\ninputs:\n  X: {{shape: [n, n], dtype: f32}}\ncompute: |\n  O[i<n] = {statement}\noutputs: [O]\n")
    return run("workloads", "show", file, code=2).stderr


def reductions_are_named(folder):
    assert "mine.yaml:6:12: unknown reduction 'argmix'; did you mean 'argmax'?" in workload(folder, "argmix(j<n) X[i, j]")
    assert "unknown reduction 'average'; known: sum, prod, max, min, argmax, argmin" in workload(folder, "average(j<n) X[i, j]")
    said = workload(folder, "sum(j<i+1) X[i, j]")
    assert "an extent may not depend on axis 'i'" in said and "select(" in said, said
    assert "'q' is not defined" in workload(folder, "sum(j<q+1) X[i, j]")


def nearest_names_are_proposed(folder):
    for option, typed, meant in (("--search", "bayes", "bayesian"), ("--model", "xgb", "xgboost"), ("--search", "evolutoinary", "evolutionary")):
        said = run("tune", GMM, option, typed, "--database", folder / "r.db", code=2).stderr
        assert f"'{typed}'; did you mean '{meant}'?" in said, said
    said = run("model", "train", "--foo", code=2).stderr
    assert "'tunesmith model train --help' lists them" in said, said


def a_bare_command_prints_help(folder):
    said = run(code=2)
    assert "Subcommands:" in said.stderr and "Exit codes:" in said.stderr and not said.stdout, said


def doubtful_numbers_are_said(folder):
    database = folder / "r.db"
    said = run("tune", GMM, "--seed", -1, "--database", database, code=2).stderr
    assert "--seed" in said and "not negative" in said, said
    said = run("tune", GMM, "--threads", 97, "--trials", 2, "--database", database).stderr
    assert "97 threads share" in said, said
    run("tune", GMM, "--trials", 6, "--threads", 1, "--database", database)
    said = run("tune", GMM, "--trials", 2, "--threads", 1, "--database", database).stdout
    assert "2 requested, but more are recorded already: nothing was measured" in said, said


def some_parameters_name_records(folder):
    database = folder / "r.db"
    for n in (32, 48):
        run("tune", f"gmm:n={n},m=32,k=32", "--trials", 3, "--database", database)
    def count(*words, code=0):
        return len(json.loads(run("records", *words, "--count", 100, "--database", database, "--json", code=code).stdout)["records"])
    both, one = count("list"), count("list", "--workload", "gmm:n=48")
    assert count("list", "--workload", "gmm") == both and 0 < one < both and count("list", "--workload", "gmm:k=32,n=48") == one, (both, one)
    assert count("list", "--workload", "gmm:n=1009", code=3) == 0
    assert 0 < count("best", "--workload", "gmm:n=48") < count("best", "--workload", "gmm:m=32")
    said = run("records", "best", "--workload", "gmm:n=1009", "--database", database, code=3).stderr
    assert "nothing of gmm:n=1009 was measured on this machine" in said, said
    said = json.loads(run("records", "export", "--workload", "gmm:n=48", "--output", folder / "some.jsonl", "--database", database, "--json").stdout)
    assert said["records"] == one, said
    assert "unknown workload" in run("records", "list", "--workload", "gmn:n=48", "--database", database, code=2).stderr


def records_know_their_space_and_ids_their_beginnings(folder):
    database = folder / "r.db"
    id = json.loads(run("tune", "gmm:n=32,m=32,k=32,dtype=u8,b_dtype=i8", "--space", "cpu-random", "--trials", 4, "--database", database, "--json").stdout)["trace"]
    (folder / "spaces.yaml").write_text("version: 1\ndefault: bare\nspaces:\n  bare: {target: {kind: llvm}, modules: [], search: {kind: random}, cost_model: {kind: random}}\n")
    for words in (["show", id, "--assembly"], ["replay", id[:9]], ["show", id[:4], "--lowered"], ["export", id]):
        run("trace", *words, "--database", database, "--spaces", folder / "spaces.yaml")
    assert f"record {id}" in run("records", "show", id[:7], "--database", database).stdout
    assert "no record" in run("records", "show", "0000", "--database", database, code=2).stderr
    assert "neither a file nor a record id" in run("trace", "show", "abc", "--database", database, code=2).stderr


def a_damaged_store_is_read_as_far_as_it_can_be(folder):
    database, lines = folder / "r.db", folder / "r.jsonl"
    run("tune", GMM, "--trials", 40, "--database", database)
    whole = len(json.loads(run("records", "list", "--count", 1000, "--database", database, "--json").stdout)["records"])
    content = bytearray(database.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    # Damages a page behind the first one with rows of measurements.
    last = max(at for at in range(0, len(content), page) if b"search" in content[at:at + page])
    content[last:last + page] = bytes(page)
    database.write_bytes(content)
    said = run("records", "list", "--database", database, code=4).stderr
    assert "the record store is damaged" in said and "tunesmith records export" in said, said
    said = run("records", "export", "--output", lines, "--database", database, code=4).stderr
    assert "the file is damaged: up to" in said, said
    assert "damaged" in run("records", "check", "--database", database, code=4).stderr
    run("records", "import", lines, "--database", folder / "new.db")
    saved = len(json.loads(run("records", "list", "--count", 1000, "--database", folder / "new.db", "--json").stdout)["records"])
    assert 0 < saved < whole, (saved, whole)
    (folder / "one.db").write_bytes(b"x")
    for words in (["records", "list"], ["tune", GMM, "--trials", 2]):
        assert "not a record store" in run(*words, "--database", folder / "one.db", code=2).stderr
    assert (folder / "one.db").read_bytes() == b"x"


def minutes_end_where_nothing_is_to_be_gained(folder):
    begin = time.monotonic()
    # These spaces are not exhausted in two minutes.
    said = json.loads(run("tune", "gmm:n=96,m=96,k=96", "gmm:n=128,m=128,k=128", "--minutes", 2, "--least-gain", 20, "--threads", 1,
                          "--database", folder / "r.db", "--json").stdout)
    assert time.monotonic() - begin < 100 and {task["ended_because"] for task in said["tasks"]} == {"expected gain"}, said
    one = ("tune", GMM, "--threads", 1, "--batch", 16)
    said = run(*one, "--minutes", 1, "--least-gain", 60, "--database", folder / "one.db").stdout
    assert "--min-gain 0: continue" in said, said
    # Runs use the whole budget if asked to (in a space that six seconds do not exhaust), and with a budget of trials.
    assert json.loads(run("tune", "gmm:n=256,m=256,k=256", "--threads", 1, "--minutes", 0.1, "--least-gain", 0,
                          "--database", folder / "two.db", "--json").stdout)["ended_because"] == "time limit"
    assert json.loads(run(*one, "--minutes", 1, "--trials", 48, "--database", folder / "three.db", "--json").stdout)["ended_because"] == "trials"


def one_share_everywhere_and_doubts_of_the_peak_are_said(folder):
    database = folder / "r.db"
    tune = ("tune", "gmm:n=64,m=64,k=64", "--trials", 8, "--threads", 1, "--database", database)

    def shares():
        tuned = json.loads(run(*tune, "--json").stdout)
        [line] = json.loads(run("report", database, "--json").stdout)["rooflines"]
        return tuned, line["points"][0]["operations_per_second"] / line["operations_per_second"], line

    tuned, share, line = shares()
    assert abs(tuned["share_of_peak"] - share) < 1e-9 and abs(tuned["peak_gflops"] * 1e9 - line["operations_per_second"]) < 1, (tuned, line)
    assert tuned["peak_time_ms"] == line["operations_measured"]["time_ms"] and tuned["peak_disturbed"] == line["operations_measured"]["disturbed"] is not None
    # Imports a higher peak, to which all shares must then refer. Numbers are replaced in the text, since Python may write others with
    # different digits, and then the checksum does not fit.
    line = next(text for text in run("records", "export", "--database", database).stdout.splitlines() if '"roof":' in text)
    content = re.search(r'"roof":(\{.*\}),"version"', line)[1]
    for name, value in [("id", '"high"'), ("per_second", "100000000000000.0"), ("disturbed", "true")]:
        content = re.sub(rf'"{name}":[^,}}]+', f'"{name}":{value}', content)
    checksum = hashlib.sha256(content.encode()).hexdigest()[:16]
    (folder / "high.jsonl").write_text(f'{{"checksum":"{checksum}","roof":{content},"version":8}}\n')
    run("records", "import", folder / "high.jsonl", "--database", database)
    again, share, line = shares()
    assert again["peak_disturbed"] is True and abs(again["share_of_peak"] - share) < 1e-9 and again["share_of_peak"] < 0.5 * tuned["share_of_peak"], (again, tuned)
    assert again["peak_beside_gflops"] < 0.5 * again["peak_gflops"]
    said = run(*tune).stdout
    assert "the peak was measured on a disturbed machine" in said and "beside the best program it reached" in said, said


def what_is_read_is_not_written_over(folder):
    store = folder / "r.db"
    run("tune", "gmm:n=16,m=16,k=16", "--trials", 4, "--threads", 1, "--database", store)
    whole = run("records", "list", "--database", store).stdout
    record = whole.split()[0]
    for words in (("records", "export", "--database", store, "--output", store), ("report", store, "--output", store),
                  ("trace", "export", record, "--database", store, "--output", store)):
        assert "it is an input and would be overwritten" in run(*words, code=2).stderr, words
    assert run("records", "list", "--database", store).stdout == whole
    run("records", "export", "--database", store, "--output", folder / "out.jsonl")
    written = (folder / "out.jsonl").read_bytes()
    assert written.count(b"\n") >= 4 and run("records", "export", "--database", store, "--output", "/dev/stdout").stdout.encode() == written
    assert sorted(each.name for each in folder.iterdir() if each.name.startswith("out")) == ["out.jsonl"], "no part is left"
    # These are refused before anything is measured.
    for words in (("tune", GMM, "--model-file", folder / "none/m", "--database", store), ("tables", "record", GMM, "--output", folder / "none/t.gz")):
        assert "no such folder" in run(*words, code=2).stderr, words
    # A full device is reported for small output, too.
    with open("/dev/full", "w") as full:
        for words in (("workloads", "list"), *(("build", "gmm:n=16,m=16,k=16", "--threads", 1, "--database", store, "--output", folder / "lib", *how) for how in ((), ("--json",)))):
            done = subprocess.run([cli.TUNESMITH, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
            assert done.returncode == 4 and "standard output" in done.stderr, (words, done)
    # An infinite limit does not time out at once.
    assert json.loads(run("tune", "gmm:n=16,m=16,k=16", "--trials", 4, "--threads", 1, "--candidate-time-out", "inf", "--database", folder / "i.db", "--json").stdout)["valid"] == 4


def results_whose_writer_was_killed_are_continued_twice(folder):
    table = min((pathlib.Path(__file__).parents[2] / "bench/tables").glob("*.table.gz"), key=lambda file: file.stat().st_size)
    compare = ("compare", "--table", table, "--searchers", "random,exhaustive", "--trials", 2, "--batch", 2, "--results", folder / "r.jsonl", "--quiet")
    run(*compare, "--seeds", 1)
    whole = (folder / "r.jsonl").read_bytes()
    for missing in (40, 1):  # a part of the last line, or only its end
        (folder / "r.jsonl").write_bytes(whole[:-missing])
        for seeds in (1, 2, 2):
            run(*compare, "--seeds", seeds)
        lines = (folder / "r.jsonl").read_text().splitlines()
        assert len(lines) == 4 and all(json.loads(line) for line in lines), lines


def a_library_beside_it_needs_a_python_that_has_the_package(folder):
    environment = os.environ | {"TUNESMITH_PYTHON": str(folder / "none")}
    done = run("tune", GMM, "--trials", 2, "--against", "torch", "--database", folder / "r.db", code=4, env=environment)
    assert "cannot import the package tunesmith" in done.stderr and "pip install" in done.stderr and not (folder / "r.db").exists(), done
    assert "torch" in run("tune", GMM, "--against", "blast", "--database", folder / "r.db", code=2).stderr
    # Python's answers are printed: a refusal before anything is measured, and a comparison.
    python = folder / "python"
    python.write_text("""#!/bin/sh
case "$*" in
  *--check*relu*) echo '{"error": "relu is none"}';;
  *--check*) echo '{"ok": true}';;
  *) echo "{\\"text\\": \\"beside it: $*\\", \\"rounds\\": 7}";;
esac
""")
    python.chmod(0o755)
    environment["TUNESMITH_PYTHON"] = str(python)
    assert "relu is none" in run("tune", "relu", "--trials", 2, "--against", "torch", "--database", folder / "r.db", code=2, env=environment).stderr
    assert not (folder / "r.db").exists()
    done = run("tune", GMM, "--trials", 4, "--against", "torch", "--database", folder / "r.db", env=environment)
    assert "beside it: -m tunesmith.against torch --record" in done.stdout and "--space cpu" in done.stdout, done.stdout
    assert json.loads(run("tune", GMM, "--trials", 4, "--against", "best", "--database", folder / "r.db", "--json", env=environment).stdout)["against"]["rounds"] == 7
    # A library that fails at the end leaves the result.
    python.write_text(python.read_text().replace("*) echo \"", "*) echo '{\"error\": \"torch is broken\"}';;\n  none) echo \""))
    done = run("tune", GMM, "--trials", 4, "--against", "torch", "--database", folder / "r.db", code=2, env=environment)
    assert "torch is broken" in done.stderr and "  best  " in done.stdout, done
    assert "one workload" in run("tune", GMM, "relu", "--against", "torch", "--database", folder / "r.db", code=2, env=environment).stderr


def a_heavy_block_left_plain_is_said_before_it_is_measured(folder):
    (folder / "spaces.yaml").write_text("version: 1\ndefault: bare\nspaces:\n  bare: {extends: cpu, modules: []}\n")
    done = run("tune", GMM, "--trials", 2, "--spaces", folder / "spaces.yaml", "--database", folder / "r.db")
    assert "block C has" in done.stderr and "leaves it plain" in done.stderr, done.stderr


def a_summary_begins_with_the_result(folder):
    tune = ("tune", GMM, "--trials", 12, "--seed", 5, "--search", "random:4,evolutionary", "--database", folder / "r.db")
    first, second, *rest = run(*tune).stdout.splitlines()
    assert first.startswith("gmm:") and second.startswith("  best  ") and not any(line.startswith(("  model", "  wall")) for line in rest), rest
    assert any(line.startswith("  search    random, then evolutionary, seed 5: 12 trials") for line in rest), rest
    assert "\n  wall  " in run(*tune, "-v").stdout


def why_a_faster_search_stands_behind_is_said(folder):
    database = folder / "r.db"
    run("tune", GMM, "--trials", 24, "--database", database)
    assert "flatters" not in run("records", "best", "--count", 1, "--database", database).stdout
    with sqlite3.connect(database) as store:
        store.execute("update measurement set seconds = 1.0, seconds_min = 1.0, seconds_median = 1.0, samples = '[1.0]', sample_count = 1 where kind = 'ranking'")
    said = run("records", "best", "--count", 24, "--database", database).stdout
    assert said.index(" ranking ") < said.index(" search ") and "search: the smallest of a few samples, which is optimistic" in said, said


if __name__ == "__main__":
    cli.run_test(globals())
