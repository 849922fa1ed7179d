#!/usr/bin/env python3
"""A newcomer's mistakes: words that are nearly right, wrong places, results that say too much or too little. Usage: newcomer.py --tunesmith BINARY TEST"""
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import sqlite3
import subprocess

import cli
from cli import run, start

GMM = "gmm:n=32,m=32,k=32"
ONE = ("--threads", 1)


def types_of_other_languages_are_known(folder):
    for typed, meant in (("float32", "f32"), ("torch.bfloat16", "bf16"), ("uint8", "u8"), ("double", "f64"), ("Half", "f16"), ("int64_t", "i64")):
        assert f"found '{typed}'; did you mean '{meant}'?" in run("workloads", "show", f"gmm:dtype={typed}", code=2).stderr
    file = folder / "mine.yaml"
    file.write_text("name: mine\ninputs:\n  X: {shape: [4], dtype: float32}\ncompute: |\n  O[i<4] = X[i]\noutputs: [O]\n")
    assert "mine.yaml:3:26: 'float32' is not a data type; did you mean 'f32'?" in run("workloads", "show", file, code=2).stderr
    file.write_text("name: mine\ninputs:\n  X: {shape: [4], dtype: f32}\ncompute: |\n  O[i<4] = double(X[i])\noutputs: [O]\n")
    assert "unknown function 'double'; did you mean 'f64'?" in run("workloads", "show", file, code=2).stderr


def every_error_begins_alike_and_says_what_to_do(folder):
    for words in (["tune"], ["tune", GMM, "--trials", "x"], ["tune", GMM, "--trials", "-3"], ["tune", GMM, "--bogus"], ["bench"], ["records"], ["records", "show"],
                  ["completion", "tcsh"], ["spaces", "explain"], ["trace", "diff", "a"], ["network", "bench"], ["tune", GMM, "--minutes"]):
        done = run(*words, code=2)
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("tunesmith: ") and "--help'" in lines[0] and not done.stdout, (words, done)
    assert "'tunesmith records show --help'" in run("records", "show", code=2).stderr
    assert run("tune", "--help").stdout.startswith("tune ") or "Usage:" in run("tune", "--help").stdout


def of_one_search(place):
    """Runs a search; returns its store, the best trace as a file and as a line, and its record."""
    store, trace, lines = place / "r.db", place / "t.trace", place / "l.jsonl"
    run("tune", GMM, "--trials", 3, *ONE, "--database", store)
    record = json.loads(run("records", "best", "--database", store, "--json").stdout)["records"][0]["id"]
    trace.write_text(run("trace", "show", record, "--database", store).stdout)
    run("trace", "export", record, "--database", store, "--output", lines)
    return store, trace, lines, record


# Raw messages of C++, SQLite or CLI11.
RAW = re.compile(r"basic_\w+|filesystem error|std::|json\.exception|iostream|terminate called|_M_\w+|stoi|stol|bad_alloc|SQLite code|CLI::|what\(\)|boost|YAML::|\bvector::")


