"""Importing is quick, and changes nothing of the process."""
import subprocess
import sys
import time

STATE = """
import ctypes, locale, os, signal, sys

def state():
    libm = ctypes.CDLL("libm.so.6")
    return {
        "signals": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "caught": [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn", "SigCgt"))],
        "threads": len(os.listdir("/proc/self/task")),
        "locale": locale.setlocale(locale.LC_ALL),
        "rounding": libm.fegetround(),
        "umask": os.umask(os.umask(0)),
        "folder": os.getcwd(),
        "environment": dict(os.environ),
    }

before = state()
import tunesmith as ts
after = state()
assert before == after, (before, after)
ts.Space("cpu").sketches("softmax")
worked = state()
assert [before[key] for key in ("signals", "caught", "locale", "rounding")] == [worked[key] for key in ("signals", "caught", "locale", "rounding")]
print("numpy" in sys.modules, "torch" in sys.modules)
"""


def test_it_leaves_the_process_as_it_was(python):
    assert python(STATE) == "False False\n"


def test_it_is_quick():
    def seconds(what):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", what], check=True)
        return time.perf_counter() - began

    # The quickest of several, since the machine may be busy, without the interpreter's own start.
    plain = min(seconds("") for _ in range(7))
    limit = max(0.15, 10 * plain)  # a slow machine starts the interpreter slowly, too
    took = []
    while len(took) < 40 and (not took or min(took) >= limit):
        took.append(seconds("import tunesmith") - plain)
    assert min(took) < limit, (took, plain)


def test_a_forked_process_is_refused_in_words(python):
    script = """
import os, sys
import tunesmith as ts
child = os.fork()
if child == 0:
    try:
        ts.Space("cpu")
    except ts.EnvironmentFault as error:
        os._exit(0 if "spawn" in str(error) and "forked" in str(error) else 2)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
ts.Space("cpu")
print("parent works")
"""
    assert python(script) == "parent works\n"


def test_a_subprocess_works_after_import(python):
    script = """
import multiprocessing
import tunesmith as ts

def work(text):
    return ts.Space("cpu").sketches(text)[0].program.name

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, ["softmax"])[0])
"""
    assert python(script).strip()


def test_the_command_comes_along(command):
    import tunesmith as ts

    assert ts.__version__ in command("--version")


def test_all_is_typed(package):
    assert (package / "py.typed").exists()
    stub = (package / "_tunesmith.pyi").read_text()
    assert "class Schedule:" in stub and "def tune_one" in stub
