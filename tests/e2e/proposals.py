#!/usr/bin/env python3
"""Proposals before any measurement: sequences, a prior's training data, first programs. Usage: proposals.py --tunesmith BINARY TEST"""
import json
import math
import pathlib

import cli
from cli import run
from e2e import call_library

GMM, SOFTMAX = "gmm:n=48,m=64,k=32", "softmax:m=32,n=64"
TABLE = pathlib.Path(__file__).parents[2] / "bench/tables/softmax.table.gz"


def a_record_is_shown_as_a_sequence(folder):
    database = folder / "records.db"
    best = json.loads(run("tune", GMM, "--trials", 4, "--database", database, "--json").stdout)["trace"]
    show = ["trace", "show", best, "--sequence", "--database", database]
    sequence = json.loads(run(*show, "--json").stdout)["sequence"]
    assert sequence.startswith("# tunesmith sequence 1\n") and sequence in run(*show).stdout, sequence
    lines = sequence.splitlines()
    for wanted in ("machine cores", "array input f32 1x48x32", "  iterator reduction 32", "  operation mul f32 1", "sketch", "decisions"):
        assert any(line.startswith(wanted) for line in lines), (wanted, sequence)


def a_task_without_a_record_gets_its_first_program(folder):
    database, library = folder / "records.db", folder / "lib"
    build = ["build", GMM, "--database", database, "--output", library]
    assert "--untuned" in run(*build, "--draws", 5, code=2).stderr
    assert not database.exists()
    built = json.loads(run(*build, "--untuned", "--draws", 50, "--json").stdout)
    assert built["untuned"] and built["measured_now"] and not database.exists(), built
    assert "untuned: the fastest of the best 4 of 50 draws by the cost model 'analytical', verified and measured" in built["provenance"], built
    header = (library / "gmm.h").read_text()
    assert "untuned: the fastest of the best 4 of 50 draws" in header, header
    call_library(library, "gmm", {"n": 48, "m": 64, "k": 32})
    assert "untuned: the fastest of the best 4 of 50 draws" in run(*build, "--untuned", "--draws", 50).stdout
    # A recorded program takes precedence over draws.
    best = json.loads(run("tune", GMM, "--trials", 2, "--database", database, "--json").stdout)["trace"]
    built = json.loads(run(*build, "--untuned", "--json").stdout)
    assert not built["untuned"] and f"record {best}" in built["provenance"], built


def collect(folder, name, *more, code=0):
    file = folder / name
    done = run("prior", "collect", "--output", file, "--programs", 12, "--seed", 4, "--json", *more, code=code)
    return done if code else (json.loads(done.stdout), [json.loads(line) for line in file.read_text().splitlines()], file)


def sequences_are_collected_and_continued(folder):
    said, (head, *tasks), file = collect(folder, "all.jsonl", "--tasks", 5)
    assert (said["tasks"], said["part"], head["part"], head["sequence"]) == (5, "training", "training", 1), said
    assert head["cost_model"].endswith("analytical") and head["machine"]["cores"] >= 1, head
    assert said["programs_added"] == sum(len(task["programs"]) for task in tasks) > 20, said
    assert len({task["workload"] for task in tasks}) == 5
    for task in tasks:
        assert task["workload"].split(":")[0] == task["source"].split(":")[0], task["source"]
        scores = [program["score"] for program in task["programs"]]
        assert scores == sorted(scores, reverse=True), scores
        for program in task["programs"]:
            assert program["seconds"] is None and program["sketch"] < len(task["sketches"])
            for instruction, element, choices, chosen in program["steps"]:
                assert chosen < len(task["choices"][choices]["choices"]), program
                assert "sample_" in task["sketches"][program["sketch"]].splitlines()[1 + instruction], instruction
    # A collection that ended in the middle of a line continues, with the same result.
    text = file.read_bytes()
    lines = text.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:100])
    said, _, _ = collect(folder, "all.jsonl", "--tasks", 5)
    assert said["tasks_added"] == 3 and file.read_bytes() == text, said
    assert collect(folder, "all.jsonl", "--tasks", 5)[0]["tasks_added"] == 0
    # Another collection's file and a file of another kind are refused.
    wrong = run("prior", "collect", "--output", file, "--programs", 13, "--seed", 4, code=2).stderr
    assert "this shard has programs 12, expected 13" in wrong and "all.jsonl:1:1" in wrong, wrong
    (folder / "other.txt").write_text("a file of mine\n")
    assert "not a shard" in collect(folder, "other.txt", code=2).stderr
    assert (folder / "other.txt").read_text() == "a file of mine\n"
    assert "none/such" in run("prior", "collect", "--output", folder / "none/such.jsonl", code=2).stderr


