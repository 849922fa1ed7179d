"""Fixtures for the tests of the Python package, which run against an installed wheel, in a folder without the sources."""
import pathlib
import subprocess
import sys

import pytest

import tunesmith as ts

MATMUL = "gmm:n=64,m=64,k=64"
SPACES = """version: 1
default: mine
spaces:
  mine:
    description: what the tests tune
    extends: cpu
    search: {kind: random}
"""


@pytest.fixture
def spaces(tmp_path):
    """A file that defines a space."""
    file = tmp_path / "mine.yaml"
    file.write_text(SPACES)
    return file


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    return str(tmp_path_factory.mktemp("records") / "records.db")


@pytest.fixture(scope="session")
def result(records):
    """A small run that several tests use."""
    return ts.tune(MATMUL, trials=16, seed=1, threads=2, records=records, progress=None)


@pytest.fixture
def python(tmp_path):
    """Runs a script in a new interpreter and returns its output."""

    def run(script, *arguments, code=0, **options):
        file = tmp_path / "script.py"
        file.write_text(script)
        done = subprocess.run([sys.executable, str(file), *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path, **options)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def command(tmp_path):
    """Runs the package's command and returns its output, or its error."""

    def run(*arguments, code=0):
        done = subprocess.run([sys.executable, "-m", "tunesmith", *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    return run


@pytest.fixture(scope="session")
def package():
    """The folder of the installed package."""
    return pathlib.Path(ts.__file__).parent
