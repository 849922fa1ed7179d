#!/usr/bin/env python3
"""Runs the programs beside the tests of a folder through `tunesmith opt`, and LLVM's FileCheck over what it prints.
Usage: opt_cases.py TUNESMITH FILECHECK FOLDER

A file has cases. A case begins with its name; its command's options follow, its program or workload (that of the case before where
it has none, and none where the options begin with a workload), and the lines to expect, whole, with their blanks:

    # CASE-LABEL:Split.TwoFactors
    # RUN: --check --apply 'b = get_block("C")' 'i, j = get_loops(b)'
    # RUN:   'i0, i1 = split(i, [4, 8])'
    program p(A: f32[32, 4]) -> (C: f32[32, 4])
      ...
    # CHECK:  for i_0 in 0..4:
    # CHECK-NEXT:    for i_1 in 0..8:

An empty line follows what is printed, for CHECK-EMPTY. `RUN(2):` instead says with which code the command must end."""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

TUNESMITH, FILECHECK, FOLDER = (os.path.abspath(path) for path in sys.argv[1:])


def cases(file):
    """(name, exit code, options, program) of each case."""
    found, program = [], ""
    for text in re.split(r"(?m)^(?=# CASE-LABEL:)", file.read_text())[1:]:
        name = re.match(r"# CASE-LABEL:(.*)", text)[1]
        runs = re.findall(r"(?m)^# RUN(?:\((\d+)\))?:(.*)$", text)
        assert runs, f"{file}: {name} has no RUN line"
        assert re.search(r"(?m)^# CHECK", text), f"{file}: {name} checks nothing"
        program = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#") and line) or program
        options = shlex.split(" ".join(line for _, line in runs))
        if options[0].startswith("--"):
            assert program, f"{file}: {name} has no program"
            options.insert(0, "-")
        found.append((name, int(runs[0][0] or 0), options, program))
    assert found, f"{file}: no case"
    names = [name for name, *_ in found]
    assert len(set(names)) == len(names), f"{file}: two cases of one name"
    return found


def run(case):
    name, code, options, program = case
    done = subprocess.run([TUNESMITH, "opt", *options], input=program, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, cwd=FOLDER)
    good = done.returncode == code
    return f"{name}\n{done.stdout}\n" + ("" if good else f"{name} ended with {done.returncode}, not {code}\n"), good


def check(file):
    results = [run(case) for case in cases(file)]
    output = "".join(text for text, _ in results)
    faults = [text for text, good in results if not good]
    if faults:
        return f"{file}:\n" + "".join(faults)
    done = subprocess.run([FILECHECK, str(file), "--check-prefixes=CASE,CHECK", "--strict-whitespace", "--match-full-lines",
                           "--dump-input=fail", "--color=0"], input=output, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else done.stdout


def main():
    files = sorted(pathlib.Path(FOLDER).glob("*.program"))
    assert files, f"no programs in {FOLDER}"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(check, files) if fault]
    print("\n".join(faults) or f"{sum(len(cases(file)) for file in files)} cases in {len(files)} files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
