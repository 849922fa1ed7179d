#!/usr/bin/env python3
"""`tunesmith report` as a user runs it. Usage: report.py --tunesmith FILE TEST"""
import contextlib
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import cli
from cli import run, start

WORKLOAD = "gmm:n=32,m=32,k=32"
TABLE = pathlib.Path(__file__).parents[2] / "bench/tables/gmm.table.gz"


def tuned(folder):
    """A store with two tasks."""
    database = folder / "records.db"
    run("tune", WORKLOAD, "--trials", 24, "--batch", 12, "--database", database, "--quiet")
    run("tune", "relu:n=64,m=64", "--trials", 4, "--seed", 3, "--database", database, "--quiet")
    return database


MANY = 8


def many(folder, count=MANY):
    """A store with so many tasks that a page of all is long."""
    database = folder / f"many{count}.db"
    run("tune", *(f"relu:n={16 * (i + 1)},m=16" for i in range(count)), "--trials", 4 * count, "--batch", 4, "--database", database, "--quiet")
    return database


def compared(folder):
    """A file with the output of `compare --json` for two ways on a recorded table."""
    file = folder / "compare.json"
    file.write_text(run("compare", "--table", TABLE, "--spaces", "cpu-random,cpu", "--trials", 24, "--batch", 12, "--seeds", 2, "--json", "--quiet").stdout)
    return file


@contextlib.contextmanager
def serving(database):
    """The page that keeps up with a store: the process, which SIGTERM ends, and its address."""
    process = subprocess.Popen([cli.TUNESMITH, "report", str(database), "--follow"], stdout=subprocess.PIPE, text=True)
    try:
        said = process.stdout.readline()
        yield process, re.search(r"http://\S+/", said)[0]
    finally:
        process.terminate()
        process.wait(60)


