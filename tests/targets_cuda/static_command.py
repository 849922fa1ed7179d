#!/usr/bin/env python3
"""Runs bench/device/static with a script as the disassembler, and without one. Usage: static_command.py ROOT BUILD"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

root, build = map(pathlib.Path, sys.argv[1:])
LOOP = """.text.{name}:
.L_x_1:
        /*0000*/                   {multiplies} R1, R2, R3, R1 ;
        /*0010*/              @P0  BRA `(.L_x_1) ;
"""


def run(disassembler, *options):
    return subprocess.run([root / "bench/device/static", "--build", build, *options], capture_output=True, text=True,
                          env={**os.environ, "TUNESMITH_NVDISASM": str(disassembler)})


absent = run("/no/disassembler")
assert absent.returncode == 4 and "bench/device/static: " in absent.stderr, absent
if "needs NVRTC" in absent.stderr:
    sys.exit(print("no NVRTC: nothing more is tried"))
assert "nvdisasm in PATH, or TUNESMITH_NVDISASM" in absent.stderr, absent

with tempfile.TemporaryDirectory() as folder:
    script = pathlib.Path(folder) / "disassembler"
    # Half of every kernel's instructions multiply: enough for FFMA's share, but not for 88 %.
    kernels = "".join(LOOP.format(name=name, multiplies="FFMA") for name in ("kernel", "sgemm", "hgemm"))
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{kernels}END\n")
    script.chmod(0o700)
    short = run(script, "--json")
    assert short.returncode == 1, short
    rows = json.loads(short.stdout)
    assert [row["share"] for row in rows[:2]] == [0.5, 0.0] and rows[0]["wanted"] == 0.88, rows
    assert all(row["registers"] > 0 and row["instructions"] == 2 for row in rows), rows
    text = run(script).stdout
    assert "FFMA 50.0 %, wanted 88 %" in text and "would do" in text, text
