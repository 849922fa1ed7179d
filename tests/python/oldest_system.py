"""Refuses a wheel whose libraries or programs need a newer system than the wheel supports, and names what they need.

    python oldest_system.py WHEEL
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

#: The versions in manylinux_2_34: Ubuntu 22.04, RHEL 9.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
NEEDED = re.compile(r"\b(GLIBC|GLIBCXX|CXXABI|GCC)_(\d+(?:\.\d+)*)\)?\s+(\S+)$")


def needs(file):
    """(library's name, version, symbol) of each symbol that it needs from the system."""
    said = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        found = NEEDED.search(line)
        if found and "*UND*" in line:
            yield found[1], tuple(map(int, found[2].split("."))), found[3]


def is_elf(file):
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def main(wheel):
    faults, seen = [], 0
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if not file.is_file() or not is_elf(file):
                continue
            seen += 1
            for kind, version, symbol in needs(file):
                if version > NEWEST[kind]:
                    faults.append(f"{file.relative_to(folder)}: {symbol} needs {kind}_{'.'.join(map(str, version))}")
    if not seen:
        faults.append("it has no library")
    print("\n".join(faults) or f"{seen} libraries and programs need nothing newer than glibc 2.34")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
