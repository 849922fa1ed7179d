"""Runs the command line for the scripts of this folder, and a script's chosen test in a new folder."""
import argparse
import os
import pathlib
import subprocess
import tempfile

TUNESMITH = ""  # the binary, once run_test() was called
PLUGINS = ""  # --plugins: the folder of the tests' own plugins


def within(seconds):
    """A time limit: `seconds` if the test runs alone (TUNESMITH_TEST_TIMES), else enough for a busy machine."""
    return seconds if "TUNESMITH_TEST_TIMES" in os.environ else 15 * seconds


def usual_or_extended(usual, extended):
    """`extended` in the extended tests (docs/testing.md), else `usual`."""
    return extended if "TUNESMITH_TEST_EXTENDED" in os.environ else usual


def start(*args, timeout=150, **kwargs):
    return subprocess.run([TUNESMITH, *map(str, args)], capture_output=True, text=True, timeout=timeout, **kwargs)


def require(done, code):
    assert done.returncode == code, f"{done.args}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
    return done


def run(*args, code=0, **kwargs):
    return require(start(*args, **kwargs), code)


def run_test(tests, own_lock=True):
    """`tests`: by name. `own_lock`: the test does not wait for other measurements on the machine."""
    global TUNESMITH, PLUGINS
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--plugins", default="")
    parser.add_argument("test")
    given = parser.parse_args()
    TUNESMITH = os.path.abspath(given.tunesmith)
    PLUGINS = os.path.abspath(given.plugins)
    with tempfile.TemporaryDirectory(prefix="tunesmith-e2e-") as folder:
        os.environ["XDG_DATA_HOME"] = folder
        if own_lock:
            os.environ["TUNESMITH_MACHINE_LOCK"] = f"{folder}/machine.lock"
        tests[given.test](pathlib.Path(folder))