def fetched(url):
    """The text, and what distinguishes it."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode(), answer.headers["ETag"]


class Elements(html.parser.HTMLParser):
    """Checks that elements are balanced, and collects references to anything outside of the page."""
    EMPTY = {"meta", "link", "br", "img", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.references, self.texts = [], [], {}

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "srcset", "action", "data") and not value.startswith("#"):
                self.references.append(f"{tag} {name}={value}")
        if tag not in self.EMPTY:
            self.open.append((tag, dict(attributes).get("id", "")))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, text):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + text


def read_page(file):
    text = file.read_text()
    elements = Elements()
    elements.feed(text)
    elements.close()
    assert not elements.open, f"never closed: {elements.open}"
    return text, elements


def data_has_its_keys(folder):
    database = tuned(folder)
    report = json.loads(run("report", database, "--json").stdout)
    assert {"made_ms", "tunesmith", "store", "records", "tasks", "budgets", "rooflines", "environments", "comparisons", "networks"} == report.keys()
    gmm, relu = report["tasks"]
    assert gmm["workload"].startswith("gmm:") and relu["workload"].startswith("relu:")
    best = json.loads(run("records", "best", "--workload", WORKLOAD, "--database", database, "--json").stdout)["records"]
    assert [one["record"] for one in gmm["best"]] == [one["id"] for one in best[:5]], "the best are those of `records best`"
    assert gmm["program"].startswith("program gmm("), gmm["program"]
    assert gmm["program"] == json.loads(run("trace", "show", best[0]["id"], "--program", "--database", database, "--json").stdout)["program"]
    assert gmm["runs"][0]["trials"] == 24 and len(gmm["predictions"][0]["programs"]) == 24
    told = [batch["programs"] for batch in gmm["predictions"][0]["batches"]]
    assert told == [8, 12], told
    assert gmm["decisions"]["programs"] == gmm["runs"][0]["valid"]
    assert report["rooflines"][0]["operations_per_second"] > 0, "the ranking's peak is on record"
    assert report["rooflines"][0]["copied_bytes_per_second"] is None, "nobody measured it"
    assert report["environments"][0]["processors"] > 0
    assert not (pathlib.Path.cwd() / "report.html").exists()


def page_is_whole_and_alone(folder):
    database = tuned(folder)
    page = folder / "report.html"
    done = run("report", "--database", database, "--output", page)
    assert f"{page}: 2 tasks" in done.stdout, done.stdout
    text, elements = read_page(page)
    assert not elements.references, elements.references
    assert "default-src 'none'" in text, "the page lets the browser fetch something"
    style = elements.texts[("style", "")]
    assert "url(" not in style and "@import" not in style
    assert len(json.loads(elements.texts[("script", "data")])["tasks"]) == 2
    scripts = elements.texts[("script", "")]
    for called in ("fetch(", "XMLHttpRequest", "import(", "new Worker", "eval("):
        own = scripts.split("// Elements, and how numbers are written.")[1]
        assert called not in own, called
    assert re.search(r"<html lang=", text) and "<main" in text and "<h1>" in text
    run("report", database, "--output", folder / "none" / "r.html", code=4)


def filters_are_kept_or_refused(folder):
    database = tuned(folder)
    whole = json.loads(run("report", database, "--json").stdout)
    of = lambda *filters: json.loads(run("report", database, "--json", *filters).stdout)["tasks"]
    assert [task["workload"] for task in of("--workload", "relu")] == [whole["tasks"][1]["workload"]]
    assert len(of("--workload", "relu", "--workload", "gmm:k=32")) == 2
    assert of("--task", whole["tasks"][0]["id"])[0]["workload"].startswith("gmm:")
    assert [run_["id"] for task in of("--run", whole["tasks"][1]["runs"][0]["id"]) for run_ in task["runs"]] == [whole["tasks"][1]["runs"][0]["id"]]
    assert len(json.loads(run("report", "--json", "--workload", "relu", database).stdout)["tasks"]) == 1, "a filter takes one value, and leaves the store"
    assert "did you mean 'relu'?" in run("report", database, "--workload", "relo", code=2).stderr
    assert "no task 'x'" in run("report", database, "--task", "x", code=2).stderr
    assert "no run 'x'" in run("report", database, "--run", "x", code=2).stderr
    assert "excludes" in run("report", database, "--database", database, code=2).stderr


def nothing_to_report_is_said(folder):
    missing = folder / "none.db"
    assert "no such record store" in run("report", missing, code=2).stderr and not missing.exists()
    (folder / "text.db").write_text("no database " * 1000)
    run("report", folder / "text.db", code=2)
    (folder / "empty.jsonl").write_text("")
    run("records", "import", folder / "empty.jsonl", "--database", folder / "empty.db")
    done = run("report", folder / "empty.db", "--output", folder / "empty.html", code=3)
    assert "nothing to report" in done.stderr, done.stderr
    read_page(folder / "empty.html")
    assert json.loads(run("report", folder / "empty.db", "--json", code=3).stdout)["tasks"] == []


def comparisons_are_shown(folder):
    file = compared(folder)
    os.environ["XDG_DATA_HOME"] = str(folder / "nothing")
    page = folder / "compared.html"
    assert "0 tasks, 1 comparison" in run("report", "--comparison", file, "-o", page).stdout, "a comparison needs no store"
    (shown,) = json.loads(read_page(page)[1].texts[("script", "data")])["comparisons"]
    assert shown == json.loads(file.read_text()) and [one["strategy"] for one in shown["overall"]] == ["cpu-random", "cpu"], shown
    both = json.loads(run("report", tuned(folder), "--comparison", file, "--comparison", file, "--json").stdout)
    assert (len(both["tasks"]), len(both["comparisons"])) == (2, 2)
    other = folder / "other.json"
    other.write_text("{}")
    refused = run("report", "--comparison", other, code=2).stderr
    assert "other.json" in refused and "not a comparison" in refused and "compare" in refused, refused
    assert "other.jsonl" in run("report", "--comparison", folder / "other.jsonl", code=2).stderr


def networks_are_shown(folder):
    step = {"flops": 1e6, "bytes_min": 1e5, "loops": 1, "waiting_seconds": 1e-6, "roof": "compute", "share_of_roof": 0.5, "operators": ["Conv", "Relu"], "reads": []}
    timed = {"name": "two", "threads": 2, "calls": 5, "seconds": 3.1e-4, "median_seconds": 3.2e-4, "sum_of_steps": 3e-4, "sum_of_medians": 3.1e-4, "peak_gflops": 100.0, "copy_gbytes_per_second": 10.0,
             "steps": [{**step, "name": "conv_relu", "seconds": 1e-4}, {**step, "name": "conv_relu_add", "seconds": 2e-4, "reads": [0]}]}
    file = folder / "timed.json"
    file.write_text(json.dumps(timed))
    os.environ["XDG_DATA_HOME"] = str(folder / "nothing")
    page = folder / "network.html"
    assert "0 tasks, 1 network" in run("report", "--network", file, "-o", page).stdout, "a network needs no store"
    assert json.loads(read_page(page)[1].texts[("script", "data")])["networks"] == [timed]
    other = folder / "other.json"
    other.write_text(json.dumps({**timed, "steps": None}).replace('"steps"', '"step"'))
    refused = run("report", "--network", other, code=2).stderr
    assert "not a timing of a network" in refused and "network bench FOLDER --json" in refused, refused


def roofs_are_measured_when_asked(folder):
    database = tuned(folder)
    before = json.loads(run("report", database, "--json").stdout)["rooflines"][0]
    after = json.loads(run("report", database, "--json", "--measure-roofs").stdout)["rooflines"][0]
    assert before["copied_bytes_per_second"] is None and after["copied_bytes_per_second"] > 1e8, after
    assert after["operations_per_second"] >= before["operations_per_second"] > 0
    again = json.loads(run("report", database, "--json").stdout)["rooflines"][0]
    assert again == after, "what was measured is on record"
    assert "clean" in run("records", "check", "--database", database).stdout
    lines = run("records", "export", "--database", database).stdout
    assert '"copied bytes"' in lines
    (folder / "all.jsonl").write_text(lines)
    run("records", "import", folder / "all.jsonl", "--database", folder / "copy.db")
    assert json.loads(run("report", folder / "copy.db", "--json").stdout)["rooflines"][0] == after
    (folder / "empty.jsonl").write_text("")
    run("records", "import", folder / "empty.jsonl", "--database", folder / "empty.db")
    assert "remove --measure-roofs" in run("report", folder / "empty.db", "--measure-roofs", code=2).stderr


def page_keeps_up(folder):
    """What is served is what is on record, while a run goes on; it is read only, and here only."""
    database = tuned(folder)
    if "has no HTTP server" in (refused := start("report", database, "--follow", "nowhere").stderr):
        print("skipped: this Tunesmith was built without cpp-httplib")
        return
    assert "HOST:PORT" in refused, refused
    with serving(database) as (process, url):
        place = url.split("/")[2]
        assert "cannot listen on" in run("report", database, "--follow", place, code=4).stderr
        page, _ = fetched(url)
        assert "connect-src 'self'" in page and "fetch(" in page
        first, version = fetched(url + "data.json")
        assert [task["runs"][0]["trials"] for task in json.loads(first)["tasks"]] == [24, 4] and json.loads(first)["fleet"] is None
        for wanted, how in ((304, {"headers": {"If-None-Match": version}}), (403, {"headers": {"Host": "elsewhere.example"}}), (404, {"method": "POST", "data": b""})):
            try:
                urllib.request.urlopen(urllib.request.Request(url + "data.json", **how), timeout=60)
                raise AssertionError(f"{how} is answered")
            except urllib.error.HTTPError as answer:
                assert answer.code == wanted, (how, answer.code)
        seen = set()
        tuner = subprocess.Popen([cli.TUNESMITH, "tune", "relu:n=32,m=32", "--trials", "12", "--batch", "3", "--database", database, "--quiet"])
        while tuner.poll() is None:
            seen.add(sum(run_["trials"] for task in json.loads(fetched(url + "data.json")[0])["tasks"] for run_ in task["runs"]))
            time.sleep(0.1)
        assert tuner.returncode == 0
        last, other = fetched(url + "data.json")
        assert len(json.loads(last)["tasks"]) == 3 and other != version and seen & set(range(29, 40)), seen
        database.rename(folder / "away.db")
        try:
            fetched(url + "data.json")
            raise AssertionError("the store is gone")
        except urllib.error.HTTPError as answer:
            assert answer.code == 503 and "no such record store" in answer.read().decode()
    assert process.returncode == 0, process.returncode


if __name__ == "__main__":
    cli.run_test(globals())
