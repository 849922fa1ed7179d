#!/usr/bin/env python3
"""Candidates leave one machine, here one store, are measured on another, and their records come back. Usage: travel.py --tunesmith BINARY TEST"""
import hashlib
import json
import signal
import subprocess

import cli
from cli import run
from identity import RELU, of, tune, write
from vendor_day import UNIT


def records(folder, database):
    return json.loads(run("records", "list", "--database", folder / database, "--json").stdout)["records"]


def calling(folder, database="records.db"):
    """The id of a record whose program calls the pack's instruction."""
    return next(one["id"] for one in records(folder, database)
                if "tensorize" in json.loads(run("records", "show", one["id"], "--database", folder / database, "--json").stdout)["trace"])


def export(folder, trace, *more):
    return run("trace", "export", trace, *of(folder, "acme"), *more).stdout


def measure(folder, *more, space="acme", code=0, **kwargs):
    return json.loads(run("measure", *more, *of(folder, space, "there.db"), "--json", code=code, **kwargs).stdout)


def changed(line, change):
    """A job's line with changed content and its checksum."""
    content = json.loads(line)["job"]
    change(content)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f'{{"checksum":"{hashlib.sha256(text.encode()).hexdigest()[:16]}","job":{text},"version":6}}\n'


def a_candidate_is_measured_elsewhere_and_its_record_comes_back(folder):
    write(folder)
    tune(folder, "acme")
    other = calling(folder)
    programs = {one["id"]: one["program"] for one in records(folder, "records.db")}
    best = next(one for one, program in programs.items() if program != programs[other])
    jobs = folder / "jobs.jsonl"
    jobs.write_text(export(folder, best) + export(folder, other, "--repeats", 5, "--candidate-time-out", 20))
    assert [next(kind for kind in json.loads(line) if kind in ("candidate", "job")) for line in jobs.read_text().splitlines()] == ["candidate", "job"]
    assert run("trace", "check", jobs, *of(folder, "acme")[:4]).stdout.count("the same program") == 2
    # The other machine has neither the first one's store nor its modules.
    (folder / "records.db").rename(folder / "here.db")
    done = run("measure", jobs, *of(folder, "tiled", "there.db"), "--lines")
    assert "jobs: 2; 2 measured, 0 as on record, 0 cannot be measured here" in done.stderr, done.stderr
    kinds = [next(kind for kind in json.loads(line) if kind not in ("checksum", "version")) for line in done.stdout.splitlines()]
    assert kinds.count("record") == 2 and {"environment", "workload", "space", "run"} <= set(kinds), kinds
    back = run("records", "import", "--database", folder / "here.db", input=done.stdout)
    assert back.stdout == "2 added, 0 known, 0 refused\n", back
    # The record has the same program, and the samples that the job asked for.
    there = {one["program"]: one for one in records(folder, "there.db")}
    lowered = json.loads(jobs.read_text().splitlines()[1])["job"]["candidate"]["lowered_hash"]
    assert len(there) == 2 and all(one["ok"] for one in there.values()), there
    shown = run("records", "show", there[lowered]["id"], "--database", folder / "here.db").stdout
    assert "samples        5, " in shown and "space          tiled" in shown and "command        tunesmith measure" in shown, shown
    # An imported record counts like any other of the task.
    assert json.loads(run("tune", RELU, *of(folder, "tiled", "there.db"), "--trials", 4, "--json", "--quiet").stdout)["known"] == 2
    assert run("records", "check", "--database", folder / "here.db").stdout.strip().endswith("clean")


def what_is_on_record_is_not_measured_again(folder):
    write(folder)
    line = export(folder, tune(folder, "acme")["trace"])
    first = measure(folder, input=line)
    assert (first["measured"], first["known"]) == (1, 0) and first["jobs"][0]["samples"] >= 3, first
    # The jobs of an interrupted command can be sent again; known records are printed, too.
    again = measure(folder, input=line + line)
    assert (again["measured"], again["known"]) == (0, 2) and again["jobs"][1]["record"] == first["jobs"][0]["record"], again
    printed = run("measure", *of(folder, "acme", "there.db"), "--lines", input=line).stdout
    assert first["jobs"][0]["record"] in printed, printed
    assert measure(folder, "--fresh", input=line)["measured"] == 1
    assert measure(folder, "--threads", 1, input=line)["measured"] == 1
    assert measure(folder, "--threads", 1, input=line)["jobs"][0]["threads"] == 1