def nothing_held_out_is_in_training(folder):
    """The parts share no tasks, and no tasks of one neighbourhood."""
    parts = {part: collect(folder, part, "--tasks", 12, *words)[1] for part, words in (("training", ()), ("held-out", ("--held-out",)))}
    assert [lines[0]["part"] for lines in parts.values()] == ["training", "held-out"]

    def neighbourhoods(lines):
        named = set()
        for task in lines[1:]:
            words = []
            for line in task["task"].splitlines():
                match line.split():
                    case ["iterator", kind, extent]:
                        words.append(f"{kind}{int(extent).bit_length()}")
                    case ["operation", name, dtype, _]:
                        words.append(f"{name}.{dtype}")
            named.add((task["source"].split(":")[0], *words))
        return named
    ours, theirs = map(neighbourhoods, parts.values())
    assert len(ours) > 3 and len(theirs) > 3 and not ours & theirs, ours & theirs


def measured_programs_are_collected(folder):
    database = folder / "records.db"
    for workload in (GMM, SOFTMAX):
        run("tune", workload, "--trials", 6, "--space", "cpu-random", "--database", database)
    found = []
    for part in ("--held-out",), ():
        said, (_, *tasks), _ = collect(folder, f"measured{len(part)}", "--tasks", 0, "--store", database, "--table", TABLE, *part)
        assert said["measured_tasks_of_the_other_part"] == 3 - len(tasks), said
        found += tasks
    assert sorted(len(task["programs"]) > 1000 for task in found) == [False, False, True], found
    assert all(program["seconds"] > 0 for task in found for program in task["programs"])


def a_prior_is_trained_and_compared(folder):
    _, _, training = collect(folder, "training.jsonl", "--tasks", 4)
    _, _, held_out = collect(folder, "held-out.jsonl", "--tasks", 2, "--held-out")
    prior = folder / "mine.prior"
    said = json.loads(run("prior", "train", training, "--output", prior, "--elite", 0.5, "--json").stdout)
    assert (said["space"], said["tasks"]) == ("cpu", 4) and said["programs"] >= 8, said
    assert said["log_likelihood"] > said["log_likelihood_of_even_choices"] + 0.5, said
    again = folder / "again.prior"
    run("prior", "train", training, "--output", again, "--elite", 0.5)
    assert again.read_bytes() == prior.read_bytes()
    figures = json.loads(run("prior", "eval", prior, held_out, "--draws", "1,16", "--json").stdout)["figures"]
    assert len(figures) == 4 and all(0 <= one[way] <= 1 for one in figures for way in ("drawn", "prior")), figures
    assert all(max(one["drawn"], one["prior"]) > 0 for one in figures if one["draws"] == 16), figures
    assert "by the prior" in run("prior", "eval", prior, held_out, "--draws", 2).stdout
    # Measured programs are not drawn again but ordered; here their times are the cost model's.
    head, *tasks = [json.loads(line) for line in held_out.read_text().splitlines()]
    for task in tasks:
        best = max(program["score"] for program in task["programs"])
        for program in task["programs"]:
            program["seconds"] = 1e-6 * math.exp(best - program["score"])
    measured = folder / "measured.jsonl"
    measured.write_text("".join(json.dumps(line) + "\n" for line in (head, *tasks)))
    said = json.loads(run("prior", "eval", prior, measured, "--draws", "2,500", "--json").stdout)
    assert not said["figures"] and len(said["measured"]) == 4, said
    for one in said["measured"]:
        assert all(0 < one[order]["first"] <= one[order]["best_of_ten"] <= 1 for order in ("cost_model", "prior", "both")), one
        assert one["draws"] == 2 or one["cost_model"]["first"] > 0.999, one
    assert "of the top 10" in run("prior", "eval", prior, measured, "--draws", 2).stdout
    # Held-out shards cannot be trained on, and training shards cannot be evaluated.
    assert "held out" in run("prior", "train", held_out, "--output", folder / "wrong.prior", code=2).stderr
    assert not (folder / "wrong.prior").exists()
    assert "may have been trained" in run("prior", "eval", prior, training, code=2).stderr
    assert "not a prior" in run("prior", "eval", training, held_out, code=2).stderr
    assert "damaged" in run("prior", "train", prior, "--output", folder / "wrong.prior", code=2).stderr


if __name__ == "__main__":
    cli.run_test(globals())
