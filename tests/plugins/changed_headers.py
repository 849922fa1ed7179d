#!/usr/bin/env python3
"""The public headers as another kernel might have them, with the hashes that it would have.

Usage: changed_headers.py SOURCE API_VERSION_TEMPLATE FOLDER CHANGE
CHANGE: comments    in every header, comments and white space
        unreached   in every header that neither searchers nor cost models reach, code
        reached     in one header that both reach, code
Writes the headers to FOLDER/core/*/include and FOLDER/generated."""
import pathlib
import shutil
import sys

SOURCE, TEMPLATE, FOLDER = map(pathlib.Path, sys.argv[1:4])
CHANGE = sys.argv[4]
REACHED_BY_BOTH = "tunesmith/search/candidate.h"


sys.path.insert(0, str(SOURCE / "cmake"))
import plugin_headers  # noqa: E402  of the tree that is built

shutil.rmtree(FOLDER, ignore_errors=True)
libraries = [path.parent.name for path in SOURCE.glob("*/include")]
for name in ("core", *libraries):
    shutil.copytree(SOURCE / name, FOLDER / name, ignore=lambda folder, names: [n for n in names if "." in n and not n.endswith((".h", ".cpp", ".txt"))])
includes = [FOLDER / "core" / library / "include" for library in ("compiler", "host")]
tree = plugin_headers.Tree(FOLDER)
counted = {kind: {name.removeprefix("include/") for name in tree.of_kind(kind, *tree.kinds()[kind])[1]} for kind in ("searcher", "cost_model")}
assert all(REACHED_BY_BOTH in names for names in counted.values())
spared = set.union(*counted.values())
changed = 0
for include, header in [(include, header) for include in includes for header in sorted(include.rglob("*.h"))]:
    name = header.relative_to(include).as_posix()
    text = header.read_text()
    if CHANGE == "comments":
        text = "// Another word.\n" + text.replace("\n\n", "\n  \n") + "/* And another. */\n"
    elif (name not in spared) if CHANGE == "unreached" else (name == REACHED_BY_BOTH):
        text += "namespace tunesmith {\nclass SomethingNew;\n}\n"
    else:
        continue
    header.write_text(text)
    changed += 1
assert changed == 1 if CHANGE == "reached" else changed > 20, changed
plugin_headers.main(FOLDER, TEMPLATE, FOLDER / "generated/tunesmith/plugin/api_version.h", FOLDER / "list", FOLDER / "dependencies")