def an_interrupted_measure_keeps_what_it_has(folder):
    write(folder)
    best = tune(folder, "acme")["trace"]
    jobs = folder / "jobs.jsonl"
    jobs.write_text(export(folder, best) + export(folder, best, "--repeats", 1000000, "--candidate-time-out", 100))
    process = subprocess.Popen([cli.TUNESMITH, "measure", jobs, *map(str, of(folder, "acme", "there.db"))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "jobs.jsonl:1: relu" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=10)
    assert process.returncode == 130, (process.returncode, out, said)
    kept = records(folder, "there.db")
    assert len(kept) == 1 and kept[0]["ok"], kept
    again = measure(folder, input=jobs.read_text().splitlines()[0])
    assert again["jobs"][0]["record"] == kept[0]["id"] and again["known"] == 1, again


def what_cannot_be_measured_is_said(folder):
    write(folder)
    tune(folder, "acme")
    job = export(folder, calling(folder), "--repeats", 3)
    # An invalid line does not prevent the others.
    mixed = run("measure", *of(folder, "acme", "there.db"), "--json", input="nonsense\n\n" + job, code=2)
    assert "stdin:1: damaged: it is no JSON object" in mixed.stderr, mixed.stderr
    mixed = json.loads(mixed.stdout)
    assert (mixed["refused"], mixed["measured"]) == (1, 1) and mixed["jobs"][0]["line"] == 3, mixed
    newer = job.replace('"version":6', '"version":99')
    assert "written by a newer Tunesmith (version 99" in run("measure", *of(folder, "acme", "there.db"), input=newer, code=2).stderr
    # Refused without the pack, and with another version of it.
    lacking = measure(folder, space="plain", input=job, code=4)
    assert lacking["lacking"] == 1 and lacking["jobs"][0]["record"] is None, lacking
    assert any("lacks the extension 'acme_relu'" in one for one in lacking["jobs"][0]["differences"]), lacking
    threads = changed(job, lambda content: content["candidate"].update(threads=60000))
    refused = run("measure", *of(folder, "acme", "there.db"), input=threads, code=4).stdout
    assert "it needs 60000 threads, but there are" in refused and "set another number with --threads" in refused, refused
    assert measure(folder, "--threads", 1, input=threads)["measured"] == 1
    wrong = UNIT.replace("<4 x float> %X, <4 x float> zeroinitializer\n        ret", "<4 x float> %X, <4 x float> splat (float 2.5)\n        ret")
    write(folder, wrong)
    other = measure(folder, input=job, code=4)
    assert "another program" in other["jobs"][0]["refusal"], other
    # A wrong program is recorded with its cause, and so known the next time.
    content = json.loads(job)["job"]["candidate"]
    (folder / "mine.trace").write_text(content["trace"])
    wrong = export(folder, folder / "mine.trace", "--workload", content["workload"]["text"])
    failed = measure(folder, input=wrong, code=3)
    assert failed["jobs"][0]["cause"] == "wrong_result" and failed["failed"] == failed["measured"] == 1, failed
    assert measure(folder, input=wrong, code=3)["known"] == 1
    # Usage errors.
    assert "no jobs found" in run("measure", *of(folder, "acme", "there.db"), input="\n", code=2).stderr
    assert "choose --json or --lines" in run("measure", *of(folder, "acme", "there.db"), "--json", "--lines", input=job, code=2).stderr
    assert "cannot be read" in run("measure", folder / "none.jsonl", *of(folder, "acme", "there.db"), code=2).stderr


if __name__ == "__main__":
    cli.run_test({test.__name__: test for test in [
        a_candidate_is_measured_elsewhere_and_its_record_comes_back, what_is_on_record_is_not_measured_again,
        an_interrupted_measure_keeps_what_it_has, what_cannot_be_measured_is_said]})
