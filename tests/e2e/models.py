#!/usr/bin/env python3
"""Cost models in files, as a user has them. Usage: models.py --tunesmith BINARY TEST"""
import json
import pathlib
import re
import sys

import cli

SKIPPED = 77
PRODUCT, SUMS = "gmm:n=32,m=48,k=64", "softmax:m=64,n=64"
TABLE = pathlib.Path(__file__).parents[2] / "bench/tables/gmm.table.gz"


def run(*args, code=0):
    done = cli.start(*args)
    if "was built without XGBoost" in done.stderr:
        sys.exit(SKIPPED)
    return cli.require(done, code)


def read(*args):
    return json.loads(run(*args, "--json").stdout)


def record(database, trials=48):
    for workload in (PRODUCT, SUMS):
        run("tune", workload, "--space", "cpu-random", "--trials", trials, "--database", database, "--quiet")


def trained_model_is_shown_and_used(folder):
    database = folder / "records.db"
    record(database)
    trained = read("model", "train", database, "--model", "xgboost", "--except", "softmax")
    file = folder / "records.xgboost.model"
    assert trained["file"] == str(file) and file.exists(), trained
    (task,) = trained["tasks"]
    assert task["workload"].startswith("gmm:") and task["programs"] >= 40 and task["rows"] > task["programs"], task

    shown = read("model", "show", file, "--count", 5)
    assert (shown["kind"], shown["tasks"]) == ("xgboost", trained["tasks"]), shown
    columns = {column["name"] for column in read("features", PRODUCT)["columns"]}
    reference = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", run("features").stdout, re.MULTILINE)
    assert len(reference) > 150 and len(reference) == len(set(reference)) and set(reference) <= columns, reference
    named = [one["feature"] for one in shown["importance"]]
    assert 0 < len(named) <= 5 and all(name in columns or name.startswith("estimated_") for name in named), named
    assert f"{task['programs']} programs" in run("model", "show", file).stdout

    # A run that continues from the file, by option or by space, adds itself to it.
    run("tune", PRODUCT, "--space", "cpu-xgboost", "--trials", 64, "--model-file", file, "--database", database, "--quiet")
    after = read("model", "show", file)
    assert after["tasks"][0]["programs"] > task["programs"], after["tasks"]
    spaces = folder / "spaces.yaml"
    spaces.write_text("version: 1\nspaces:\n  mine:\n    extends: cpu\n"
                      f"    cost_model: {{kind: xgboost, model_file: {file.name}}}\n")
    run("tune", SUMS, "--spaces", spaces, "--space", "mine", "--trials", 16, "--database", database, "--quiet")


def evaluation_has_its_figures(folder):
    database = folder / "records.db"
    record(database)
    result = read("model", "eval", database, "--model", "xgboost", "--measured", "0,16,100000")
    figures = result["figures"]
    assert {(one["ahead"], one["measured"]) for one in figures} == {(False, 0), (False, 16), (True, 0), (True, 16)}, figures
    assert len(figures) == 8 and all(one["programs"] >= 10 for one in figures), figures
    for one in figures:
        assert 0 <= one["pairs_in_order"] <= 1 and 0 < one["best_of_64"] <= 1 and -1 <= one["rank_correlation"] <= 1, one
    alone = read("model", "eval", database, "--model", "analytical", "--alone", "--measured", "0", "--workload", "softmax")["figures"]
    assert len(alone) == 1 and alone[0]["workload"].startswith("softmax:"), alone
    assert re.search(r"mean of 2 tasks", run("model", "eval", database, "--model", "analytical", "--measured", "0").stdout)


def recorded_tables_are_read(folder):
    (figures,) = read("model", "eval", "--table", TABLE, "--model", "analytical", "--alone", "--measured", "0")["figures"]
    assert figures["workload"].startswith("gmm:") and figures["programs"] > 700, figures
    assert figures["rank_correlation"] > 0.5, figures
    file = folder / "ahead.model"
    (task,) = read("model", "train", "--table", TABLE, "--model", "xgboost", "--output", file)["tasks"]
    assert task["programs"] > 2000, task
    run("tune", PRODUCT, "--space", "cpu-xgboost", "--trials", 8, "--model-file", file, "--database", folder / "records.db", "--quiet")


def mistakes_are_said(folder):
    database = folder / "records.db"
    record(database)
    assert "learned nothing" in run("model", "train", database, "--model", "analytical", code=2).stderr
    assert "no task to train on" in run("model", "train", database, "--model", "xgboost", "--workload", "conv2d", code=2).stderr
    assert "not a recorded table" in run("model", "eval", "--table", database, code=2).stderr
    assert "xgbost" in run("model", "train", database, "--model", "xgbost", code=2).stderr
    other = folder / "other.model"
    other.write_text("something else\n")
    assert "not a cost model" in run("model", "show", other, code=2).stderr
    spaces = folder / "spaces.yaml"
    spaces.write_text("version: 1\nspaces:\n  mine:\n    extends: cpu\n    cost_model: {kind: xgboost, model_file: other.model}\n")
    refused = run("tune", PRODUCT, "--spaces", spaces, "--space", "mine", "--trials", 2, "--database", database, code=2).stderr
    assert "spaces.yaml:5:" in refused and "not a cost model" in refused, refused
    file = folder / "records.xgboost.model"
    run("model", "train", database, "--model", "xgboost", "--output", file)
    refused = run("tune", PRODUCT, "--space", "cpu-ensemble", "--trials", 2, "--model-file", file, "--database", database, code=2).stderr
    assert "'xgboost'" in refused and "'ensemble'" in refused, refused


if __name__ == "__main__":
    cli.run_test(globals(), own_lock=False)
