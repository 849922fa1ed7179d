#!/usr/bin/env python3
"""Follows a page word by word: writes the files that it shows and runs its commands, as they stand, in one shell.

    follow.py --prefix PREFIX [--folder FOLDER] [--section HEADING] PAGE

  ```sh blocks are run; a block of any language under <!-- file: NAME --> is written to NAME first; a block under
  <!-- not run: REASON --> is left alone. PREFIX is where Tunesmith is installed; with --folder it begins in a copy of that
  folder, else in an empty one. HOME is an empty folder. With --section only what stands below that heading is followed."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:<!-- (?P<what>file|not run): (?P<value>.*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def section_of(page, heading):
    """The section from its heading to the next heading of the same rank."""
    begin = page.index(f"## {heading}\n")
    return page[begin:page.find("\n## ", begin)]


def script_of(page):
    script, commands = "set -euo pipefail\n", 0
    for block in BLOCK.finditer(page):
        if block["what"] == "file":
            script += f"cat > '{block['value']}' <<'END_OF_FILE'\n{block['text']}END_OF_FILE\n"
        elif block["what"] is None and block["language"] == "sh":
            commands += 1
            script += "set -x\n" + block["text"] + "{ set +x; } 2> /dev/null\n"
    return script, commands


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--folder")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("--section")
    parser.add_argument("page")
    arguments = parser.parse_args()
    page = pathlib.Path(arguments.page).read_text()
    script, commands = script_of(section_of(page, arguments.section) if arguments.section else page)
    assert commands > 0, f"{arguments.page} has no commands"
    with tempfile.TemporaryDirectory(prefix="tunesmith-page-") as folder:
        home = pathlib.Path(folder) / "home"
        work = pathlib.Path(folder) / "work"
        home.mkdir()
        if arguments.folder:
            shutil.copytree(arguments.folder, work, ignore=shutil.ignore_patterns("build"))
        else:
            work.mkdir()
        # The environment of a reader who installed into /usr; the launcher only saves time.
        environment = {"PATH": f"{arguments.prefix}/bin:{os.environ['PATH']}", "HOME": str(home), "CMAKE_PREFIX_PATH": arguments.prefix,
                       "CXXFLAGS": arguments.flags, "LANG": "C.UTF-8"}
        if arguments.launcher:
            environment["CMAKE_CXX_COMPILER_LAUNCHER"] = arguments.launcher
            environment["CCACHE_DIR"] = os.environ.get("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))
        done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, timeout=580, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            print(done.stdout)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