def no_message_is_the_librarys_own(folder):
    """Calls each command that reads or writes files with something else in the place of each file and folder."""
    store, trace, lines, record = of_one_search(folder)
    (folder / "dir").mkdir()
    (folder / "text").write_text("no such content\n")
    (folder / "empty").write_text("")
    (folder / "binary").write_bytes(bytes(range(256)) * 64)
    bad = [folder / "dir", folder / "none" / "below", folder / "text" / "below", folder / "text", folder / "empty", folder / "binary", pathlib.Path("/proc/none")]
    at = "AT"
    database = ("--database", store)
    commands = [
        ["tune", GMM, "--trials", 2, "--database", at], ["tune", at, "--trials", 2, *database], ["tune", GMM, "--spaces", at, *database], ["tune", GMM, "--plugin-path", at, "--trials", 2, *database],
        ["tune", GMM, "--locked", at, *database], ["tune", GMM, "--model-file", at, "--trials", 2, *database],
        ["build", GMM, *ONE, "--output", at, *database], ["build", GMM, "--database", at], ["build", GMM, "--trace", at, *database], ["build", at, *database],
        ["bench", GMM, "--trace", at, "--rounds", 1, *ONE], ["bench", GMM, "--database", at, "--rounds", 1, *ONE], ["measure", at, "--output", folder / "m.jsonl"], ["measure", lines, "--output", at],
        ["compare", "--table", at, "--trials", 2], ["tables", "show", at], ["tables", "check", at], ["tables", "rehash", at, "--output", folder / "x"],
        ["report", at, "--output", folder / "r.html"], ["report", store, "--output", at], ["report", "--comparison", at, "--output", folder / "r.html"], ["report", "--network", at, "--output", folder / "r.html"],
        ["spaces", "list", "--spaces", at], ["spaces", "lint", at], ["spaces", "explain", GMM, "--spaces", at], ["spaces", "show", at],
        ["features", GMM, "--trace", at], ["features", GMM, "--database", at, "--trace", record], ["model", "show", at], ["model", "train", "--database", at, "--output", folder / "x"], ["model", "train", *database, "--output", at],
        ["records", "list", "--database", at], ["records", "best", "--database", at], ["records", "check", "--database", at], ["records", "show", record, "--database", at], ["records", "export", "--database", at],
        ["records", "export", "--output", at, *database], ["records", "import", at, "--database", folder / "i.db"], ["records", "import", lines, "--database", at], ["records", "merge", at, "--database", folder / "i.db"],
        ["records", "delete", "--workload", "relu", "--yes", "--database", at],
        ["workloads", "show", at], ["workloads", "show", f"{at}/x.yaml"],
        ["trace", "show", at], ["trace", "replay", at, "--workload", GMM], ["trace", "diff", trace, at], ["trace", "check", at], ["trace", "export", record, "--output", at, *database], ["trace", "show", record, "--database", at],
        ["plugins", "list", "--plugin-path", at], ["plugins", "verify", at], ["plugins", "lock", at], ["plugins", "new", "module", "x", "--into", at], ["plugins", "probe", "--locked", at],
        ["network", "import", at], ["network", "show", at], ["network", "tasks", at], ["network", "build", at, "--output", folder / "n"], ["network", "tune", at, "--output", folder / "n", "--trials", 1],
        ["network", "verify", at], ["network", "bench", at], ["network", "run", at], ["network", "test", at], ["man-pages", at], ["doctor", "--plugin-path", at],
    ]
    said = []
    for command in commands:
        for place in bad:
            words = [str(word).replace(at, str(place)) for word in command]
            done = start(*words, cwd=folder / "dir", stdin=subprocess.DEVNULL)
            if RAW.search(done.stderr) or done.returncode not in (0, 1, 2, 3, 4) or (done.returncode and not done.stderr.strip() and not done.stdout.strip()):
                said.append((" ".join(words), done.returncode, done.stderr.strip()[-300:]))
    assert not said, "\n".join(map(str, said))


def explanations_say_a_sentence_once(folder):
    said = run("spaces", "explain", "softmax").stdout
    lines = said.splitlines()
    assert len(lines) < 60, said
    whole = json.loads(run("spaces", "explain", "softmax", "--json").stdout)["events"]
    assert len(whole) > 150, "the object has all"
    reasons = [line for line in lines if "claimed by row_chain: it is part of a chain" in line]
    assert 0 < len(reasons) <= 4, said
    for block in {event["block"] for event in whole}:
        assert re.search(rf"\b{block}\b", said), (block, said)
    for module in {event["module"] for event in whole}:
        assert re.search(rf"\b{module}\b", said), (module, said)


def doctor_ends_with_a_verdict(folder):
    said = run("doctor").stdout.splitlines()
    assert said[-1].startswith("ready ") and "tunesmith tune" in said[-1] and len(said) < 35, said
    assert json.loads(run("doctor", "--json").stdout)["obstacles"] == []
    (folder / "file").write_text("")
    done = run("doctor", code=4, env={**os.environ, "XDG_DATA_HOME": str(folder / "file" / "below")})
    assert "NOT READY" in done.stdout and "give another file with --database" in done.stdout.splitlines()[-1], done.stdout


def differences_are_differences(folder):
    traces = pathlib.Path(__file__).parents[2] / "sdk/examples/traces"
    for other in ("gmm_1024_bf16", "gmm_1024_int8", "gmm_100"):
        said = run("trace", "diff", traces / "gmm_1024.trace", traces / f"{other}.trace").stdout.splitlines()
        removed, added = ([line[2:] for line in said if line[0] == mark] for mark in "-+")
        assert removed and added and not set(removed) & set(added), (other, said)


