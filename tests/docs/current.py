#!/usr/bin/env python3
"""Does a command print a page as it is in docs/? Usage: current.py PAGE COMMAND..."""
import pathlib
import subprocess
import sys

page, *command = sys.argv[1:]
made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
assert made.count("\n") > 10, f"{command} prints no page:\n{made}"
assert made == pathlib.Path(page).read_text(), f"{page} is out of date: write what {' '.join(command)} prints to it"
