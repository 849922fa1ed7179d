#!/usr/bin/env python3
"""What a user does in a day, with nothing but the installed command. Usage: users_day.py --tunesmith BINARY TEST"""
import json
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

import cli
from cli import run

ATTENTION = pathlib.Path(__file__).parent / "attention.yaml"
SUITE = pathlib.Path(__file__).parents[2] / "workloads/suite.yaml"
SCALE = "name: scale\nparams: {n: 64}\ninputs:\n  X: {shape: [n], dtype: f32}\ncompute: |\n  O[i<n] = X[i] * 2\noutputs: [O]\n"


def commands_start_at_once(folder):
    needed = subprocess.run(["ldd", cli.TUNESMITH], check=True, capture_output=True, text=True).stdout
    assert "LLVM" not in needed, "the command itself links a code generator"
    run("--help")  # loads the program's pages into memory
    for args, limit in [(["--help"], 0.020), (["plugins", "list"], 0.100), (["plugins", "list", "--options"], 0.100)]:
        times = []
        while len(times) < 9:
            begin = time.perf_counter()
            run(*args)
            times.append(time.perf_counter() - begin)
        print(f"tunesmith {' '.join(args)}: {min(times) * 1e3:.1f} ms, wanted {limit * 1e3:.0f} ms on an idle machine")
        assert min(times) < cli.within(2 * limit), (args, times)


def spaces_are_generated_at_once(folder):
    """The whole suite, and six stages with three reductions. Sizes that are not multiples of a tile once took ten times as long."""
    def cpu_seconds(workload):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run("spaces", "explain", workload)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    suite = re.findall(r"^ +- (\S+)$", SUITE.read_text(), re.MULTILINE)
    assert len(suite) > 80, suite
    slowest = 0.0
    for workload in [*suite, *(f"{ATTENTION}:n={n}" for n in (64, 127, 132, 144, 166, 176, 198, 200, 222, 250))]:
        seconds = cpu_seconds(workload)
        slowest = max(slowest, seconds)
        if workload not in suite:
            print(f"the space of {pathlib.Path(workload).name}: {seconds:.2f} s of processor time")
        assert seconds < cli.within(1), (workload, seconds)
    print(f"the slowest of {len(suite)} of the suite and these: {slowest:.2f} s, wanted 0.5 s on an idle machine")


