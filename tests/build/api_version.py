#!/usr/bin/env python3
"""tools/api-version on a tree of its own, and the header that the build has made. Usage: api_version.py SOURCE GENERATED_HEADER"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, GENERATED = map(pathlib.Path, sys.argv[1:])


def run(root, *arguments, fails=False):
    done = subprocess.run([root / "tools/api-version", *arguments], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, f"api-version {arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def headers_decide(root):
    file, header = root / "core/api_version.txt", root / "core/include/tunesmith/one.h"
    (root / "core/include/tunesmith").mkdir(parents=True)
    header.write_text("one\n")
    file.write_text("# about\n0.2 0000000000000000\n")
    assert "says 0000000000000000; remedy: tools/api-version" in run(root, "--check", fails=True)
    run(root)
    run(root, "--check")
    first = file.read_text()
    assert re.fullmatch(r"# about\n0\.2 [0-9a-f]{16}\n", first), first

    # Between releases the version stays, whatever happens to the headers.
    header.write_text("two\n")
    run(root, "--check", fails=True)
    run(root, "--release", "0.1.0", fails=True)
    run(root)
    second = file.read_text()
    assert second != first and re.fullmatch(r"# about\n0\.2 [0-9a-f]{16}\n", second), second

    # A release keeps its version for ever: the next change gets another, once.
    run(root, "--release", "0.1.0")
    run(root, "--release", "0.1.0", fails=True)
    run(root, "--check")
    released = file.read_text()
    assert released == second.rstrip("\n") + " released with 0.1.0\n", released
    for text in ("three\n", "four\n"):
        header.write_text(text)
        run(root, "--check", fails=True)
        run(root)
        run(root, "--check")
        now = file.read_text()
        assert re.fullmatch(re.escape(released) + r"0\.3 [0-9a-f]{16}\n", now), now


def the_kernel_has_this_hash_and_version():
    built = GENERATED.read_text()
    printed = subprocess.run(["cmake", f"-DBASE={SOURCE}/core/include/tunesmith", "-P", SOURCE / "cmake/TunesmithContentHash.cmake"],
                             check=True, capture_output=True, text=True).stdout.strip()
    assert f'kHeaderHash = "{printed}"' in built, f"{printed} is not in:\n{built}"
    major, minor = re.match(r"(\d+)\.(\d+) ", (SOURCE / "core/api_version.txt").read_text().splitlines()[-1]).groups()
    assert f"kApiMajor = {major};" in built and f"kApiMinor = {minor};" in built, built


with tempfile.TemporaryDirectory() as temporary:
    root = pathlib.Path(temporary)
    for file in ("tools/api-version", "cmake/TunesmithContentHash.cmake"):
        (root / file).parent.mkdir()
        shutil.copy(SOURCE / file, root / file)
    headers_decide(root)
the_kernel_has_this_hash_and_version()
