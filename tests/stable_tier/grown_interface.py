#!/usr/bin/env python3
"""Writes the stable interface as a later kernel might have it: minor version + 1, with one more function at the end of every
table of the kernel, one more field at the end of structs, and one more value of an enumeration.
Usage: grown_interface.py ROOT FOLDER"""
import pathlib
import shutil
import subprocess
import sys

import yaml


def grow(api, tables):
    """`tables`: which of them get a function, by name and description."""
    api["minor"] += 1
    later = f"added_in_{api['minor']}"  # so that the result may grow again
    for part in api["parts"]:
        for name, table in part.get("tables", {}).items():
            if tables(name, table):
                table["functions"].append({"name": later, "thread": "any", "returns": "void", "args": ["uint32 number"], "doc": "Later.",
                                           "since": api["minor"]})
        for name, struct in part.get("structs", {}).items():
            if name in ("loop_facts", "statement"):
                struct["fields"].append({"name": later, "type": "uint64", "since": api["minor"]})
        for name, enum in part.get("enums", {}).items():
            if name == "question":
                enum["values"][later] = {"value": 1000 + api["minor"], "since": api["minor"]}
    return api


def main():
    root, folder = map(pathlib.Path, sys.argv[1:])
    # A plugin's wrapper would know the tables that it implements.
    api = grow(yaml.safe_load((root / "stable/api.yaml").read_text()), lambda name, table: "id" in table)
    shutil.rmtree(folder, ignore_errors=True)  # removes headers of parts that no longer exist
    folder.mkdir(parents=True)
    (folder / "api.yaml").write_text(yaml.safe_dump(api, sort_keys=False))
    subprocess.run([sys.executable, root / "tools/generate-api", folder / "api.yaml", folder / "include/tunesmith/stable"], check=True)


if __name__ == "__main__":
    main()
