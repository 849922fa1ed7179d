#!/usr/bin/env python3
"""Vendors' mistakes: nothing wrong is accepted, no run ends, no correct program is lost, and the mistake is named with file and line.
Usage: packs.py --tunesmith BINARY --plugins FOLDER TEST"""
import argparse
import functools
import os
import pathlib
import platform
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import cli
import device
import run_pack
from mistakes import MISTAKES
from units import UNITS
from versions import VERSIONS

LACKING = 77  # ctest's "skipped"
FOLDER = pathlib.Path()


@functools.lru_cache(maxsize=None)
def without_mistake(unit, mcpu, threads):
    """The result of a run with the correct pack, or without it if the target processor lacks what the pack requires."""
    folder = FOLDER / f"right-{unit}-{mcpu}-{threads}"
    run_pack.write_unit(folder, UNITS[unit], UNITS[unit].text(), mcpu, optional=True)
    right = run_pack.tune(folder, threads=threads)
    assert right.code == 0 and right.result["exhausted"] and not right.result["failures"] and not right.plain_failed, (unit, right)
    if mcpu == "native":
        assert right.called, (unit, right)
        code, failed = run_pack.verify(folder)
        assert code == 0 and not failed, (unit, failed)
    return right


def lacks(mistake):
    """Can the processor not run the correct pack?"""
    if UNITS[mistake.unit].intrinsic and mistake.mcpu == "native":
        return "avx512_vnni" not in pathlib.Path("/proc/cpuinfo").read_text()
    return False


def check_lint(mistake, folder):
    said = cli.run("spaces", "lint", *run_pack.at(folder), code=2).stderr
    assert f"{mistake.place()}:" in said and mistake.says in said, (mistake.name, mistake.place(), said)


def check_run(mistake, right, tuned):
    """Checks the run; returns the table's columns for `tune`."""
    context = (mistake.name, tuned.code, tuned.result.get("first_failures"), tuned.result.get("refusals"), tuned.said[-2000:])
    assert tuned.code == 0 and tuned.result["exhausted"], context
    assert tuned.plain == right.plain and not tuned.plain_failed, ("a right program is lost", len(tuned.plain), len(right.plain), context)
    if mistake.refused == ("lint",):
        assert not tuned.called and not tuned.refused, ("an instruction that cannot be compiled is called", context)
        said = tuned.said
        assert "space 'acme' continues without it" in said, context
        outcome = "lint"
    else:
        assert sum(tuned.refused.values()) > 0 and set(tuned.refused) <= set(mistake.refused), ("not refused for its cause", tuned.refused, context)
        assert not tuned.called, ("wrong programs are accepted", len(tuned.called), context)
        assert sum(tuned.refused.values()) == len(right.called) or mistake.mcpu != "native", ("not tried as often", context)
        said = "\n".join(tuned.result["first_failures"].values())
        outcome = ", ".join(f"{cause} {count}" for cause, count in sorted(tuned.refused.items()))
    assert f"{mistake.place()}:" in said and mistake.says in said, ("not named", mistake.place(), mistake.says, context)
    return outcome


def check_kit(mistake, folder):
    """Checks the kit's result; returns the table's column for `plugins verify`."""
    code, failed = run_pack.verify(folder, "--time-limit", mistake.limit)
    if not mistake.verified:
        assert mistake.why and code == 0 and not failed, ("the kit sees it after all", mistake.name, failed)
        return "passed"
    assert code == 4 and mistake.verified in failed, (mistake.name, code, failed)
    assert f"{mistake.place()}:" in failed[mistake.verified], ("not named", mistake.name, mistake.place(), failed)
    return "failed: " + mistake.verified


def row(name, tuned, verified):
    print(f"| {name} | {tuned} | {verified} |", flush=True)


def check_versions():
    for version in VERSIONS:
        folder = FOLDER / version.__name__
        row(version.__name__.replace("_", " "), version(folder), "")


def check_kind(kind):
    for number, mistake in enumerate(MISTAKES):
        if mistake.kind != kind:
            continue
        if lacks(mistake):
            row(mistake.name, "not tried: this machine lacks it", "")
            continue
        right = without_mistake(mistake.unit, mistake.mcpu, mistake.threads)
        folder = FOLDER / f"{kind}-{number}"
        run_pack.write_unit(folder, UNITS[mistake.unit], mistake.text(), mistake.mcpu)
        outcome = check_run(mistake, right, run_pack.tune(folder, *mistake.options, threads=mistake.threads))
        if outcome == "lint":
            check_lint(mistake, folder)
        row(mistake.name, outcome, check_kit(mistake, folder))


def main():
    global FOLDER
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--plugins", required=True)
    parser.add_argument("test")
    arguments = parser.parse_args()
    if platform.machine() != "x86_64":
        print("skipped: the mistakes are made in code for x86-64")
        return LACKING
    cli.TUNESMITH = os.path.abspath(arguments.tunesmith)
    run_pack.MODULES = os.path.abspath(arguments.plugins)
    os.umask(0o022)  # rule P8
    with tempfile.TemporaryDirectory(prefix="tunesmith-packs-") as folder:
        os.environ["XDG_DATA_HOME"] = folder
        os.environ["TUNESMITH_MACHINE_LOCK"] = f"{folder}/machine.lock"
        FOLDER = pathlib.Path(folder)
        row(arguments.test, "tune", "plugins verify")
        print("|---|---|---|")
        if arguments.test == "version":
            check_versions()
        elif arguments.test == "device":
            device.check(FOLDER, row)
        else:
            check_kind(arguments.test)
    return 0


if __name__ == "__main__":
    sys.exit(main())
