#!/usr/bin/env python3
"""The output of bench/device/pack needs only the libraries of the C and C++ compilers. Usage: pack_command.py ROOT BUILD"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root, build = map(pathlib.Path, sys.argv[1:])
EVERYWHERE = r"/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so"

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name).resolve() / "packed"
    for _ in range(2):  # the second time over existing files
        subprocess.run([root / "bench/device/pack", build, folder], check=True, stdout=subprocess.DEVNULL)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder / "lib")}
    missing = []
    for file in [*(folder / "bin").iterdir(), *folder.glob("lib/tunesmith/plugins/**/*.so")]:
        needs = subprocess.run(["ldd", file], capture_output=True, text=True, env=environment, check=True).stdout
        for library in re.findall(r"=> (.+?)(?: \(|$)", needs, re.MULTILINE):
            if not library.startswith(f"{folder}/") and not re.search(EVERYWHERE, library):
                missing.append(f"{file.name}: {library}")
    assert not missing, missing
    said = subprocess.run([folder / "bin/tunesmith", "plugins", "list"], capture_output=True, text=True, env=environment, check=True).stdout
    assert "cuda" in said, said
    probed = subprocess.run([folder / "bin/tunesmith", "plugins", "probe"], capture_output=True, text=True, env=environment)
    assert probed.returncode == 0, probed.stdout + probed.stderr
