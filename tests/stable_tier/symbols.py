#!/usr/bin/env python3
"""A plugin of the stable tier needs nothing of Tunesmith's and exports its descriptor alone. Usage: symbols.py NM LIBRARY..."""
import subprocess
import sys


def faults(listing):
    found = []
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind in "Uw":
            if "tunesmith" in name:
                found.append(f"needs {name}")
        elif name != "tunesmith_stable_plugin":
            found.append(f"exports {name}")
    return found


assert faults("                 U _ZN9tunesmith8Schedule5cloneEv\n") == ["needs _ZN9tunesmith8Schedule5cloneEv"]
assert faults("0000000000001139 T helper\n") == ["exports helper"]
assert not faults("                 U malloc@GLIBC_2.2.5\n                 w __cxa_finalize\n0000000000004020 D tunesmith_stable_plugin\n")

nm, libraries = sys.argv[1], sys.argv[2:]
assert len(libraries) > 10, libraries
bad = {}
for library in libraries:
    listing = subprocess.run([nm, "-D", library], capture_output=True, text=True, check=True).stdout
    assert "tunesmith_stable_plugin" in listing, library
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    found = faults(listing) + [line.strip() for line in needed.splitlines() if "NEEDED" in line and "tunesmith" in line]
    if found:
        bad[library] = found
assert not bad, bad
