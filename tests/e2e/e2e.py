#!/usr/bin/env python3
"""The command line as a user runs it. Usage: e2e.py --tunesmith BINARY TEST"""
import argparse
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TUNESMITH = ""


def run(*args, code=0, **kwargs):
    done = subprocess.run([TUNESMITH, *map(str, args)], capture_output=True, text=True, timeout=150, **kwargs)
    assert done.returncode == code, f"{args}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
    return done


def tune(workload, database, *args, **kwargs):
    return json.loads(run("tune", workload, "--database", database, "--json", *args, **kwargs).stdout)


# A caller in C: fills the inputs, calls the library through DLTensors is left to the header's users; the raw entry takes plain pointers.
CALLER = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "%(name)s.h"
static float value(int i) { return (float)((i * 7919 + 13) %% 201 - 100) / 100.0f; }
int main(void) {
  static float inputs[%(inputs)d][%(most)d], output[%(most)d];
  void* buffers[%(inputs)d + 1];
  for (int k = 0; k < %(inputs)d; ++k) {
    for (int i = 0; i < %(most)d; ++i) inputs[k][i] = value(i + 31 * k);
    buffers[k] = inputs[k];
  }
  buffers[%(inputs)d] = output;
  if (%(name)s_raw(buffers) != 0) return 1;
  %(reference)s
  return 0;
}
"""
CHECK = r"""if (!(fabs(wanted - output[at]) <= 1e-4 * (1.0 + magnitude))) {
      printf("element %d is %g, wanted %g\n", at, output[at], wanted); return 2; }"""
GMM = r"""for (int i = 0; i < N; ++i) for (int j = 0; j < M; ++j) { double wanted = 0, magnitude = 0; const int at = i * M + j;
    for (int k = 0; k < K; ++k) { const double p = (double)inputs[0][i * K + k] * inputs[1][k * M + j]; wanted += p; magnitude += fabs(p); }
    """ + CHECK + "}"
SOFTMAX = r"""for (int i = 0; i < M; ++i) { double sum = 0; for (int j = 0; j < N; ++j) sum += exp((double)inputs[0][i * N + j]);
    for (int j = 0; j < N; ++j) { const int at = i * N + j; const double magnitude = 0, wanted = exp((double)inputs[0][at]) / sum;
    """ + CHECK + "} }"
CONV = r"""for (int y = 0; y < H; ++y) for (int x = 0; x < H; ++x) for (int f = 0; f < CO; ++f) {
    double wanted = 0, magnitude = 0; const int at = (y * H + x) * CO + f;
    for (int ky = 0; ky < 3; ++ky) for (int kx = 0; kx < 3; ++kx) { const int iy = y + ky - 1, ix = x + kx - 1;
      if (iy < 0 || ix < 0 || iy >= H || ix >= H) continue;
      for (int c = 0; c < CI; ++c) { const double p = (double)inputs[0][(iy * H + ix) * CI + c] * inputs[1][((ky * 3 + kx) * CI + c) * CO + f];
        wanted += p; magnitude += fabs(p); } }
    """ + CHECK + "}"
CASES = [
    ("gmm", "n=24,m=40,k=32", {"N": 24, "M": 40, "K": 32}, 2, GMM),
    ("gmm", "n=13,m=17,k=19", {"N": 13, "M": 17, "K": 19}, 2, GMM),
    ("softmax", "m=7,n=37", {"M": 7, "N": 37}, 1, SOFTMAX),
    ("conv2d", "h=9,w=9,ci=5,co=7,kernel=3", {"H": 9, "CI": 5, "CO": 7}, 2, CONV),
]


def call_library(out, name, sizes, inputs, reference, most=4096):
    """Builds a C program with the library in `out` and holds its result against the reference's."""
    defines = [f"-D{key}={value}" for key, value in sizes.items()]
    text = CALLER % {"name": name, "inputs": inputs, "most": most, "reference": reference}
    (out / "caller.c").write_text(text)
    subprocess.run(["cc", "-O1", *defines, "caller.c", f"lib{name}.so", "-Wl,-rpath,$ORIGIN", "-lm", "-o", "caller"], cwd=out, check=True)
    called = subprocess.run(["./caller"], cwd=out, capture_output=True, text=True)
    assert called.returncode == 0, f"{name} {sizes}: {called.stdout}{called.stderr}"


def library_gives_the_reference(folder):
    for name, params, sizes, inputs, reference in CASES:
        workload = f"{name}:{params}"
        result = tune(workload, folder / "records.db", "--trials", 16)
        assert result["valid"] == result["trials"] == 16, result
        out = folder / params.replace(",", "_").replace("=", "")
        run("build", workload, "--database", folder / "records.db", "--output", out)
        call_library(out, name, sizes, inputs, reference)


def bad_input_is_refused(folder):
    database = ["--database", folder / "r.db"]
    for args, wanted in [
        (["tune", "gmmm"], "did you mean 'gmm'"),
        (["tune", "gmm:nn=4"], "did you mean 'n'"),
        (["tune", "gmm:n=0"], "n"),
        (["tune", "gmm:n=1099511627776,m=4,k=4"], ""),
        (["tune", "nowhere/none.yaml"], "none.yaml"),
        (["tune", "gmm", "--space", "cpuu"], "did you mean 'cpu'"),
        (["tune", "gmm", "--trails", "4"], "--trails"),
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


def count_records(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute("select count(*) from record").fetchone()[0]


def started(folder, *args):
    """A long tuning run in the background that has recorded something."""
    database = folder / "records.db"
    process = subprocess.Popen([TUNESMITH, "tune", "gmm:n=96,m=96,k=96", "--trials", "4000", "--database", str(database), *args],
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


def killed_worker_is_replaced(folder):
    process, database = started(folder, "--time-limit", "12")
    worker = subprocess.run(["pgrep", "-P", str(process.pid), "-f", "tunesmith-worker"], capture_output=True, text=True).stdout.split()
    assert worker, "the worker is a child of the tuner"
    os.kill(int(worker[0]), signal.SIGKILL)
    before = count_records(database)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert count_records(database) > before + 8, "the run goes on with a new worker"
    run("records", "check", "--database", database)


def interrupt_stops_soon(folder):
    process, _ = started(folder)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    waited = time.monotonic() - begin
    assert process.returncode == 0, err
    assert waited < 2.0, f"stopped after {waited:.1f} s"
    assert "interrupted" in out and "best" in out, out


def json_has_its_keys(folder):
    result = tune("softmax:m=8,n=16", folder / "records.db", "--trials", 8)
    wanted = {"workload", "target", "environment", "trials", "valid", "failures", "best_seconds", "best_seconds_interval", "gflops",
              "peak_gflops", "share_of_peak", "baseline_seconds", "trace", "wall_seconds", "seconds"}
    assert wanted <= result.keys(), wanted - result.keys()
    assert {"propose", "build", "measure", "model"} <= result["seconds"].keys()
    assert 0 < result["best_seconds_interval"][0] <= result["best_seconds"] <= result["best_seconds_interval"][1]
    assert result["baseline_seconds"] > 0 and result["peak_gflops"] > 0


def threads_change_nothing(folder):
    orders = []
    for threads in (1, 2):
        database = folder / f"{threads}.db"
        # Blind search: what is proposed depends on the seed alone, not on measured times.
        tune("gmm:n=32,m=48,k=16", database, "--trials", 48, "--seed", 11, "--threads", threads, "--space", "cpu-random")
        with sqlite3.connect(database) as connection:
            orders.append(connection.execute("select program_hash, trace from record order by seq").fetchall())
    assert len(orders[0]) == 48 and orders[0] == orders[1]


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
    for params, sizes in [("n=16,m=32,k=8", {"N": 16, "M": 32, "K": 8}), ("n=13,m=17,k=19", {"N": 13, "M": 17, "K": 19})]:
        out = folder / params
        run("build", f"gmm:{params}", "--trace", file, "--output", out)
        call_library(out, "gmm", sizes, 2, GMM)
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
        assert entry["seconds_interval"][0] <= entry["seconds"] <= entry["seconds_interval"][1], entry
        assert abs(entry["share_of_peak"] - entry["gflops"] / one["peak_gflops"]) < 1e-9
    first, slow = one["entries"][0], one["entries"][1]
    assert first["times_of_first"] == 1 and slow["times_of_first"] > 2, "the unscheduled program is slower"
    text = run("bench", workload, "--database", database, "--compare", "unscheduled", "--rounds", 5).stdout
    assert "unscheduled" in text and "measured peak" in text, text
    done = run("bench", workload, "--database", database, "--compare", "space:cpu-papper", code=2)
    assert "cpu-paper" in done.stderr, done.stderr


def main():
    global TUNESMITH
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("test")
    arguments = parser.parse_args()
    TUNESMITH = os.path.abspath(arguments.tunesmith)
    with tempfile.TemporaryDirectory(prefix="tunesmith-e2e-") as folder:
        os.environ["XDG_DATA_HOME"] = folder
        globals()[arguments.test](pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