def lists_tell_tasks_by_their_shapes(folder):
    database = folder / "r.db"
    text = "name: matmul_add\ninputs:\n  X: {{shape: [4, {k}], dtype: f32}}\n  W: {{shape: [{k}, 8], dtype: f32}}\n  B: {{shape: [8], dtype: f32}}\ncompute: |\n  P[i<4, j<8] = sum(r<{k}) X[i, r] * W[r, j]\n  O[i<4, j<8] = P[i, j] + B[j]\noutputs: [O]\n"
    for k in (16, 32):
        file = folder / f"matmul_add_{k}" / "matmul_add.yaml"
        file.parent.mkdir()
        file.write_text(text.format(k=k))
        run("tune", file, "--trials", 2, *ONE, "--database", database)
    listed = run("records", "best", "--count", 1, "--database", database).stdout
    assert "[4, 16] [16, 8] -> [4, 8]" in listed and "[4, 32] [32, 8] -> [4, 8]" in listed, listed
    records = json.loads(run("records", "best", "--count", 1, "--database", database, "--json").stdout)["records"]
    assert {record["shapes"] for record in records} == {"[4, 16] [16, 8] -> [4, 8]", "[4, 32] [32, 8] -> [4, 8]"}
    tasks = json.loads(run("report", database, "--json").stdout)["tasks"]
    assert [task["shapes"] for task in tasks] == ["[4, 16] [16, 8] -> [4, 8]", "[4, 32] [32, 8] -> [4, 8]"]
    assert {record["task"] for record in records} == {task["id"] for task in tasks}
    assert tasks[0]["id"] in run("records", "show", records[0]["id"], "--database", database).stdout + run("records", "show", records[1]["id"], "--database", database).stdout
    run("tune", GMM, "--trials", 2, *ONE, "--database", database)
    [gmm] = json.loads(run("records", "best", "--count", 1, "--workload", GMM, "--database", database, "--json").stdout)["records"]
    assert gmm["shapes"] is None, "its text has them"


