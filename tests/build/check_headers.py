#!/usr/bin/env python3
"""tunesmith_check_headers: what a plugin may not include is found, in its files and in those of its project that they include.
Usage: check_headers.py CMAKE MODULES"""
import pathlib
import subprocess
import sys
import tempfile

CMAKE, MODULES = sys.argv[1:]
FILES = {
    "plugin.cpp": '#include <tunesmith/plugin/plugin.h>\n#include <vector>\n#include "inner/own.h"\n  #  include "tunesmith/search/searcher.h"  // of a searcher\n',
    "inner/own.h": '#pragma once\n#include "beside.h"\n#include <shared/shared.h>\n// #include <tunesmith/space/space.h>\n',
    "inner/beside.h": "#pragma once\nint beside;\n",
    "include/shared/shared.h": "#pragma once\nint shared;\n",
    "plugin.txt": "#include <tunesmith/space/space.h>\n",
}
UNREACHED = "#include <tunesmith/space/space.h>\n"


def check(folder, changes, kind="searcher"):
    """The message for the files with these changes; "" if there is none."""
    for name, text in {**FILES, **changes}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    headers = folder / "plugin_headers.txt"
    headers.write_text("module: tunesmith/plugin/plugin.h\nsearcher: tunesmith/plugin/plugin.h tunesmith/search/searcher.h\n")
    done = subprocess.run([CMAKE, f"-DKIND={kind}", f"-DLIST={headers}", f"-DFOLDER={folder}", f"-DPROJECT={folder}", "-DFILES=plugin.cpp|plugin.txt|generated.h",
                           f"-DINCLUDES=/usr/include|{folder}/include", "-P", f"{MODULES}/TunesmithCheckHeaders.cmake"], capture_output=True, text=True)
    assert (done.returncode == 0) == (done.stderr == ""), done
    return " ".join(done.stderr.split())


with tempfile.TemporaryDirectory() as temporary:
    root = pathlib.Path(temporary).resolve()
    assert check(root, {}) == "", check(root, {})
    for file in ("plugin.cpp", "inner/own.h", "inner/beside.h", "include/shared/shared.h"):
        said = check(root, {file: FILES[file] + UNREACHED})
        assert f"{root}/{file}: includes <tunesmith/space/space.h>" in said and "Plugins of the kind searcher do not reach this header" in said, said
    # Each kind may include its own headers.
    assert f"{root}/plugin.cpp: includes <tunesmith/search/searcher.h>" in check(root, {}, "module")
    # All faults are reported at once.
    assert check(root, {"plugin.cpp": FILES["plugin.cpp"] + UNREACHED, "inner/beside.h": UNREACHED}).count("includes <tunesmith/space/space.h>") == 2
    # The stable tier may include its own headers alone. No kind's list has them.
    stable = {"plugin.cpp": '#include <tunesmith/stable/module.h>\n#include "inner/own.h"\n'}
    assert check(root, stable, "stable") == "", check(root, stable, "stable")
    said = check(root, stable | {"inner/beside.h": UNREACHED}, "stable")
    assert f"{root}/inner/beside.h: includes <tunesmith/space/space.h>" in said and "of the stable tier" in said, said
    assert "includes <tunesmith/stable/module.h>" in check(root, stable, "module")
