#!/usr/bin/env python3
"""systemd accepts the unit, and unit and container start `serve` with existing options.
Usage: service_test.py TUNESMITH FOLDER"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def main():
    tunesmith, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    text = (folder / "tunesmith-serve.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    (entry,) = re.findall(r"^ENTRYPOINT \[(.*)\]$", (folder / "Containerfile").read_text(), re.MULTILINE)
    options = subprocess.run([tunesmith, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for words in (command.split(), re.findall(r'"([^"]*)"', entry)):
        assert words[:2] == ["/usr/bin/tunesmith", "serve"], words
        for word in words:
            assert not word.startswith("--") or re.search(rf"{word}\b", options), word
    if shutil.which("systemd-analyze") is None:
        print("skipped: there is no systemd-analyze")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as place:
        unit = pathlib.Path(place) / "tunesmith-serve.service"
        unit.write_text(text.replace("/usr/bin/tunesmith", str(tunesmith)))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and not done.stderr, done.stderr


if __name__ == "__main__":
    main()
