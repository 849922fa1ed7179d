"""The command as a function; all of it can be reached from Python."""
import os
import pathlib
import re

import pytest

import tunesmith as ts

SOURCES = os.environ.get("TUNESMITH_SOURCES")


def test_it_answers_what_the_command_prints(records, result):
    best = ts.command("records", "best", workload=str(result.workload), database=ts.Records(records), count=1)
    assert best["records"][0]["id"] == ts.Records(records).best(result.workload, threads=2)[0].id
    assert ts.command("completion", "bash", text=True).startswith("_tunesmith()")


def test_options_are_keywords(records):
    from tunesmith._command import words_of

    assert words_of({"min_gain": 0, "fresh": True, "quiet": False, "space": None, "dim": ["a=1", "b=2"], "database": ts.Records(records)}) == [
        "--min-gain", "0", "--fresh", "--dim", "a=1", "--dim", "b=2", "--database", records]


def test_refusals_are_exceptions(tmp_path, result, monkeypatch):
    with pytest.raises(ts.UserError, match="did you mean 'gmm'") as raised:
        ts.command("tune", "gmn", trials=2, database=tmp_path / "r.db")
    assert not str(raised.value).startswith("tunesmith:")
    monkeypatch.setenv("TUNESMITH_PYTHON", str(tmp_path / "none"))
    with pytest.raises(ts.EnvironmentFault, match="cannot import the package tunesmith"):
        ts.command("tune", "gmm", trials=2, against="torch", database=tmp_path / "r.db")
    assert ts.command("records", "list", workload="gmm:n=1009", database=result.records)["records"] == []


def test_remarks_are_shown_when_wanted(tmp_path, capfd):
    ts.command("tune", "relu:n=8,m=8", trials=2, threads=97, database=tmp_path / "r.db")
    assert capfd.readouterr().err == ""
    ts.command("tune", "relu:n=8,m=8", trials=2, threads=97, database=tmp_path / "r.db", show=True)
    assert "97 threads share" in capfd.readouterr().err


def _commands():
    """All commands and options, from the shell's completion script."""
    script = ts.command("completion", "bash", text=True)
    paths = set(re.findall(r"^      '?([a-z -]+?)'?\) place=", script, re.M))
    return {path for path in paths if not any(other.startswith(path + " ") for other in paths)}


@pytest.mark.skipif(SOURCES is None, reason="TUNESMITH_SOURCES does not name the sources")
def test_the_calls_of_commands_are_there():
    page = (pathlib.Path(SOURCES) / "docs/python.md").read_text()
    rows = re.findall(r"^\| `tunesmith ([a-z -]+)` \| (.*) \|$", page, re.M)
    assert len(rows) > 20 and {command for command, _ in rows} <= _commands()
    for command, calls in rows:
        named = re.findall(r"`(ts(?:\.\w+)+)", calls)
        assert named, command
        for name in named:
            found = ts
            for part in name.split(".")[1:]:
                found = getattr(found, part)
            assert callable(found) or isinstance(found, property) or found is not None, name
        for words in re.findall(r'ts\.command\(((?:"[a-z-]+"(?:, )?)+)', calls):
            assert " ".join(re.findall(r'"([a-z-]+)"', words)).startswith(command), command