def records_are_deleted_when_somebody_agrees(folder):
    database = folder / "r.db"
    for n in (16, 32):
        run("tune", f"gmm:n={n},m=16,k=16", "--trials", 4, *ONE, "--database", database)
    run("tune", "gmm:n=16,m=16,k=16", "--trials", 3, "--seed", 5, *ONE, "--database", database)
    records = lambda: json.loads(run("records", "list", "--count", 999, "--database", database, "--json").stdout)["records"]
    delete = lambda *words, code=0, **more: run("records", "delete", *words, "--database", database, code=code, **more)
    whole = records()
    assert "which records?" in delete(code=2).stderr
    refused = delete("--workload", "gmm:n=32", code=2, stdin=subprocess.DEVNULL).stderr
    assert "no terminal to ask" in refused and "--yes" in refused and "delete " in refused, refused
    assert "did you mean 'gmm'" in delete("--workload", "gmn", "--yes", code=2).stderr
    assert "no run 'x'" in delete("--run", "x", "--yes", code=2).stderr and "no task 'x'" in delete("--task", "x", "--yes", code=2).stderr
    assert records() == whole
    # On a terminal it asks; any answer but yes means no.
    for answer, left in ((b"n\n", len(whole)), (b"y\n", len([r for r in whole if "n=32" not in r["workload"]]))):
        mine, its = pty.openpty()
        asked = subprocess.Popen([cli.TUNESMITH, "records", "delete", "--workload", "gmm:n=32", "--database", database], stdin=its, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.write(mine, answer)
        out, err = asked.communicate(timeout=60)
        os.close(mine)
        os.close(its)
        assert asked.returncode == 0 and "records of 1 workload in" in err and len(records()) == left, (answer, out, err)
    assert re.search(r"records and \d+ programs deleted; .* freed", out), out
    runs = sorted({record["run"] for record in records()})
    assert len(runs) == 2
    said = json.loads(delete("--run", runs[0], "--yes", "--json").stdout)
    assert said["records"] > 0 and {record["run"] for record in records()} == {runs[1]}, said
    [task] = {record["task"] for record in records()}
    delete("--task", task, "--yes")
    assert records() == [] and delete("--workload", "gmm", "--yes", code=3).stderr
    assert "clean" in run("records", "check", "--database", database).stdout
    run("tune", "gmm:n=16,m=16,k=16", "--trials", 2, *ONE, "--database", database)
    assert len(records()) >= 2, "the store goes on"


def a_damaged_row_is_passed_over_and_named(folder):
    database = folder / "r.db"
    run("tune", GMM, "--trials", 8, *ONE, "--database", database)
    best = lambda: json.loads(run("records", "best", "--database", database, "--count", 99, "--json").stdout)["records"]
    first = best()[0]["id"]
    with sqlite3.connect(database) as store:
        store.execute("update measurement set samples = 'none' where id = ?", [first])
    listed = run("records", "list", "--count", 99, "--database", database)
    assert listed.stderr.count(f"record '{first}' is damaged") == 1 and "left out" in listed.stderr and first not in listed.stdout, listed
    assert best()[0]["id"] != first
    run("build", GMM, *ONE, "--database", database, "--output", folder / "lib")
    assert "is damaged" in run("tune", GMM, "--trials", 10, *ONE, "--database", database).stderr
    run("report", database, "--output", folder / "r.html")
    assert first in run("records", "check", "--database", database, code=4).stderr


def libraries_take_no_name_of_the_systems(folder):
    database = folder / "r.db"
    run("tune", GMM, "--trials", 2, *ONE, "--database", database)
    for name in ("c", "m", "pthread", "dl"):
        said = run("build", GMM, *ONE, "--database", database, "--name", name, "--output", folder / "lib", code=2).stderr
        assert f"'{name}' cannot name a library" in said and "--name" in said, said
    run("build", GMM, *ONE, "--database", database, "--name", "mine", "--output", folder / "lib")


def json_is_utf8_whatever_files_are_called(folder):
    name = os.fsdecode(b"caf\xe9")
    shutil.copy(pathlib.Path(__file__).parents[2] / "spaces.yaml", folder / f"{name}.yaml")
    run("tune", GMM, *ONE, "--trials", 1, "--database", folder / "records.db", "-q")
    for words in (["spaces", "lint", folder / f"{name}.yaml"], ["plugins", "new", "module", "mine", "--into", folder / name],
                  ["records", "export", "--output", folder / f"{name}.jsonl", "--database", folder / "records.db"]):
        done = start(*words, "--json", "-q", errors="surrogateescape")
        assert done.returncode == 0 and "caf\ufffd" in json.dumps(json.loads(done.stdout.encode("utf-8")), ensure_ascii=False), done


def fish_tells_commands_of_one_name_apart(folder):
    script = run("completion", "fish").stdout
    places = {}  # the commands that offer an option
    for line in script.splitlines():
        if line.startswith("complete "):
            words = shlex.split(line)
            if words[5] == "-l":
                places.setdefault(words[6], set()).add(shlex.split(words[4])[1])
    assert places["goal"] == {" tune"} and " tune" not in places["dim"] and {" network tune", " network build"} <= places["dim"], places["dim"]
    assert {" tune", " network tune"} <= places["trials"] and "" in places["version"], places["trials"]
    if shutil.which("fish"):
        (folder / "script.fish").write_text(script)
        for words, wanted, unwanted in [("network tune --", "--dim", "--goal"), ("tune --", "--goal", "--dim"), ("", "network", "lint")]:
            done = subprocess.run(["fish", "--no-config", "-c", f"source {folder / 'script.fish'}; complete -C 'tunesmith {words}'"], capture_output=True, text=True, check=True)
            offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
            assert wanted in offered and unwanted not in offered, (words, offered)


def shares_are_of_the_units_of_their_types(folder):
    database = folder / "r.db"
    tuned = {}
    for dtype, unit in (("u8,b_dtype=i8", "GOP/s"), ("i32", "GOP/s"), ("f32", "GFLOP/s")):
        workload = f"gmm:n=64,m=64,k=64,dtype={dtype}"
        done = run("tune", workload, "--trials", 4, *ONE, "--database", database)
        assert f" {unit}" in done.stdout and (unit == "GFLOP/s") == ("GFLOP/s" in done.stdout + done.stderr), done.stdout
        tuned[dtype] = json.loads(run("tune", workload, "--trials", 4, *ONE, "--database", database, "--json").stdout)
        assert tuned[dtype]["rate_unit"] == unit
        # All commands use the same peak.
        compared = json.loads(run("bench", workload, "--compare", "unscheduled", "--rounds", 2, *ONE, "--database", database, "--json").stdout)["benchmarks"][0]
        assert compared["rate_unit"] == unit and compared["peak_gflops"] >= tuned[dtype]["peak_gflops"] * (1 - 1e-9), (compared, tuned[dtype])
    assert tuned["u8,b_dtype=i8"]["peak_of"].startswith("operations u8") and tuned["i32"]["peak_of"] == "operations i32"
    assert tuned["u8,b_dtype=i8"]["peak_gflops"] > 1.4 * tuned["i32"]["peak_gflops"], "bytes have instructions of their own"


if __name__ == "__main__":
    cli.run_test(globals())
