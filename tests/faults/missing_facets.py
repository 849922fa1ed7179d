#!/usr/bin/env python3
"""A missing facet of a target is reported, and its use refused. Usage: missing_facets.py --tunesmith BINARY --plugins FOLDER --bad FOLDER"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SPACES = """version: 1
spaces:
  without_packaging: {extends: cpu, target: {kind: faulty}}
  without_benchmarking: {extends: cpu, target: {kind: bad_target}}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--plugins", required=True)
    parser.add_argument("--bad", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tunesmith-facets-") as folder:
        spaces = pathlib.Path(folder) / "spaces.yaml"
        spaces.write_text(SPACES)
        environment = {**os.environ, "XDG_DATA_HOME": folder, "TUNESMITH_MACHINE_LOCK": f"{folder}/machine.lock"}

        def tunesmith(*words):
            return subprocess.run([arguments.tunesmith, *words, "--spaces", spaces, "--plugin-path", arguments.plugins, "--plugin-path", arguments.bad],
                                  capture_output=True, text=True, timeout=120, env=environment)

        done = tunesmith("build", "relu:n=4,m=16", "--space", "without_packaging", "-o", f"{folder}/library")
        assert done.returncode == 2 and "the target of space 'without_packaging' cannot build libraries" in done.stderr, done
        assert not os.path.exists(f"{folder}/library"), "it is refused before anything is written"
        done = tunesmith("doctor", "--space", "without_benchmarking")
        assert "peak      not supported by this target" in done.stdout, done
        done = tunesmith("doctor", "--json", "--space", "without_benchmarking")
        said = json.loads(done.stdout)
        assert said["peak_gflops"] is None and said["copy_gbytes_per_second"] is None, said


if __name__ == "__main__":
    sys.exit(main())