def interrupt_ends_every_command(folder):
    database = str(folder / "records.db")
    assert run("tune", "gmm:n=64,m=64,k=64", "--trials", 4, "--database", database).stdout
    for args in [["tune", "gmm:n=512,m=512,k=512", "--trials", "100000", "--database", database],
                 ["tune", f"{ATTENTION}:n=250", "--trials", "1000", "--database", database],
                 ["tune", "gmm:n=2048,m=2048,k=2048", "--trials", "1000", "--database", database],
                 ["bench", "gmm:n=64,m=64,k=64", "--compare", "unscheduled", "--rounds", "100000", "--database", database],
                 ["spaces", "show", f"{ATTENTION}:n=250"],
                 ["doctor"]]:
        for after in cli.usual_or_extended((0.6,), (0.1, 0.6, 2.0)):
            process = subprocess.Popen([cli.TUNESMITH, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            process.wait(timeout=60)  # its worker may hold the pipe a little longer
            waited = time.monotonic() - begin
            err = process.communicate(timeout=60)[1]
            print(f"{args[0]} {args[1] if len(args) > 1 else ''} after {after} s: ended {waited:.2f} s after Ctrl-C, code {process.returncode}")
            assert waited < cli.within(2), (args, after, waited)
            assert process.returncode in (130, -signal.SIGINT, 0 if args[0] in ("spaces", "doctor") else 130), (args, process.returncode, err)


def interrupted_bench_keeps_what_it_has(folder):
    database = folder / "records.db"
    small = "gmm:n=64,m=64,k=64"
    run("tune", small, "--trials", 4, "--database", database)
    process = subprocess.Popen([cli.TUNESMITH, "bench", small, small, "--rounds", "100000", "--database", str(database)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(6.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (process.returncode, err)
    assert ("GFLOP/s" in out and "record " in out and "interrupted: " in out) or "tunesmith: interrupted" in err, (out, err)


def a_small_space_is_said_to_be_small(folder):
    done = run("tune", "relu:n=64,m=64", "--trials", 400, "--database", folder / "records.db")
    assert "of 400 trials made: the search found no further program in space 'cpu'" in done.stdout, done.stdout
    again = json.loads(run("tune", "relu:n=64,m=64", "--trials", 400, "--database", folder / "records.db", "--json").stdout)
    assert again["exhausted"] and not again["interrupted"] and again["trials"] < 400, again
    enough = json.loads(run("tune", "gmm:n=64,m=64,k=64", "--trials", 4, "--database", folder / "records.db", "--json").stdout)
    assert not enough["exhausted"], enough
    assert "generate" in enough["seconds"], enough


def a_log_gets_few_lines(folder):
    done = run("tune", "gmm:n=64,m=64,k=64", "--trials", 64, "--database", folder / "records.db")
    lines = [line for line in done.stderr.splitlines() if line.startswith("trials ")]
    assert 1 < len(lines) <= 10 and "64/64" in lines[-1] and "fastest" in lines[-1], done.stderr
    assert "\r" not in done.stderr and "\x1b" not in done.stderr
    quiet = run("tune", "gmm:n=64,m=64,k=64", "--trials", 64, "--database", folder / "other.db", "--quiet")
    assert "trials " not in quiet.stderr, quiet.stderr


OWN = "version: 1\nspaces:\n  mine:\n    extends: cpu\n    search: {kind: random}\n"


def builtin_spaces_are_always_there(folder):
    (folder / "spaces.yaml").write_text(OWN)
    said = "using ./spaces.yaml"
    done = run("spaces", "explain", "relu:n=64,m=64", cwd=folder)
    assert "in space 'mine'" in done.stdout and said in done.stderr, (done.stdout, done.stderr)
    done = run("spaces", "explain", "relu:n=64,m=64", "--space", "cpu", cwd=folder)
    assert "in space 'cpu'" in done.stdout
    assert said not in run("spaces", "explain", "relu", "--spaces", "spaces.yaml", cwd=folder).stderr
    assert "did you mean 'cpu'" in run("spaces", "explain", "relu", "--space", "cpuu", cwd=folder, code=2).stderr
    assert "did you mean 'mine'" in run("spaces", "explain", "relu", "--space", "mien", cwd=folder, code=2).stderr
    database = folder / "records.db"
    for space in ("mine", "cpu"):
        run("tune", "gmm:n=64,m=64,k=64", "--trials", 4, "--database", database, "--space", space, cwd=folder)
    done = run("bench", "gmm:n=64,m=64,k=64", "--compare", "space:cpu", "--rounds", 3, "--database", database, cwd=folder)
    assert "space:cpu" in done.stdout, done.stdout
    # Positional, as people type it.
    assert "composes" in run("spaces", "lint", folder / "spaces.yaml").stdout


def workloads_from_files_are_like_others(folder):
    file, database = folder / "scale.yaml", folder / "records.db"
    file.write_text(SCALE)
    hint = run("build", f"{file}:n=32", "--database", database, "--output", folder, code=2).stderr
    assert not database.exists() and "records" in hint and "--untuned" in hint, hint
    best = json.loads(run("tune", file, "--trials", 2, "--database", database, "--json").stdout)["trace"]
    hint = run("build", f"{file}:n=32", "--database", database, "--output", folder, code=2).stderr
    assert f"run: tunesmith tune {file}:n=32" in hint and "--untuned" in hint, hint
    nothing = folder / "nothing.trace"
    nothing.write_text("\n")
    assert "the file is empty" in run("build", file, "--trace", nothing, "--output", folder, code=2).stderr
    assert best in run("records", "best", "--workload", file, "--database", database).stdout
    file.unlink()
    for text in ("scale", "scale:n=64"):
        assert best in run("records", "best", "--workload", text, "--database", database).stdout, text
        assert best in run("records", "list", "--workload", text, "--database", database, "--count", 99).stdout, text
        assert "n=64" in run("trace", "replay", best, "--workload", text, "--database", database).stdout, text
    assert "X" in run("trace", "show", best, "--program", "--lowered", "--database", database).stdout
    run("build", "scale", "--database", database, "--output", folder / "out")
    assert (folder / "out/libscale.so").exists()


def json_everywhere_or_refused(folder):
    database = folder / "records.db"
    best = json.loads(run("tune", "gmm:n=64,m=64,k=64", "--trials", 4, "--database", database, "--json").stdout)["trace"]
    shown = json.loads(run("trace", "show", best, "--program", "--passes", "--lowered", "--assembly", "--database", database, "--json").stdout)
    assert shown["record"] == best and shown["workload"].startswith("gmm:"), shown.keys()
    assert all(shown[key] for key in ("trace", "program", "passes", "lowered", "assembly")), shown.keys()
    assert {"name", "changed", "program"} == shown["passes"][0].keys()
    same = run("trace", "diff", best, best, "--database", database)
    assert same.stdout == "the traces are identical\n", same.stdout
    assert json.loads(run("trace", "diff", best, best, "--database", database, "--json").stdout) == {"equal": True, "diff": ""}
    (folder / "unscheduled.trace").write_text("# tunesmith trace 2\n")
    other = json.loads(run("trace", "diff", best, folder / "unscheduled.trace", "--database", database, "--json").stdout)
    assert not other["equal"] and "- " in other["diff"], other
    out = json.loads(run("records", "export", "--output", folder / "all.jsonl", "--database", database, "--json").stdout)
    assert out["records"] >= 4 and out["file"] == str(folder / "all.jsonl"), out
    fastest = json.loads(run("records", "export", "--best", 1, "--output", folder / "best.jsonl", "--database", database, "--json").stdout)
    assert fastest["records"] == 1 and f'"id":"{best}"' in (folder / "best.jsonl").read_text(), fastest
    assert "--best" in run("records", "export", "--best", 0, "--database", database, code=2).stderr
    assert "--output" in run("records", "export", "--database", database, "--json", code=2).stderr


def no_match_is_said(folder):
    database = folder / "records.db"
    run("tune", "gmm:n=64,m=64,k=64", "--trials", 2, "--database", database)
    done = run("records", "list", "--workload", "relu", "--database", database, code=3)
    assert "no record of relu" in done.stderr and not done.stdout, done
    assert "no record of relu" in run("records", "export", "--workload", "relu", "--database", database).stderr


def names_are_taken_or_refused(folder):
    refused = run("build", "gmm", "--name", "9bad", "--database", folder / "r.db", code=2).stderr
    assert "--name '9bad'" in refused and "not beginning with a digit" in refused, refused
    missing = folder / "tpyo" / "records.db"
    refused = run("tune", "gmm:n=64,m=64,k=64", "--trials", 2, "--database", missing, code=2).stderr
    assert f"no such folder '{missing.parent}'" in refused and not missing.parent.exists(), refused


def memory_is_estimated_first(folder):
    database = folder / "records.db"
    begin = time.monotonic()
    refused = run("tune", "relu:n=65536,m=65536", "--trials", 2, "--database", database, code=2).stderr
    assert "GiB of memory" in refused and "--allow-memory" in refused, refused
    assert time.monotonic() - begin < cli.within(5) and not database.exists()
    run("tune", "relu:n=1024,m=1024", "--trials", 2, "--database", database)


def completion_knows_the_commands(folder):
    scripts = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
    for shell, script in scripts.items():
        for word in ("tune", "lint", "trials", "allow-memory", "completion", "depthwise_conv2d"):
            assert word in script, (shell, word)
        assert "man-pages" not in script
        if shutil.which(shell):
            file = folder / f"script.{shell}"
            file.write_text(script)
            subprocess.run([shell, "-n", file], check=True)
    for words, wanted in [(["tu"], ["tune"]), (["spaces", "li"], ["list", "lint"]), (["tune", "--tri"], ["--trials"]), (["tune", "zzz"], []),
                          (["tune", "gm"], ["gmm", "gmm_tf32"]), (["spaces", "explain", "softm"], ["softmax"]), (["records", "list", "--workload", "softm"], ["softmax"]),
                          (["plugins", "gmm"], [])]:
        line = "COMP_WORDS=(tunesmith {}); COMP_CWORD={}; _tunesmith; printf '%s\\n' \"${{COMPREPLY[@]}}\"".format(" ".join(words), len(words))
        done = subprocess.run(["bash", "-c", scripts["bash"] + line], capture_output=True, text=True, check=True)
        assert done.stdout.split() == wanted, (words, done.stdout)


def manual_pages_have_every_option(folder):
    run("man-pages", folder / "man1")
    page = (folder / "man1/tunesmith-tune.1").read_text()
    for option in ("trials", "database", "allow\\-memory", "space"):
        assert f"\\-\\-{option}" in page, page
    assert (folder / "man1/tunesmith-spaces-lint.1").exists() and "tune" in (folder / "man1/tunesmith.1").read_text()
    if shutil.which("groff"):
        for file in (folder / "man1").iterdir():
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", file], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, (file, done.stderr)


def every_example_is_of_its_command(folder):
    def leaves(path):
        text = run(*path, "--help").stdout
        below = text.partition("Subcommands:")[2]
        if not below:
            return [(path, text)]
        names = [line.split()[0] for line in below.splitlines() if line.startswith("  ") and not line.startswith("   ")]
        return [leaf for name in names for leaf in leaves((*path, name))]
    for path, text in leaves(()):
        examples = [line for line in text.splitlines() if line.startswith("Example: ")]
        assert len(examples) == 1 and " ".join(("tunesmith", *path)) in examples[0], f"{path}: {examples}"
        named = re.search(r"--spaces (bench/\S+) --space (\S+)", examples[0])
        assert not named or re.search(rf"^  {named[2]}:", (SUITE.parents[1] / named[1]).read_text(), re.MULTILINE), f"{path}: no space {named[2]}"


if __name__ == "__main__":
    cli.run_test(globals())
